package batch

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// Errors of Do. The item was not committed.
var (
	ErrFull   = errors.New("batch: the queue is full")
	ErrClosed = errors.New("batch: the queue is closed")
)

// Queue collects items and commits them in batches. Set its fields before the first call of Do.
type Queue[T any] struct {
	// Commit commits the items of a batch, in the order in which they arrived. Its error is the result
	// of each item. Store results of single items in the items. A panic is an error of the batch.
	Commit func(items []T) error
	Size   int // the most items of a batch
	Limit  int // the most items that wait; 0 for no limit
	// Slots is the most batches under way; 0 means 1. With more than one, a batch begins while others
	// are under way only for an item that has waited for Slow. Commit is called concurrently then.
	Slots int
	Slow  time.Duration
	// Kind returns the kind of an item; nil if all are alike. A batch has items of one kind, that of
	// the item that has waited longest.
	Kind func(T) any

	mu       sync.Mutex
	waiting  []*call[T]     // guarded by mu, in the order of arrival
	underWay int            // guarded by mu; batches
	closed   bool           // guarded by mu
	pending  sync.WaitGroup // calls without a result
}

// call is an item with its result.
type call[T any] struct {
	item T
	slow bool          // guarded by mu; it has waited for Slow
	done chan struct{} // closed once err is set
	err  error
}

// Do adds an item and returns the result of its batch. If ctx ends before a batch has the item, Do
// withdraws it and returns the cause. An item in a batch is awaited.
func (q *Queue[T]) Do(ctx context.Context, item T) error {
	c := &call[T]{item: item, done: make(chan struct{})}
	batch, err := q.add(c)
	if err != nil {
		return err
	}
	if batch != nil { // the caller commits it: a lone call waits for no other goroutine
		q.run(batch)
		if next := q.next(); next != nil {
			go q.work(next)
		}
	}
	if q.Slots > 1 {
		slow := time.AfterFunc(q.Slow, func() { q.hasten(c) })
		defer slow.Stop()
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
	}
	if q.withdraw(c) {
		return context.Cause(ctx)
	}
	<-c.done
	return c.err
}

// add adds a call. It returns the batch that the caller must commit, or nil.
func (q *Queue[T]) add(c *call[T]) ([]*call[T], error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, ErrClosed
	}
	if q.Limit > 0 && len(q.waiting) >= q.Limit {
		return nil, ErrFull
	}
	q.pending.Add(1)
	q.waiting = append(q.waiting, c)
	return q.begin(), nil
}

// withdraw reports whether the item of a call was still waiting, and removes it.
func (q *Queue[T]) withdraw(c *call[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, c)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	q.pending.Done()
	return true
}

// hasten marks a call as slow.
func (q *Queue[T]) hasten(c *call[T]) {
	q.mu.Lock()
	c.slow = true
	batch := q.begin()
	q.mu.Unlock()
	q.work(batch)
}

// work commits a batch, and then others while any may begin.
func (q *Queue[T]) work(batch []*call[T]) {
	for ; batch != nil; batch = q.next() {
		q.run(batch)
		if len(batch) > 1 {
			runtime.Gosched() // the callers are about to send their next items, which can share a batch
		}
	}
}

// begin returns a batch if one may begin while the others are under way, or nil. Call it with mu
// held.
func (q *Queue[T]) begin() []*call[T] {
	if len(q.waiting) == 0 || q.underWay > 0 && (q.underWay >= q.Slots || !q.waiting[0].slow) {
		return nil
	}
	q.underWay++
	return q.take()
}

// next returns the batch that may begin once another one has ended, or nil.
func (q *Queue[T]) next() []*call[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.underWay--
	return q.begin()
}

// take removes the next batch from the waiting items. Call it with mu held.
func (q *Queue[T]) take() (batch []*call[T]) {
	first := q.waiting[0].item
	q.waiting = slices.DeleteFunc(q.waiting, func(c *call[T]) bool {
		joins := len(batch) < q.Size && (q.Kind == nil || q.Kind(c.item) == q.Kind(first))
		if joins {
			batch = append(batch, c)
		}
		return joins
	})
	return batch
}

// run commits a batch and returns its result to the callers.
func (q *Queue[T]) run(batch []*call[T]) {
	items := make([]T, len(batch))
	for i, c := range batch {
		items[i] = c.item
	}
	err := q.commit(items)
	for _, c := range batch {
		c.err = err
		close(c.done)
		q.pending.Done()
	}
}

func (q *Queue[T]) commit(items []T) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("batch: commit panicked with a %T\n%s", r, debug.Stack())
		}
	}()
	return q.Commit(items)
}

// Waiting returns how many items wait for a batch.
func (q *Queue[T]) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// Close returns once each accepted item has its result. Do accepts no items from then on.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.pending.Wait()
}
