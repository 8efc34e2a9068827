package postgres

import (
	"sync"
	"time"
)

// turns has groups of all kinds take turns, of which a payment needs several: so those that come back from one gather for the next while others have
// theirs, where they would else meet a group of few.
type turns struct {
	mu      sync.Mutex
	leading int    // guarded by mu
	kinds   []kind // of the groups, which mu guards
}

// kind is the groups of one kind.
type kind interface {
	// first is since when the first of those waits who are not chosen to lead, and whether he was to lead beside others already and found no place.
	first() (since time.Time, overdue, waits bool)
	// next has that one lead.
	next()
}

// handOn has him lead next who waits for longest. While others lead still the place is only for who is overdue: the rest gather.
func (t *turns) handOn() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leading--
	var longest kind
	var since time.Time
	for _, k := range t.kinds {
		if at, overdue, waits := k.first(); waits && (overdue || t.leading == 0) && (longest == nil || at.Before(since)) {
			longest, since = k, at
		}
	}
	if longest != nil {
		longest.next()
	}
}
