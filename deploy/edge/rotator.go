package edge

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/deploy/edge/internal/rotation"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
)

// Rotator publishes a new certificate, serves it at a listener of this process after Ahead, then
// announces it. Every field is required unless its comment has a default.
type Rotator struct {
	Source    certfile.Source
	Publisher *Publisher
	// Serve makes the listener use the pairs. After it returns nil, new handshakes get them.
	Serve func(ctx context.Context, pairs []*certfile.Pair) error
	// Ahead is how long a pair is published before it is served; shorter if the present one ends
	// earlier. With 0 it is served immediately.
	Ahead time.Duration
	Clock clock.Clock  // nil: the machine's clock
	Log   *slog.Logger // nil: no log
}

// Run serves the first pairs, follows the source and sends events to core, until ctx ends. It
// returns an error only if the source cannot start.
func (r *Rotator) Run(ctx context.Context, first []*certfile.Pair) error {
	steps, err := rotation.New(ctx, rotation.Config{
		Fleet: listener{r.Serve}, Publisher: r.Publisher, Ahead: r.Ahead, Clock: r.Clock, Log: r.Log,
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var ended sync.WaitGroup
	defer ended.Wait()
	defer stop()
	ended.Go(func() { r.Publisher.Run(ctx) })
	return steps.Run(ctx, r.Source, first...)
}

// listener is a fleet of one listener, whose serve takes effect before it returns.
type listener struct {
	serve func(ctx context.Context, pairs []*certfile.Pair) error
}

// Check implements rotation.Fleet.
func (listener) Check([]*certfile.Pair) error { return nil }

// Serve implements rotation.Fleet.
func (l listener) Serve(ctx context.Context, pairs []*certfile.Pair) error {
	if len(pairs) == 0 {
		return nil
	}
	return l.serve(ctx, pairs)
}

// Served implements rotation.Fleet.
func (listener) Served(context.Context, []*certfile.Pair) (refused bool, err error) {
	return false, nil
}

// Turnover implements rotation.Fleet.
func (listener) Turnover() int { return 0 }

// Names implements rotation.Fleet.
func (listener) Names() []string { return nil }
