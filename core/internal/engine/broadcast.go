package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

// broadcastPause is the pause between two commits of a broadcast, in which payments have the
// writer.
const broadcastPause = 10 * time.Millisecond

// broadcastRetry is the pause before a broadcast is retried for a merchant.
const broadcastRetry = time.Minute

// Broadcast announces an event to every present merchant, in both modes. It returns once the
// broadcast is durable; BroadcastDue writes the events. A repeated request of the same type and
// name returns the existing broadcast with its progress.
func (e *Engine) Broadcast(ctx context.Context, r Request, kind, name string, object []byte) (Result, error) {
	defer e.running.enter(ctx, r)()
	out, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		b, err := tx.Broadcast(kind, name)
		created := errors.Is(err, payment.ErrNotFound)
		if created {
			b = &payment.Broadcast{Type: kind, Name: name, Data: object}
			if err = tx.InsertBroadcast(b); errors.Is(err, store.ErrDuplicate) {
				err = fmt.Errorf("a broadcast of that name: %w", store.ErrChanged) // another process was faster
			}
		}
		if err != nil {
			return nil, err
		}
		if !created {
			result := e.existing(b)
			return &result, nil
		}
		result := e.created(b)
		return &result, e.Audit(tx, r, Action{Name: "events.broadcast", After: string(result.Body)})
	})
	if err == nil {
		select {
		case e.broadcasts <- struct{}{}:
		default: // a signal is pending already
		}
	}
	return value(out), err
}

// Broadcasts returns a channel that signals new work for BroadcastDue.
func (e *Engine) Broadcasts() <-chan struct{} { return e.broadcasts }

// BroadcastDue writes the events of all unfinished broadcasts, and returns the number of merchants
// that got theirs. No merchant gets an event twice, also if a pass was cut short. If the broadcast
// fails for a merchant, it is retried after broadcastRetry and delays no other merchant.
func (e *Engine) BroadcastDue(ctx context.Context) (int, error) {
	open, err := e.Store.OpenBroadcasts(ctx)
	if err != nil {
		return 0, fmt.Errorf("broadcast: %w", err)
	}
	traced, reached := tracedPass{tracer: e.Tracer, name: "broadcast"}, 0
	for _, b := range open {
		x := &broadcasting{e: e, b: b, traced: &traced, pass: e.Store.BeginPass(pass.Broadcast)}
		err := x.run(ctx)
		reached += x.reached
		if err := x.pass.Skip(ctx, "broadcast "+b.Type+" "+b.Name, b.Place, err); err != nil {
			traced.end(err)
			return reached, fmt.Errorf("broadcast %s: %w", b.Type, err)
		}
	}
	traced.end(nil)
	return reached, nil
}

// broadcasting is a pass over the merchants of one broadcast.
type broadcasting struct {
	e       *Engine
	b       *payment.Broadcast
	traced  *tracedPass
	pass    *pass.Pass
	reached int  // merchants so far
	moved   bool // another process works on it, or a failure could not be written
}

// run writes the events of some merchants in each commit: first of the next merchants, then of the
// merchants for which the broadcast failed.
func (x *broadcasting) run(ctx context.Context) error {
	rows := pass.Rows[int64]{Kind: "merchant", ID: merchantID, Change: x.next, Refused: x.fail}
	for x.b.Place < x.b.Until && !x.moved {
		page, err := x.e.Store.Recipients(ctx, x.b, commitBatch)
		if err != nil {
			return err
		}
		x.traced.found(ctx, len(page))
		if len(page) == 0 { // the newest merchants are gone
			page = []int64{x.b.Until}
		}
		if err := rows.Do(ctx, x.pass, page); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(broadcastPause):
		}
	}
	failed, err := x.e.Store.FailedRecipients(ctx, x.b, x.e.Clock.Now(), broadcastRetry, commitBatch)
	if err != nil || len(failed) == 0 || x.moved {
		return err
	}
	rows.Change, rows.Refused = x.again, x.postpone
	return rows.Do(ctx, x.pass, failed)
}

func merchantID(merchant int64) int64 { return merchant }

// next writes the events of the next merchants in one commit.
func (x *broadcasting) next(ctx context.Context, merchants []int64) (int, error) {
	return x.move(ctx, merchants, true, x.announce)
}

// fail records that the broadcast failed for a merchant, and moves past it.
func (x *broadcasting) fail(ctx context.Context, merchant int64) error {
	_, err := x.move(ctx, []int64{merchant}, true, func(tx *store.Tx, merchant int64) (int, error) {
		return 0, tx.FailBroadcast(x.b, merchant, tx.Now.Add(broadcastRetry))
	})
	x.moved = x.moved || err != nil
	return err
}

// again writes the events of merchants for which the broadcast had failed.
func (x *broadcasting) again(ctx context.Context, merchants []int64) (int, error) {
	return x.move(ctx, merchants, false, func(tx *store.Tx, merchant int64) (int, error) {
		if err := tx.MendBroadcast(x.b, merchant); err != nil {
			return 0, err
		}
		return x.announce(tx, merchant)
	})
}

// postpone delays the next attempt for a merchant for which the broadcast failed again.
func (x *broadcasting) postpone(ctx context.Context, merchant int64) error {
	return x.e.Store.Update(ctx, func(tx *store.Tx) error {
		return tx.FailBroadcast(x.b, merchant, tx.Now.Add(broadcastRetry))
	})
}

// move commits fn for merchants and returns how many it has handled. fn returns how many merchants
// got events. Unless the merchants are retried, the broadcast moves past them. move does nothing if
// another process has moved the broadcast.
func (x *broadcasting) move(
	ctx context.Context, merchants []int64, past bool, fn func(*store.Tx, int64) (reached int, err error),
) (n int, err error) {
	if x.moved {
		return len(merchants), nil
	}
	reached, place, moved := 0, x.b.Place, false
	err = x.e.Store.Update(ctx, func(tx *store.Tx) (err error) {
		reached = 0
		n, err = store.Each(tx, merchants, func(merchant int64) error {
			one, err := fn(tx, merchant)
			reached += one
			return err
		})
		if err == nil && past {
			place = merchants[n-1]
		}
		if err == nil {
			err = tx.MoveBroadcast(x.b, place, int64(reached))
		}
		moved = errors.Is(err, store.ErrConflict)
		return err
	})
	if moved {
		x.moved = true
		return len(merchants), nil
	}
	if err == nil {
		x.reached, x.traced.done, x.b.Place = x.reached+reached, x.traced.done+reached, place
	}
	return n, err
}

// announce makes the events of one merchant.
func (x *broadcasting) announce(tx *store.Tx, merchant int64) (int, error) {
	return x.e.announceBroadcast(tx, merchant, x.b)
}

// announceBroadcast makes a merchant's events, one in each mode, unless it is out of service or has
// them already. It returns 1 for a merchant in service, and 0 for a merchant that does not exist
// any more.
func (e *Engine) announceBroadcast(tx *store.Tx, merchant int64, b *payment.Broadcast) (int, error) {
	m, err := tx.Merchant(merchant)
	if errors.Is(err, payment.ErrNotFound) {
		return 0, nil // the merchant does not exist any more
	}
	if err != nil {
		return 0, err
	}
	if !m.DisabledAt.IsZero() {
		return 0, nil
	}
	for _, live := range []bool{false, true} {
		a := Announcement{Tenant: payment.Tenant{Merchant: merchant, Live: live}, Type: b.Type, Name: b.Name, Object: b.Data}
		_, err := tx.Announced(a.Tenant, a.Type, a.Name)
		if errors.Is(err, payment.ErrNotFound) {
			_, err = e.announce(tx, a)
		}
		if err != nil {
			return 0, err
		}
	}
	return 1, nil
}
