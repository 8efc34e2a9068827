package announce

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Pending is an event in an outbox.
type Pending struct {
	Event
	ID       string // in the outbox
	Merchant string // "" for all merchants, in both modes
	Attempts int    // including the claimed attempt
}

// Outbox has the events that core has not accepted yet.
type Outbox interface {
	// Claim returns the first event that is due, or nil. Other programs do not get it for a while.
	Claim(ctx context.Context) (*Pending, error)
	// Delivered removes a claimed event.
	Delivered(ctx context.Context, p *Pending) error
	// Postpone makes a claimed event due again after a pause.
	Postpone(ctx context.Context, p *Pending, pause time.Duration) error
}

// Deliver sends each due event of an outbox once, until core is unreachable. An event that core did
// not accept is due again after Gap. If ctx ends during an attempt, the event stays as it is: core
// recognises the retry.
func Deliver(ctx context.Context, o Outbox, send func(context.Context, *Pending) error) error {
	var faults []error
	for {
		p, err := o.Claim(ctx)
		if err != nil || p == nil {
			return errors.Join(append(faults, err)...)
		}
		failure := send(ctx, p)
		if ctx.Err() != nil {
			return errors.Join(append(faults, ctx.Err())...)
		}
		if failure == nil {
			err = o.Delivered(ctx, p)
		} else {
			faults = append(faults, fmt.Errorf("%s %s, attempt %d: %w", p.Type, p.Name, p.Attempts, failure))
			err = o.Postpone(ctx, p, Gap(p.Attempts))
		}
		var refused *RefusedError
		if err != nil || failure != nil && !errors.As(failure, &refused) {
			return errors.Join(append(faults, err)...)
		}
	}
}

// Send sends an event of an outbox.
func (p *Port) Send(ctx context.Context, e *Pending) error {
	if e.Merchant == "" {
		return p.AllMerchants(ctx, e.Event)
	}
	return p.Merchant(ctx, e.Merchant, e.Event)
}
