package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// clockTolerance is how far the clock of a core may be off the server's. What is leased to others, when a step is old and when a key ends it tells by its own.
const clockTolerance = 5 * time.Second

// Offset is how far this core's clock was ahead of the server's when it last looked, negative when behind.
func (p *Peers) Offset() time.Duration {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.offset
}

// Agrees reports whether its clock agrees with the server's. One that does not neither leads nor takes anything over.
func (p *Peers) Agrees() bool { return p.Offset().Abs() <= clockTolerance }

// agreement begins to compare the clocks, and returns what ends it: it is told the server's time.
func (p *Peers) agreement(ctx context.Context) func(server time.Time) bool {
	c := p.Clock
	if c == nil {
		c = clock.System()
	}
	before := c.Now()
	return func(server time.Time) bool {
		agreed := p.Agrees()
		offset := apart(before, server, c.Now())
		p.mu.Lock()
		p.offset = offset
		p.mu.Unlock()
		switch agrees := p.Agrees(); {
		case agreed && !agrees:
			p.Log.ErrorContext(ctx, "peers: the clock is off; this core neither leads nor takes anything over until it is right", slog.Duration("offset", offset))
		case agrees && !agreed:
			p.Log.InfoContext(ctx, "peers: the clock is right again", slog.Duration("offset", offset))
		}
		return p.Agrees()
	}
}

// apart is how far a clock is ahead of another one at least, that was read between two times of it.
func apart(before, other, after time.Time) time.Duration {
	switch {
	case other.Before(before):
		return before.Sub(other)
	case other.After(after):
		return after.Sub(other)
	}
	return 0
}
