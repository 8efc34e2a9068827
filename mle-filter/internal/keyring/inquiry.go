package keyring

import (
	"context"
	"sync"
	"time"
)

// askTimeout bounds what a request waits for.
const askTimeout = 2 * time.Second

// inquiry asks the store for its revision, once for all who want to know at the same time. Whoever comes while a question is under way waits
// for the next one: what it is told was true after it came. So a write whose caller has heard that it was made is seen by every use that
// begins after that.
type inquiry struct {
	ask func(context.Context) (int64, error)

	mu   sync.Mutex
	busy bool  // guarded by mu; somebody is asking
	next *turn // guarded by mu; those who wait for the next question, nil for nobody
}

type turn struct {
	done     chan struct{}
	revision int64 // written before done is closed
	err      error
}

// now returns a revision that the store had after the call began.
func (q *inquiry) now(ctx context.Context) (int64, error) {
	q.mu.Lock()
	t := q.next
	if t == nil {
		t = &turn{done: make(chan struct{})}
		q.next = t
	}
	leads := !q.busy
	q.busy = true
	q.mu.Unlock()
	if leads {
		q.lead(ctx)
	}
	select {
	case <-t.done:
		return t.revision, t.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// lead asks the first question itself, which costs no switch to another goroutine when nobody else is there, and leaves the next ones to one.
func (q *inquiry) lead(ctx context.Context) {
	if q.turn(ctx) {
		go func() {
			for q.turn(ctx) {
			}
		}()
	}
}

// turn asks one question for all who wait by now, and reports whether somebody has come since.
func (q *inquiry) turn(ctx context.Context) (more bool) {
	q.mu.Lock()
	t := q.next
	q.next = nil
	q.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout) // others wait for it too
	t.revision, t.err = q.ask(ctx)
	cancel()
	close(t.done)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = q.next != nil
	return q.busy
}
