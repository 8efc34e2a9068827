package sqlite

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// longReads are the lists and the reads of background work. They can be held back. Reads by id are
// short and none of them.
type longReads struct {
	wait    time.Duration // how long a read waits at most for its begin
	longest time.Duration // how long a read runs at most
	closing chan struct{} // closed when the store closes

	mu      sync.Mutex // guards the fields below
	running int
	held    chan struct{} // closed when the reads are not held back any more; nil if they are not
	ended   chan struct{} // closed when the last read has ended that ran when they were held back
}

// begin waits until a read may begin. The caller calls end after the read. errHeldBack if it waits
// too long, ErrClosed if the store closes meanwhile.
func (l *longReads) begin(ctx context.Context) error {
	held := l.tryBegin()
	if held == nil {
		return nil
	}
	over := time.NewTimer(l.wait)
	defer over.Stop()
	for ; held != nil; held = l.tryBegin() {
		select {
		case <-held:
		case <-over.C:
			return errHeldBack
		case <-l.closing:
			return store.ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("wait until the write-ahead log is emptied: %w", ctx.Err())
		}
	}
	return nil
}

// tryBegin counts a read that begins, and returns nil. If reads are held back, it returns a channel
// that is closed when they no longer are.
func (l *longReads) tryBegin() (held <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.running++
		return nil
	}
	return l.held
}

// end ends a read that has begun.
func (l *longReads) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	if l.running == 0 && l.held != nil {
		close(l.ended)
	}
}

// hold makes reads wait that have not begun. ended is closed when all others have ended. It is nil
// if reads are held back already.
func (l *longReads) hold() (ended <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		return nil
	}
	l.held, l.ended = make(chan struct{}), make(chan struct{})
	if l.running == 0 {
		close(l.ended)
	}
	return l.ended
}

// await waits for the running reads. It returns false if the store closes, or if one of them runs
// longer than its deadline permits.
func (l *longReads) await(ended <-chan struct{}) bool {
	over := time.NewTimer(l.longest)
	defer over.Stop()
	select {
	case <-ended:
		return true
	case <-over.C:
	case <-l.closing:
	}
	return false
}

// release lets the waiting reads begin. When the store closes, they return ErrClosed instead.
func (l *longReads) release() {
	select {
	case <-l.closing:
		return
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.held)
	l.held = nil
}
