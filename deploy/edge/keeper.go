package edge

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
)

const (
	// look is how often it is looked whether a time has come.
	look = time.Second
	// again is how long after a failure it is tried once more.
	again = 10 * time.Second
)

// Keeper has what a source finds published, then served, then told of. All fields are required but those that say so.
type Keeper struct {
	Source certfile.Source
	Story  *Story
	// Serve has pairs served. When it returns nil, new handshakes get them.
	Serve func(ctx context.Context, pairs []*certfile.Pair) error
	// Ahead is how long a pair is published before it is served, unless the present one ends before. 0: not at all.
	Ahead time.Duration
	Clock clock.Clock  // nil: the machine's
	Log   *slog.Logger // nil: nothing is logged

	current, next []*certfile.Pair
	at            time.Time // when next is to be served
	untold        bool      // what became of it, or of current, is not in the history yet
	wait          time.Time // after a failure
}

// Run serves what there is to begin with, follows the source, and tells core, until ctx ends. It returns an error only if the source cannot begin.
func (k *Keeper) Run(ctx context.Context, first []*certfile.Pair) error {
	if k.Clock == nil {
		k.Clock = clock.System()
	}
	if k.Log == nil {
		k.Log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(ctx)
	var ended sync.WaitGroup
	defer ended.Wait()
	defer stop()
	ended.Go(func() { k.Story.Run(ctx) })
	updates, failed := make(chan certfile.Update), make(chan error, 1)
	ended.Go(func() { failed <- k.Source.Run(ctx, pass(updates)) })
	k.next, k.untold = first, len(first) > 0
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		k.step(ctx)
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			if err != nil {
				return err
			}
			failed = nil // it ends with ctx
		case u := <-updates:
			k.found(ctx, u)
		case <-tick.C:
		}
	}
}

// pass hands updates over, one after the other.
func pass(updates chan<- certfile.Update) func(context.Context, certfile.Update) {
	return func(ctx context.Context, u certfile.Update) {
		select {
		case updates <- u:
		case <-ctx.Done():
		}
	}
}

// found takes what the source says.
func (k *Keeper) found(ctx context.Context, u certfile.Update) {
	if u.Refusal != nil {
		k.Log.ErrorContext(ctx, "certificate refused: the present one stays", slog.Any("error", u.Refusal))
		return
	}
	for _, w := range u.Warnings {
		k.Log.WarnContext(ctx, "certificate", slog.String("reason", w.String()))
	}
	if same(u.Pairs, k.next) || k.next == nil && same(u.Pairs, k.current) {
		return
	}
	k.next, k.untold, k.wait = u.Pairs, true, time.Time{}
	now := k.Clock.Now()
	if k.at = now.Add(k.Ahead); ends(k.current).Before(k.at) {
		k.at = now
	}
	if same(u.Pairs, k.current) { // what was to come was taken back
		k.next = nil
	}
}

// step does what it is time for.
func (k *Keeper) step(ctx context.Context) {
	now := k.Clock.Now()
	if now.Before(k.wait) {
		return
	}
	var err error
	switch {
	case k.next != nil && !now.Before(k.at):
		if err = k.Serve(ctx, k.next); err == nil {
			k.current, k.next, k.untold = k.next, nil, true
			err = k.told(k.Story.Live(ctx, k.current...))
		}
	case k.untold && k.next != nil:
		err = k.told(k.Story.Next(ctx, k.at, k.next...))
	case k.untold:
		if err = k.Story.Next(ctx, time.Time{}); err == nil {
			err = k.told(k.Story.Live(ctx, k.current...))
		}
	}
	if err != nil && ctx.Err() == nil {
		k.wait = now.Add(again)
		k.Log.ErrorContext(ctx, "certificate: tried again soon", slog.Any("error", err))
	}
}

func (k *Keeper) told(err error) error {
	k.untold = err != nil
	return err
}

// same reports whether both are the same pairs. None is the same as nothing.
func same(a, b []*certfile.Pair) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, (*certfile.Pair).Equal)
}

// ends is when the first of pairs ends, the zero time for none.
func ends(pairs []*certfile.Pair) time.Time {
	if len(pairs) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(pairs, func(a, b *certfile.Pair) int {
		return cmp.Compare(a.Leaf().NotAfter.Unix(), b.Leaf().NotAfter.Unix())
	}).Leaf().NotAfter
}
