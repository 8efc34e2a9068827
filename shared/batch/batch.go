package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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
	// Commit commits the items of a batch, in the order of their turns. Its error is the result of
	// each item. Store results of single items in the items. A panic is an error of the batch.
	Commit func(items []T) error
	Size   int // the most items of a batch
	// Caller returns the caller of an item. The caller whose items have cost least is next, so an
	// item waits for about one item of each other caller. The items of one caller keep their order.
	// An item may only be overtaken if it has another kind, or if its estimate exceeds the room in
	// the batch. Nil is for one caller.
	Caller func(T) any
	// Estimate returns the expected cost of an item, at least 1. Its caller pays that when a batch
	// begins. Nil expects the cost of the caller's earlier items, and 1 of the first one.
	Estimate func(T) int64
	// Cost returns the cost of an item after a commit without an error, at least 1, and 0 if the
	// commit did not run it. Such an item waits for its turn again. A commit runs at least the first
	// item. Nil if each commit runs all items, at the expected costs.
	Cost func(T) int64
	// Most is the highest expected cost of a batch; 0 for no bound. It keeps cheap items from waiting
	// for costly ones in their batch. The first item may cost more. A caller whose items under way
	// cost that much waits until some of them have ended, so it does not have all slots.
	Most int64
	// Later reports whether an item costs its caller twice as much as others; nil if none does.
	Later func(T) bool
	// Limit returns the number of items without a result with which an item's caller gets ErrFull;
	// 0 for no limit. Nil limits no items.
	Limit func(T) int
	// Slots is the most batches under way; 0 means 1. With more than one, a batch begins while others
	// are under way only for an item that has waited for Slow. Commit is called concurrently then.
	Slots int
	Slow  time.Duration
	// Kind returns the kind of an item; nil if all are alike. A batch has items of one kind, that of
	// the item with the next turn.
	Kind func(T) any

	mu       sync.Mutex
	waiting  []*call[T]      // guarded by mu, in the order of arrival
	callers  map[any]*caller // guarded by mu
	turn     int64           // guarded by mu; the highest turn with which a batch has begun
	arrived  int             // guarded by mu; calls so far
	calls    int             // guarded by mu; without a result
	underWay int             // guarded by mu; batches
	closed   bool            // guarded by mu
	pending  sync.WaitGroup  // calls without a result
}

// caller is a caller with calls without a result, or with an earlier cost that others have not
// reached. Its fields are guarded by mu.
type caller struct {
	calls int   // without a result
	turn  int64 // of its next item: the cost of its items so far, expected for items in batches
	cost  int64 // of its last items
	busy  int64 // the expected cost of its items in batches
	take  int64 // the turn of its next item while a batch is taken
}

// call is an item with its result.
type call[T any] struct {
	item    T
	of      *caller
	arrival int           // number of calls before this one
	turn    int64         // guarded by mu; set while a batch is taken
	cost    int64         // guarded by mu; expected, set while a batch is taken
	slow    bool          // guarded by mu; it has waited for Slow
	gone    error         // guarded by mu; the result if no batch runs it any more
	done    chan struct{} // closed once err is set
	err     error
}

// Do adds an item and returns the result of its batch. If ctx ends before a batch has the item, Do
// withdraws it and returns the cause. An item in a batch is awaited.
func (q *Queue[T]) Do(ctx context.Context, item T) error {
	c := &call[T]{item: item, done: make(chan struct{})}
	batch, err := q.add(c)
	if err != nil {
		return err
	}
	if q.Slots > 1 {
		slow := time.AfterFunc(q.Slow, func() { q.hasten(c) })
		defer slow.Stop()
	}
	if batch != nil { // the caller commits it: a lone call waits for no other goroutine
		q.run(batch)
		if next := q.next(); next != nil {
			go q.work(next)
		}
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		q.withdraw(c, context.Cause(ctx))
		<-c.done
	}
	return c.err
}

// add adds a call. It returns the batch that the caller must commit, or nil.
func (q *Queue[T]) add(c *call[T]) ([]*call[T], error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, ErrClosed
	}
	of := q.callerOf(c.item)
	if q.Limit != nil {
		if limit := q.Limit(c.item); limit > 0 && of.calls >= limit {
			return nil, ErrFull
		}
	}
	if of.calls == 0 { // no credit for the time without items
		of.turn = max(of.turn, q.turn)
	}
	of.calls++
	q.calls++
	c.of, c.arrival = of, q.arrived
	q.arrived++
	q.pending.Add(1)
	q.waiting = append(q.waiting, c)
	return q.begin(), nil
}

// callerOf returns the caller of an item. Call it with mu held.
func (q *Queue[T]) callerOf(item T) *caller {
	var key any
	if q.Caller != nil {
		key = q.Caller(item)
	}
	of := q.callers[key]
	if of == nil {
		if q.callers == nil {
			q.callers = map[any]*caller{}
		}
		of = &caller{cost: 1}
		q.callers[key] = of
	}
	return of
}

// weighted returns a cost of an item as its caller has it.
func (q *Queue[T]) weighted(item T, cost int64) int64 {
	if q.Later != nil && q.Later(item) {
		cost *= 2
	}
	return cost
}

// withdraw ends a call that waits. A call in a batch ends with why if the batch does not run it.
func (q *Queue[T]) withdraw(c *call[T], why error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c.gone = why
	if i := slices.Index(q.waiting, c); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.end(c, why)
	}
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
// held. If a slow item is not in that batch, another one begins.
func (q *Queue[T]) begin() []*call[T] {
	slow := func(c *call[T]) bool { return c.slow && q.admits(c) }
	if len(q.waiting) == 0 || q.underWay > 0 && (q.underWay >= q.Slots || !slices.ContainsFunc(q.waiting, slow)) {
		return nil
	}
	q.underWay++
	batch := q.take()
	if other := q.begin(); other != nil {
		go q.work(other)
	}
	return batch
}

// admits reports whether an item's caller may have more items in batches. Call it with mu held.
func (q *Queue[T]) admits(c *call[T]) bool { return q.Most == 0 || c.of.busy < q.Most }

// next returns the batch that may begin once another one has ended, or nil.
func (q *Queue[T]) next() []*call[T] {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.underWay--
	return q.begin()
}

// take removes the next batch from the waiting items. Call it with mu held.
func (q *Queue[T]) take() (batch []*call[T]) {
	maps.DeleteFunc(q.callers, func(_ any, of *caller) bool { return of.calls == 0 && of.turn <= q.turn })
	for _, of := range q.callers {
		of.take = of.turn
	}
	for _, c := range q.waiting {
		c.turn, c.cost = c.of.take, c.of.cost
		if q.Estimate != nil {
			c.cost = q.Estimate(c.item)
		}
		c.of.take += q.weighted(c.item, c.cost)
	}
	slices.SortStableFunc(q.waiting, func(a, b *call[T]) int { return cmp.Compare(a.turn, b.turn) })
	first, cost := q.waiting[slices.IndexFunc(q.waiting, q.admits)], int64(0)
	q.turn = max(q.turn, first.turn)
	q.waiting = slices.DeleteFunc(q.waiting, func(c *call[T]) bool {
		joins := len(batch) < q.Size && q.admits(c) && (q.Kind == nil || q.Kind(c.item) == q.Kind(first.item))
		joins = joins && (c == first || q.Most == 0 || cost+c.cost <= q.Most)
		if joins {
			batch, cost = append(batch, c), cost+c.cost
			c.of.turn += q.weighted(c.item, c.cost)
			c.of.busy += c.cost
		}
		return joins
	})
	q.byArrival()
	return batch
}

// byArrival sorts the waiting items. Call it with mu held.
func (q *Queue[T]) byArrival() {
	slices.SortFunc(q.waiting, func(a, b *call[T]) int { return cmp.Compare(a.arrival, b.arrival) })
}

// run commits a batch and returns its result to the callers.
func (q *Queue[T]) run(batch []*call[T]) {
	items := make([]T, len(batch))
	for i, c := range batch {
		items[i] = c.item
	}
	err := q.commit(items)
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range batch {
		cost := c.cost
		if err == nil && q.Cost != nil {
			cost = q.Cost(c.item)
		}
		c.of.turn += q.weighted(c.item, cost-c.cost)
		c.of.busy -= c.cost
		switch {
		case cost > 0:
			c.of.cost = (3*c.of.cost + cost + 3) / 4
			q.end(c, err)
		case c.gone != nil:
			q.end(c, c.gone)
		default:
			q.waiting = append(q.waiting, c)
		}
	}
	q.byArrival()
}

// end returns the result of a call to its caller. Call it with mu held.
func (q *Queue[T]) end(c *call[T], err error) {
	c.of.calls--
	if q.calls--; q.calls == 0 { // all have had all the turns that they needed
		clear(q.callers)
	}
	c.err = err
	close(c.done)
	q.pending.Done()
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
