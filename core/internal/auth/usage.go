package auth

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// touchBatch is the number of keys whose last use one commit writes.
const touchBatch = 128

// usage remembers when keys were last used, to the minute, until it is written. No request waits
// for a write of its use.
type usage struct {
	mu      sync.RWMutex // guards the map, not its values
	minutes map[int64]*minutes
	rehash  map[int64]store.Rehash // keys to be written under a newer version of the root secret, by id
}

// minutes are times of one key in minutes of Unix time.
type minutes struct{ used, written atomic.Int64 }

func (u *usage) note(key int64, now time.Time) {
	minute := now.Unix() / 60
	u.mu.RLock()
	m, ok := u.minutes[key]
	if ok && m.used.Load() < minute { // most requests find it set, and write to no shared memory
		m.used.Store(minute)
	}
	u.mu.RUnlock()
	if ok {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, ok := u.minutes[key]; !ok {
		u.minutes[key] = &minutes{}
		u.minutes[key].used.Store(minute)
	}
}

// mostRehashes bounds the keys that wait to be hashed again. One that finds no room is hashed again
// after a later use.
const mostRehashes = 4096

// rehashLater schedules a key to be stored under another hash.
func (u *usage) rehashLater(key int64, next store.Rehash) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.rehash) < mostRehashes {
		u.rehash[key] = next
	}
}

// flushRehashes writes keys under their new hashes, at most touchBatch in a commit.
func (a *Authenticator) flushRehashes(ctx context.Context) error {
	a.usage.mu.RLock()
	waiting := maps.Clone(a.usage.rehash)
	a.usage.mu.RUnlock()
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(waiting)), touchBatch) {
		next := map[int64]store.Rehash{}
		for _, key := range batch {
			next[key] = waiting[key]
		}
		if err := a.store.Update(ctx, func(tx *store.Tx) error { return tx.RehashKeys(next) }); err != nil {
			return fmt.Errorf("hash keys again: %w", err)
		}
		a.usage.mu.Lock()
		for _, key := range batch {
			delete(a.usage.rehash, key)
		}
		a.usage.mu.Unlock()
	}
	return nil
}

// LastUsed is when the key was last used, to the minute. It is the store's value, or the one that
// this process has not written yet.
func (a *Authenticator) LastUsed(k *payment.APIKey) time.Time {
	a.usage.mu.RLock()
	defer a.usage.mu.RUnlock()
	m, ok := a.usage.minutes[k.ID]
	if !ok {
		return k.LastUsedAt
	}
	if noted := time.Unix(m.used.Load()*60, 0).UTC(); noted.After(k.LastUsedAt) {
		return noted
	}
	return k.LastUsedAt
}

// FlushUsage writes the times of the last use of keys, and keys under their new hashes. It writes a
// bounded number in each commit.
func (a *Authenticator) FlushUsage(ctx context.Context) error {
	if err := a.flushRehashes(ctx); err != nil {
		return err
	}
	pending := a.usage.pending(a.clock.Now())
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(pending)), touchBatch) {
		used := map[int64]time.Time{}
		for _, key := range batch {
			used[key] = time.Unix(pending[key]*60, 0)
		}
		if err := a.store.Update(ctx, func(tx *store.Tx) error { return tx.TouchKeys(used) }); err != nil {
			return fmt.Errorf("write the last use of keys: %w", err)
		}
		a.usage.wrote(batch, pending)
	}
	return nil
}

// pending returns the uses that were not written yet. It drops keys that were written and are idle
// since, so that the map holds keys in use only.
func (u *usage) pending(now time.Time) map[int64]int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := map[int64]int64{}
	for key, m := range u.minutes {
		switch used := m.used.Load(); {
		case used != m.written.Load():
			out[key] = used
		case used < now.Unix()/60:
			delete(u.minutes, key)
		}
	}
	return out
}

func (u *usage) wrote(keys []int64, what map[int64]int64) {
	u.mu.RLock()
	defer u.mu.RUnlock()
	for _, key := range keys {
		if m, ok := u.minutes[key]; ok {
			m.written.Store(what[key])
		}
	}
}
