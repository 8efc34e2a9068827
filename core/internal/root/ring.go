package root

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// ReadEvery is how often a running core reads the set again.
const ReadEvery = 10 * time.Second

// missEvery is the shortest interval between two reads of the set by Missed.
const missEvery = time.Second

// Location is where a set is stored.
type Location interface {
	// Read returns the stored form, fs.ErrNotExist when there is none.
	Read(ctx context.Context) ([]byte, error)
	// String returns where it is stored.
	String() string
}

// Ring is the set that a process works with. It is safe for concurrent use.
type Ring struct {
	location Location // nil: the set never changes
	clock    clock.Clock

	mu     sync.RWMutex // guards the fields below
	set    *Set
	kept   []byte    // the stored form that was read
	missed time.Time // when Missed read last
}

// Open reads the set of a location.
func Open(ctx context.Context, location Location, c clock.Clock) (*Ring, error) {
	r := &Ring{location: location, clock: c}
	if _, err := r.Read(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// Of returns the ring of a set that is not stored.
func Of(s *Set, c clock.Clock) *Ring { return &Ring{set: s, clock: c} }

// Read reads the set again, and reports whether it has changed.
func (r *Ring) Read(ctx context.Context) (changed bool, err error) {
	if r.location == nil {
		return false, nil
	}
	kept, err := r.location.Read(ctx)
	if err != nil {
		return false, err
	}
	r.mu.RLock()
	same := r.set != nil && bytes.Equal(kept, r.kept)
	r.mu.RUnlock()
	if same {
		return false, nil
	}
	s, err := Parse(r.location.String(), kept)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	r.set, r.kept = s, kept
	r.mu.Unlock()
	return true, nil
}

// Missed reads the set again after a value of an unknown version, and reports whether the set has
// changed. It reads at most once a second, because any client can send invented values.
func (r *Ring) Missed(ctx context.Context) bool {
	now := r.clock.Now()
	r.mu.Lock()
	soon := now.Sub(r.missed).Abs() < missEvery
	if !soon {
		r.missed = now
	}
	r.mu.Unlock()
	if soon {
		return false
	}
	changed, err := r.Read(ctx)
	return err == nil && changed
}

// Set returns the set of the last read.
func (r *Ring) Set() *Set {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.set
}

// Keys returns the keys of a purpose: the one for new values first, then all others, newest first.
// Read only.
func (r *Ring) Keys(p Purpose) []Key {
	s := r.Set()
	all := s.keys[p]
	first := s.active(r.clock.Now())
	if first == 0 {
		return all
	}
	return slices.Concat(all[first:first+1], all[:first], all[first+1:])
}

// Lasting returns a lasting key. Read only.
func (r *Ring) Lasting(l Lasting) []byte { return r.Set().Lasting(l) }
