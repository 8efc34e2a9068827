package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// ErrInvalidKey says that a string is no valid API key: malformed, unknown, revoked or expired. Which of them is not told.
var ErrInvalidKey = errors.New("auth: invalid api key")

// A key found in the store is believed for cacheTime without looking again, so that is how long a change by another process takes
// to be felt. Its expiry is checked at every use.
const (
	cacheTime = time.Second
	cacheSize = 4096
)

// Authenticator resolves keys. It is safe for concurrent use.
type Authenticator struct {
	store  *store.DB
	clock  clock.Clock
	pepper []byte

	mu    sync.RWMutex // guards cache
	cache map[[32]byte]cached
}

type cached struct {
	key *store.Key
	at  time.Time
}

// New returns an Authenticator that hashes keys with pepper.
func New(db *store.DB, c clock.Clock, pepper []byte) *Authenticator {
	return &Authenticator{store: db, clock: c, pepper: pepper, cache: map[[32]byte]cached{}}
}

// Authenticate returns the key, ErrInvalidKey, or another error when the store could not be asked. The result is shared: read only.
func (a *Authenticator) Authenticate(ctx context.Context, key string) (*store.Key, error) {
	if _, err := apikey.Parse(key); err != nil {
		return nil, ErrInvalidKey
	}
	hash := apikey.Hash(a.pepper, key)
	now := a.clock.Now()
	k := a.cached(hash, now)
	if k == nil {
		var err error
		if k, err = a.store.KeyByHash(ctx, hash[:]); errors.Is(err, store.ErrNotFound) {
			return nil, ErrInvalidKey
		} else if err != nil {
			return nil, err
		}
		a.remember(hash, cached{k, now})
	}
	if !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) {
		return nil, ErrInvalidKey
	}
	return k, nil
}

func (a *Authenticator) cached(hash [32]byte, now time.Time) *store.Key {
	a.mu.RLock()
	defer a.mu.RUnlock()
	c, ok := a.cache[hash]
	if age := now.Sub(c.at); !ok || age < 0 || age >= cacheTime {
		return nil
	}
	return c.key
}

func (a *Authenticator) remember(hash [32]byte, c cached) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.cache) >= cacheSize {
		clear(a.cache)
	}
	a.cache[hash] = c
}

// KeySpec says what kind of key to make.
type KeySpec struct {
	Merchant int64
	Live     bool
	Kind     apikey.Kind
	Scopes   []string // nil: all that the kind may have
}

// Create makes a key and stores its hash. The secret is returned here and never again. store.ErrNotFound when there is no such
// merchant.
func Create(ctx context.Context, db *store.DB, ids *id.Generator, pepper []byte, random io.Reader, s KeySpec) (secret.String, error) {
	mode := apikey.Test
	if s.Live {
		mode = apikey.Live
	}
	scopes := s.Scopes
	if scopes == nil {
		scopes = apikey.DefaultScopes(s.Kind)
	}
	for _, scope := range scopes {
		if !slices.Contains(apikey.DefaultScopes(s.Kind), scope) {
			return secret.String{}, fmt.Errorf("auth: a %s key cannot have the scope %q", s.Kind, scope)
		}
	}
	key, err := apikey.New(s.Kind, mode, random)
	if err != nil {
		return secret.String{}, err
	}
	hash := apikey.Hash(pepper, key.Reveal())
	err = db.Update(ctx, func(tx *store.Tx) error {
		return tx.InsertKey(&store.Key{
			ID: ids.Next(), Tenant: payment.Tenant{Merchant: s.Merchant, Live: s.Live}, Kind: string(s.Kind), Scopes: scopes,
			Hint: apikey.Hint(key.Reveal()),
		}, hash[:])
	})
	if err != nil {
		return secret.String{}, fmt.Errorf("store key: %w", err)
	}
	return key, nil
}
