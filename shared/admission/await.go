package admission

import "context"

// Await gives back the slot of the request of ctx, and reserves size bytes of the bound for
// unfinished bodies instead. It is for a body that arrives at another program, while this program
// decides about the request. The request holds the bytes until Arrived or the end of the handler.
// Await returns ErrUnfinished or ErrOverloaded if a bound forbids the bytes. Then the caller must
// refuse the request.
func Await(ctx context.Context, size int64) error {
	t := ticketFrom(ctx)
	if t == nil {
		return nil
	}
	t.release()
	size = max(size, leastBytes)
	if err := t.limiter.bodies.take(t.client, size); err != nil {
		t.limiter.refused(reasonOf(err))
		return err
	}
	t.awaited += size
	return nil
}

// Arrived gives the bytes of Await back and takes a slot. It returns ErrTooMany or ErrOverloaded if
// a bound forbids that. The caller must refuse the request then.
func Arrived(ctx context.Context) error {
	t := ticketFrom(ctx)
	if t == nil {
		return nil
	}
	t.giveAwaited()
	err := t.acquire(nil)
	if err != nil {
		t.limiter.refused(reasonOf(err))
	}
	return err
}

// giveAwaited gives the bytes of Await back.
func (t *ticket) giveAwaited() {
	if t.awaited > 0 {
		t.limiter.bodies.give(t.client, t.awaited)
	}
	t.awaited = 0
}
