package edge

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/deploy/edge/internal/trust"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
)

const (
	// look is the interval of the checks for due steps.
	look = time.Second
	// again is the pause before a retry of a failed step.
	again = 10 * time.Second
)

// Rotator publishes a new certificate, serves it after Ahead, then announces it. Every field is
// required unless its comment has a default.
type Rotator struct {
	Source    certfile.Source
	Publisher *Publisher
	// Serve makes the listener use the pairs. After it returns nil, new handshakes get them.
	Serve func(ctx context.Context, pairs []*certfile.Pair) error
	// Ahead is how long a pair is published before it is served; shorter if the present one ends
	// earlier. With 0 it is served at once.
	Ahead time.Duration
	Clock clock.Clock  // nil: the machine's clock
	Log   *slog.Logger // nil: no log

	current, next []*certfile.Pair
	at            time.Time // when next will be served
	unrecorded    bool      // the history lacks next, or the step to current
	wait          time.Time // earliest retry after a failure
}

// Run serves the first pairs, follows the source and sends events to core, until ctx ends. It
// returns an error only if the source cannot start.
func (r *Rotator) Run(ctx context.Context, first []*certfile.Pair) error {
	if r.Clock == nil {
		r.Clock = clock.System()
	}
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(ctx)
	var ended sync.WaitGroup
	defer ended.Wait()
	defer stop()
	ended.Go(func() { r.Publisher.Run(ctx) })
	updates, failed := make(chan certfile.Update), make(chan error, 1)
	ended.Go(func() { failed <- r.Source.Run(ctx, pass(updates)) })
	r.next, r.unrecorded = first, len(first) > 0
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		r.step(ctx)
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			if err != nil {
				return err
			}
			failed = nil // Run of the source returned because ctx ended
		case u := <-updates:
			r.found(ctx, u)
		case <-tick.C:
		}
	}
}

// pass returns a function that sends updates to the channel, in order.
func pass(updates chan<- certfile.Update) func(context.Context, certfile.Update) {
	return func(ctx context.Context, u certfile.Update) {
		select {
		case updates <- u:
		case <-ctx.Done():
		}
	}
}

// found handles an update of the source.
func (r *Rotator) found(ctx context.Context, u certfile.Update) {
	if u.Refusal != nil {
		r.Log.ErrorContext(ctx, "certificate refused: the present one stays", slog.Any("error", u.Refusal))
		return
	}
	for _, w := range u.Warnings {
		r.Log.WarnContext(ctx, "certificate", slog.String("reason", w.String()))
	}
	if same(u.Pairs, r.next) || r.next == nil && same(u.Pairs, r.current) {
		return
	}
	r.next, r.unrecorded, r.wait = u.Pairs, true, time.Time{}
	r.at = trust.ServedFrom(r.Clock.Now(), r.Ahead, ends(r.current))
	if same(u.Pairs, r.current) { // the source withdrew the next pair
		r.next = nil
	}
}

// step runs the due steps.
func (r *Rotator) step(ctx context.Context) {
	now := r.Clock.Now()
	if now.Before(r.wait) {
		return
	}
	var err error
	switch {
	case r.next != nil && !now.Before(r.at):
		if err = r.Serve(ctx, r.next); err == nil {
			r.current, r.next, r.unrecorded = r.next, nil, true
			err = r.recorded(r.Publisher.Live(ctx, r.current...))
		}
	case r.unrecorded && r.next != nil:
		err = r.recorded(r.Publisher.Next(ctx, r.at, r.next...))
	case r.unrecorded:
		if err = r.Publisher.Next(ctx, time.Time{}); err == nil {
			err = r.recorded(r.Publisher.Live(ctx, r.current...))
		}
	}
	if err != nil && ctx.Err() == nil {
		r.wait = now.Add(again)
		r.Log.ErrorContext(ctx, "certificate: tried again soon", slog.Any("error", err))
	}
}

func (r *Rotator) recorded(err error) error {
	r.unrecorded = err != nil
	return err
}

// same reports whether both are equal. Two empty lists are equal.
func same(a, b []*certfile.Pair) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, (*certfile.Pair).Equal)
}

// ends returns the earliest end of the pairs, or the zero time without pairs.
func ends(pairs []*certfile.Pair) time.Time {
	if len(pairs) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(pairs, func(a, b *certfile.Pair) int {
		return cmp.Compare(a.Leaf().NotAfter.Unix(), b.Leaf().NotAfter.Unix())
	}).Leaf().NotAfter
}
