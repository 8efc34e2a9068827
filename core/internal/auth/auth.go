package auth

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

// ErrInvalidKey reports that a string is not a valid API key: malformed, unknown, revoked or
// expired. It does not reveal which of them.
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
	changes int // counts Forget

	usage usage
}

type cached struct {
	key *payment.APIKey
	at  time.Time
}

// New returns an Authenticator of keys that are hashed under any version of the root secret.
func New(db *store.DB, c clock.Clock, roots *root.Ring) *Authenticator {
	return &Authenticator{
		store: db, clock: c, roots: roots, cache: map[[32]byte]cached{},
		usage: usage{minutes: map[int64]*minutes{}, rehash: map[int64]store.Rehash{}},
	}
}

// Authenticate returns the key, ErrInvalidKey, ErrMerchantDisabled, or another error if the store
// could not be read. The result is shared: read only.
func (a *Authenticator) Authenticate(ctx context.Context, key string) (*payment.APIKey, error) {
	if _, err := apikey.Parse(key); err != nil {
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
	for _, v := range versions {
		if k, _ := a.cached(apikey.Hash(v.Bytes, key), now); k != nil {
			return k, nil
		}
	}
	for i, v := range versions {
		hash := apikey.Hash(v.Bytes, key)
		_, changes := a.cached(hash, now)
		k, err := a.store.KeyByHash(ctx, hash[:])
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
	k, err := a.store.KeyByID(ctx, k.ID)
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
		return ErrInvalidKey
	}
	if k.MerchantDisabled {
		return ErrMerchantDisabled
	}
	return nil
}

// Forget makes the next use of every key read the store. Call it when a change of keys is
// committed, before the response.
func (a *Authenticator) Forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.cache)
	a.changes++
}

func (a *Authenticator) cached(hash [32]byte, now time.Time) (k *payment.APIKey, changes int) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	c, ok := a.cache[hash]
	if age := now.Sub(c.at); !ok || age < 0 || age >= cacheTime {
		return nil, a.changes
	}
	return c.key, a.changes
}

// remember caches a key, unless keys have changed since its read began: the read may be outdated.
func (a *Authenticator) remember(hash [32]byte, c cached, changes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if changes != a.changes {
		return
	}
	if len(a.cache) >= cacheSize {
		clear(a.cache)
	}
	a.cache[hash] = c
}
