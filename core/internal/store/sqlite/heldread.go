package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// errInterrupted is the cause with which the context of a read ends that must run again.
var errInterrupted = errors.New("sqlite: the write-ahead log is emptied")

// reads are reads that can be held back: the quick lists, or the other lists and the reads of
// background work. Reads by id are short and none of them.
type reads struct {
	wait    time.Duration // how long a read waits at most for its begin
	grace   time.Duration // how long the running reads have to end before they are interrupted
	longest time.Duration // how long a read runs at most
	closing chan struct{} // closed when the store closes

	mu      sync.Mutex // guards the fields below
	running map[*heldRun]struct{}
	held    chan struct{} // closed when the reads are not held back any more; nil if they are not
	ended   chan struct{} // closed when the last read has ended that ran when they were held back
}

// heldRun is one run of a read. interrupt is nil if the read was interrupted before.
type heldRun struct{ interrupt context.CancelCauseFunc }

// do runs a read once it may begin. It runs an interrupted read again. It interrupts a read once at
// most, so that each read ends. It returns errHeldBack if the read waits too long, ErrClosed if the
// store closes meanwhile.
func (l *reads) do(ctx context.Context, read func(context.Context) error) error {
	interruptible, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	err := l.once(ctx, interruptible, &heldRun{interrupt}, read)
	if err != nil && errors.Is(context.Cause(interruptible), errInterrupted) {
		err = l.once(ctx, ctx, &heldRun{}, read)
	}
	return err
}

// once waits for the begin of a run, and runs a read with the context interruptible.
func (l *reads) once(ctx, interruptible context.Context, r *heldRun, read func(context.Context) error) error {
	if err := l.begin(ctx, r); err != nil {
		return err
	}
	defer l.end(r)
	return read(interruptible)
}

// begin waits until a run may begin. The caller calls end after it. It returns the errors of do.
func (l *reads) begin(ctx context.Context, r *heldRun) error {
	held := l.tryBegin(r)
	if held == nil {
		return nil
	}
	over := time.NewTimer(l.wait)
	defer over.Stop()
	for ; held != nil; held = l.tryBegin(r) {
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

// tryBegin adds a run that begins, and returns nil. If reads are held back, it returns a channel
// that is closed when they no longer are.
func (l *reads) tryBegin(r *heldRun) (held <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.running[r] = struct{}{}
		return nil
	}
	return l.held
}

// end ends a run that has begun.
func (l *reads) end(r *heldRun) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, r)
	if len(l.running) == 0 && l.held != nil {
		close(l.ended)
	}
}

// hold makes reads wait that have not begun. ended is closed when all others have ended. It is nil
// if reads are held back already.
func (l *reads) hold() (ended <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		return nil
	}
	l.held, l.ended = make(chan struct{}), make(chan struct{})
	if len(l.running) == 0 {
		close(l.ended)
	}
	return l.ended
}

// await waits for the running reads, and interrupts them after their grace. It returns false if the
// store closes, or if one of them runs longer than its deadline permits.
func (l *reads) await(ended <-chan struct{}) bool {
	grace, over := time.NewTimer(l.grace), time.NewTimer(l.longest)
	defer grace.Stop()
	defer over.Stop()
	for {
		select {
		case <-ended:
			return true
		case <-grace.C:
			l.interrupt()
		case <-over.C:
			return false
		case <-l.closing:
			return false
		}
	}
}

// interrupt interrupts the running reads that were not interrupted before.
func (l *reads) interrupt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for r := range l.running {
		if r.interrupt != nil {
			r.interrupt(errInterrupted)
		}
	}
}

// release lets the waiting reads begin. When the store closes, they return ErrClosed instead.
func (l *reads) release() {
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
