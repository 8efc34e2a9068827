package move

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// ErrTaken says that a move cannot be taken back without a loss: the target has changed since.
var ErrTaken = errors.New("the target has changed since it was moved to")

// ErrBeats says that a core serves the target.
var ErrBeats = errors.New("a core serves the target: stop it first")

// A core beats every second. One that is not heard for so long is gone.
const (
	goneAfter = 5 * time.Second
	askEvery  = 200 * time.Millisecond
)

// Undo has the source be the store again, and the target not. Nobody may serve either: ErrBeats where one does, unless forced. A target that is not as the
// source is has taken payments since: ErrTaken, unless forced, which leaves those to nobody. One that was cut off is run again.
func Undo(ctx context.Context, cfg Config, force bool) (err error) {
	m, err := open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	found, err := m.target.mark(ctx)
	switch {
	case err != nil:
		return err
	case found.identity != cfg.Identity:
		return fmt.Errorf("%w: nothing of this store was moved there", ErrForeign)
	case found.state == store.Arriving:
		return m.source.within(ctx, true, func() error { return m.source.unmark(ctx) })
	}
	if !force {
		if err := m.target.unserved(ctx); err != nil {
			return err
		}
	}
	now := cfg.Clock.Now().UnixMilli()
	if err := m.target.turn(ctx, m.tables, store.Undoing, now); err != nil { // it takes nothing from here on
		return err
	}
	err = m.source.within(ctx, true, func() error {
		if !force {
			if err := m.unchanged(ctx); err != nil {
				return err
			}
		}
		return m.source.unmark(ctx)
	})
	if errors.Is(err, ErrTaken) {
		return errors.Join(err, m.target.turn(ctx, m.tables, store.Arrived, now))
	}
	if err != nil {
		return err
	}
	return m.target.turn(ctx, m.tables, store.Arriving, now)
}

// unserved is ErrBeats when a core of the target beats. It waits for a beat only where one did not say that it has ended.
func (t *target) unserved(ctx context.Context) error {
	first, beating, err := t.beats(ctx)
	if err != nil || !beating {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, goneAfter, errGone)
	defer cancel()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errGone) {
				return nil
			}
			return ctx.Err()
		case <-tick.C:
		}
		now, _, err := t.beats(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		if now != first {
			return ErrBeats
		}
	}
}

var errGone = errors.New("no beat")

// beats is what all beats come to, and whether there is a core that has not said that it has ended.
func (t *target) beats(ctx context.Context) (shown string, beating bool, err error) {
	err = t.lock.QueryRow(ctx, "SELECT coalesce(string_agg(id || ' ' || beat, ',' ORDER BY id), ''), count(*) > 0 FROM cores WHERE beat <> 0").Scan(&shown, &beating)
	if err != nil {
		return "", false, fmt.Errorf("look whether the target is served: %w", err)
	}
	return shown, beating, nil
}

// UndoSource has the source be the store again, whatever the target is and has: for a target that is lost.
func UndoSource(ctx context.Context, path string) (err error) {
	s, err := openSource(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return s.within(ctx, true, func() error { return s.unmark(ctx) })
}

// unchanged is ErrTaken when the target is not as the source is.
func (m *Move) unchanged(ctx context.Context) error {
	found := make([]moved, len(m.tables))
	var h hasher
	for i, t := range m.tables {
		found[i].table = t.name
		err := m.source.pieces(ctx, t, func(p *piece) error {
			for _, row := range p.rows {
				n, err := h.row(row)
				if err != nil {
					return err
				}
				found[i].sum.add(n)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	err := m.verify(ctx, found)
	var differs *differenceError
	if errors.As(err, &differs) {
		return fmt.Errorf("%w, and what it took would be lost to this one: %w", ErrTaken, err)
	}
	return err
}
