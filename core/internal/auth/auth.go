package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// ErrInvalidKey reports that a string is not a valid API key: malformed, unknown, revoked or
// expired. The error of a revoked or expired key also wraps payment.ErrKeyEnded.
var ErrInvalidKey = errors.New("auth: invalid api key")

// ErrMerchantDisabled reports that the key is valid, but an operator has taken its merchant out of
// service.
var ErrMerchantDisabled = errors.New("auth: merchant disabled")

// A key found in the store is cached for cacheTime. Requests that only read notice a change by
// another process after that time at the latest. The expiry is checked at every use. A command that
// writes reads the key's row itself (store.UseKey).
const (
	cacheTime = time.Second
	cacheSize = 4096
)

// Authenticator resolves keys. It is safe for concurrent use.
type Authenticator struct {
	store *store.DB
	clock clock.Clock
	roots *root.Ring

	mu      sync.RWMutex // guards the fields below
	cache   map[[32]byte]cached
	changes int           // counts Forget
	changed map[int64]int // changes at the last Forget of a merchant
	dropped int           // changes when changed was emptied

	usage usage
}

// cached is a key as it was read at a time. An older entry does not replace a read, but shows which
// merchant the hash belongs to.
type cached struct {
	key *payment.APIKey
	at  time.Time // zero if a key of the merchant has changed since
}

// New returns an Authenticator of keys that are hashed under any version of the root secret.
func New(db *store.DB, c clock.Clock, roots *root.Ring) *Authenticator {
	return &Authenticator{
		store: db, clock: c, roots: roots, cache: map[[32]byte]cached{}, changed: map[int64]int{},
		usage: usage{minutes: map[int64]*minutes{}, rehash: map[int64]store.Rehash{}},
	}
}

// Authenticate returns the key, ErrInvalidKey, ErrMerchantDisabled, or another error if the store
// could not be read. The result is shared: read only.
func (a *Authenticator) Authenticate(ctx context.Context, key string) (*payment.APIKey, error) {
	named, err := apikey.Parse(key)
	if err != nil {
		return nil, ErrInvalidKey
	}
	now := a.clock.Now()
	k, err := a.find(ctx, key, now)
	if errors.Is(err, payment.ErrNotFound) && a.roots.Missed(ctx) {
		k, err = a.find(ctx, key, now)
	}
	if errors.Is(err, payment.ErrNotFound) {
		return nil, ErrInvalidKey
	}
	if err != nil {
		return nil, err
	}
	if named.Kind != apikey.Kind(k.Kind) || (named.Mode == apikey.Live) != k.Tenant.Live {
		return nil, ErrInvalidKey // another program has changed the row
	}
	if err := usable(k, now); err != nil {
		return nil, err
	}
	a.usage.note(k.ID, now)
	return k, nil
}

// find looks a key up by its hash under each version of the root secret, first under the version
// for new keys. If another version finds it, the next flush of usage stores its hash under the
// version for new keys. It returns payment.ErrNotFound if there is none.
func (a *Authenticator) find(ctx context.Context, key string, now time.Time) (*payment.APIKey, error) {
	versions := a.roots.Keys(root.APIKeys)
	var last *payment.APIKey
	network := httpx.NetworkOf(httpx.OwnAddressFrom(ctx), 32, 48)
	for _, v := range versions {
		k, fresh := a.cached(apikey.Hash(v.Bytes, key), now)
		if fresh {
			return k, nil
		}
		last = cmp.Or(k, last)
	}
	for i, v := range versions {
		hash := apikey.Hash(v.Bytes, key)
		changes := a.changeCount()
		k, err := a.store.KeyByHash(ctx, last, network, hash[:])
		if errors.Is(err, payment.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		a.remember(hash, cached{k, now}, changes)
		if i > 0 {
			next := apikey.Hash(versions[0].Bytes, key)
			a.usage.rehashLater(k.ID, store.Rehash{Hash: next[:], Root: versions[0].Version})
		}
		return k, nil
	}
	return nil, payment.ErrNotFound
}

// Again reads a key that Authenticate returned from the store again.
func (a *Authenticator) Again(ctx context.Context, k *payment.APIKey) (*payment.APIKey, error) {
	k, err := a.store.KeyByID(ctx, k.Tenant, k.ID)
	if errors.Is(err, payment.ErrNotFound) {
		return nil, ErrInvalidKey
	}
	if err != nil {
		return nil, err
	}
	return k, usable(k, a.clock.Now())
}

func usable(k *payment.APIKey, now time.Time) error {
	if !k.Valid(now) {
		return fmt.Errorf("%w: %w", ErrInvalidKey, payment.ErrKeyEnded)
	}
	if k.MerchantDisabled {
		return ErrMerchantDisabled
	}
	return nil
}

// Forget makes the next use of each key of a merchant read the store. Call it when a change of the
// merchant's keys is committed, before the response.
func (a *Authenticator) Forget(merchant int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for hash, c := range a.cache {
		if c.key.Tenant.Merchant == merchant {
			a.cache[hash] = cached{key: c.key}
		}
	}
	a.changes++
	if len(a.changed) >= cacheSize {
		clear(a.changed)
		a.dropped = a.changes
	}
	a.changed[merchant] = a.changes
}

// changeCount returns how often Forget was called.
func (a *Authenticator) changeCount() int {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.changes
}

// cached returns the key that was last read for a hash, nil for none, and whether it may be used
// without another read.
func (a *Authenticator) cached(hash [32]byte, now time.Time) (k *payment.APIKey, fresh bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	c := a.cache[hash]
	age := now.Sub(c.at)
	return c.key, c.key != nil && age >= 0 && age < cacheTime
}

// remember caches a key. changes is the number of changes when its read began. If a key of its
// merchant may have changed since then, remember does nothing: the read may be outdated. If the
// cache is full, the key replaces any other key.
func (a *Authenticator) remember(hash [32]byte, c cached, changes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if changes < max(a.changed[c.key.Tenant.Merchant], a.dropped) {
		return
	}
	if _, known := a.cache[hash]; !known && len(a.cache) >= cacheSize {
		for other := range a.cache {
			delete(a.cache, other)
			break
		}
	}
	a.cache[hash] = c
}
