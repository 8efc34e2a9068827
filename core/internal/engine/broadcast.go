package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// broadcastPause is how long payments have the writer to themselves between two commits of a broadcast.
const broadcastPause = 10 * time.Millisecond

// Broadcast has every merchant that there is told, in both modes. The answer comes once that is sure to happen, whatever dies: BroadcastDue
// does it. Of a type and name there is one; asked for again, how far it has come answers.
func (e *Engine) Broadcast(ctx context.Context, r Request, kind, name string, object []byte) (Answer, error) {
	defer e.enter(ctx, r)()
	out, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Answer, error) {
		b, err := tx.Broadcast(kind, name)
		created := errors.Is(err, store.ErrNotFound)
		if created {
			b = &store.Broadcast{Type: kind, Name: name, Data: object}
			if err = tx.InsertBroadcast(b); errors.Is(err, store.ErrDuplicate) {
				err = fmt.Errorf("a broadcast of that name: %w", store.ErrChanged) // another process was faster
			}
		}
		if err != nil {
			return nil, err
		}
		shown := e.Present.Broadcast(b, created)
		if !created {
			return &shown, nil
		}
		return &shown, e.Audit(tx, r, Action{Name: "events.broadcast", After: string(shown.Body)})
	})
	if err == nil {
		select {
		case e.broadcasts <- struct{}{}:
		default: // word was left already
		}
	}
	return value(out), err
}

// Broadcasts is where word is left that there may be something for BroadcastDue.
func (e *Engine) Broadcasts() <-chan struct{} { return e.broadcasts }

// BroadcastDue tells merchants what is still to be told, and returns how many it told. A pass that is cut short is made again: who was told
// is not told twice.
func (e *Engine) BroadcastDue(ctx context.Context) (int, error) {
	open, err := e.Store.OpenBroadcasts(ctx)
	if err != nil {
		return 0, fmt.Errorf("broadcast: %w", err)
	}
	pass, told := tracedPass{tracer: e.Tracer, name: "broadcast"}, 0
	for _, b := range open {
		n, err := e.broadcast(ctx, &pass, b)
		told += n
		if err != nil {
			pass.end(err)
			return told, fmt.Errorf("broadcast %s: %w", b.Type, err)
		}
	}
	pass.end(nil)
	return told, nil
}

// broadcast gives all merchants their turn, some in each commit.
func (e *Engine) broadcast(ctx context.Context, pass *tracedPass, b *store.Broadcast) (told int, err error) {
	for {
		next, err := e.Store.Recipients(ctx, b, commitBatch)
		if err != nil {
			return told, err
		}
		pass.found(ctx, len(next))
		place := b.Until
		if len(next) == commitBatch {
			place = next[commitBatch-1].ID
		}
		n := 0
		err = e.Store.Update(ctx, func(tx *store.Tx) error {
			n = 0
			for _, m := range next {
				met, err := e.tell(tx, m.ID, b)
				if err != nil {
					return err
				}
				n += met
			}
			return tx.MoveBroadcast(b, place, int64(n))
		})
		if errors.Is(err, store.ErrConflict) {
			return told, nil // another process is at it
		}
		if err != nil {
			return told, err
		}
		told, pass.done, b.Place = told+n, pass.done+n, place
		if place >= b.Until {
			return told, nil
		}
		select {
		case <-ctx.Done():
			return told, ctx.Err()
		case <-time.After(broadcastPause):
		}
	}
}

// tell makes a merchant's events, one in each mode, unless it is out of service or knows already. It returns 1 for a merchant in service.
func (e *Engine) tell(tx *store.Tx, merchant int64, b *store.Broadcast) (int, error) {
	m, err := tx.Merchant(merchant)
	if err != nil {
		return 0, err
	}
	if !m.DisabledAt.IsZero() {
		return 0, nil
	}
	for _, live := range []bool{false, true} {
		a := Announcement{Tenant: payment.Tenant{Merchant: merchant, Live: live}, Type: b.Type, Name: b.Name, Object: b.Data}
		_, err := tx.Announced(a.Tenant, a.Type, a.Name)
		if errors.Is(err, store.ErrNotFound) {
			_, err = e.announce(tx, a)
		}
		if err != nil {
			return 0, err
		}
	}
	return 1, nil
}
