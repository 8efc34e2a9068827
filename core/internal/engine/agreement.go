package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// clockTolerance is how far the clock of a core may be off the server's for it to lead: by its own
// clock a core decides when a lease, a step or a key has ended.
const clockTolerance = 5 * time.Second

// RequestTolerance is how far the clock of a core may be off the server's for it to carry out
// requests. A step has the time of that clock: the leader would claim the step of a clock further
// behind under its request, and reverse the payment.
const RequestTolerance = 10 * time.Second

// Offset returns how far this core's clock is ahead of the server's, negative for behind: as the
// last heartbeat measured it, and moved by the steps of the clock since then.
func (p *Peers) Offset() time.Duration {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ahead(p.read())
}

// ahead is Offset at a reading, under p.mu. A step of the clock is its advance beyond the monotonic
// clock.
// Without it a core would work for up to a second by a clock that has jumped: a day ahead each
// idempotency key has expired, and the retry of a payment would be a second one.
func (p *Peers) ahead(now reading) time.Duration {
	if p.compared.wall.IsZero() {
		return 0
	}
	return p.offset + now.wall.Sub(p.compared.wall) - (now.monotonic - p.compared.monotonic)
}

// trustedOffset is how far a time may be off the server's where an idempotency key is claimed by
// it.
const trustedOffset = time.Minute

// Trusts reports whether a time that this core's clock has shown within the last seconds was the
// server's time, within a minute.
func (p *Peers) Trusts(at time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ahead(reading{wall: at.Round(0), monotonic: clock.Monotonic()}).Abs() <= trustedOffset
}

// reading is what the core's clock and the machine's monotonic clock show at about the same time.
type reading struct {
	wall      time.Time
	monotonic time.Duration
}

func (p *Peers) read() reading {
	c := p.Clock
	if c == nil {
		c = clock.System()
	}
	return reading{wall: c.Now().Round(0), monotonic: clock.Monotonic()}
}

// Agrees reports whether the clock agrees with the server's. A core whose clock does not neither
// leads nor takes anything over.
func (p *Peers) Agrees() bool { return p.Offset().Abs() <= clockTolerance }

// agreement begins a comparison of the clocks and returns the function that ends it with the
// server's time.
func (p *Peers) agreement(ctx context.Context) func(server time.Time) bool {
	before := p.read()
	return func(server time.Time) bool {
		after := p.read()
		begun := after.wall.Add(before.monotonic - after.monotonic) // by the clock as it is now, should it have stepped
		p.mu.Lock()
		agreed := !p.off
		p.offset, p.compared = apart(begun, server, after.wall), after
		p.off = p.offset.Abs() > clockTolerance
		offset, agrees := p.offset, !p.off
		p.mu.Unlock()
		switch {
		case agreed && !agrees:
			p.Log.ErrorContext(ctx, "peers: the clock is off; this core neither leads nor takes anything over until it is right", slog.Duration("offset", offset))
		case agrees && !agreed:
			p.Log.InfoContext(ctx, "peers: the clock is right again", slog.Duration("offset", offset))
		}
		return agrees
	}
}

// apart returns how far a clock is at least ahead of another one that was read between two times of
// it.
func apart(before, other, after time.Time) time.Duration {
	switch {
	case other.Before(before):
		return before.Sub(other)
	case other.After(after):
		return after.Sub(other)
	}
	return 0
}
