package keyring

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

// maxCached is the largest number of tenants in memory.
const maxCached = 20_000

// errStoreUnread reports that the store cannot be read, so a key in memory may have ended.
var errStoreUnread = errors.New("keyring: the store cannot be read to check the keys in memory")

// cachedTenant is the cached state of a tenant. It is immutable.
type cachedTenant struct {
	revision     int64
	keys         []*cachedKey        // the keys that may decrypt
	responseKeys []cachedResponseKey // the active ones, the newest first
	// refused and refusedResponse are the ids of the keys whose rows another program changed.
	refused, refusedResponse []string
}

type cachedKey struct {
	*keystore.Key
	jwk  jose.JSONWebKey
	open func() (any, error)
}

type cachedResponseKey struct {
	kid string
	jwk jose.JSONWebKey
}

func (c *cachedTenant) key(kid string) *cachedKey {
	for _, k := range c.keys {
		if k.Kid == kid {
			return k
		}
	}
	return nil
}

func (c *cachedTenant) find(alg engine.Alg, s State, now time.Time) *cachedKey {
	for _, k := range c.keys {
		if k.Alg == string(alg) && stateOf(k.Key, now) == s {
			return k
		}
	}
	return nil
}

// cached returns the state of a tenant, at least as new as the start of the call.
func (r *Keyring) cached(ctx context.Context, tenant string) (*cachedTenant, error) {
	revision, err := r.revision.now(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStoreUnread, err)
	}
	r.mu.RLock()
	c, seen := r.cache[tenant], r.seen
	r.mu.RUnlock()
	if seen < revision {
		if err := r.catchUp(ctx, seen, revision); err != nil {
			return nil, fmt.Errorf("%w: %w", errStoreUnread, err)
		}
		r.mu.RLock()
		c = r.cache[tenant]
		r.mu.RUnlock()
	}
	if c != nil {
		return c, nil
	}
	if c, err = r.read(ctx, tenant); err == nil && c.revision < revision { // a concurrent read had begun before this call
		c, err = r.readNow(ctx, tenant)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// catchUp drops the tenants from memory that any filter has changed in the store since a revision.
func (r *Keyring) catchUp(ctx context.Context, seen, revision int64) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	changed, err := r.db.ChangedSince(ctx, seen)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range changed {
		delete(r.cache, t)
	}
	r.seen = max(r.seen, revision)
	return nil
}

// read reads a tenant from the store. Concurrent callers share one read.
func (r *Keyring) read(ctx context.Context, tenant string) (*cachedTenant, error) {
	v, err, _ := r.load.Do(tenant, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
		defer cancel()
		c, err := r.readNow(ctx, tenant)
		if err == nil && len(c.refused)+len(c.refusedResponse) == 0 { // a repair of a row leaves the revision as it was
			r.put(tenant, c)
		}
		return c, err
	})
	if err != nil {
		return nil, err
	}
	return v.(*cachedTenant), nil
}

func (r *Keyring) readNow(ctx context.Context, tenant string) (*cachedTenant, error) {
	for {
		before := r.sealer.last.Load().generation
		revision, err := r.db.Revision(ctx) // read first: the rest may be newer than it, never older
		if err != nil {
			return nil, err
		}
		keys, err := r.db.Keys(ctx, tenant)
		if err != nil {
			return nil, err
		}
		response, err := r.db.ResponseKeys(ctx, tenant)
		if err != nil {
			return nil, err
		}
		by, err := r.sealer.follow(r.db.Keyset(ctx)) // read last: it must hold the keys that encrypted the rest
		if err != nil {
			return nil, err
		}
		if by.generation != before {
			continue // the keyset changed meanwhile, and a key that encrypted the rest may be gone
		}
		c := &cachedTenant{revision: revision}
		keys, c.refused = r.genuine(ctx, keys)
		response, c.refusedResponse = r.genuineResponse(ctx, response)
		r.repaired(tenant, append(c.refused, c.refusedResponse...)...)
		return c, c.fill(by, keys, response)
	}
}

// put keeps the state of a tenant in memory.
func (r *Keyring) put(tenant string, c *cachedTenant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.revision < r.seen {
		return // a later change of the tenant would go unnoticed
	}
	if len(r.cache) >= maxCached {
		for t := range r.cache { // an arbitrary one
			delete(r.cache, t)
			break
		}
	}
	r.cache[tenant] = c
}

func (c *cachedTenant) fill(by *openKeyset, keys []*keystore.Key, response []*keystore.ResponseKey) error {
	for _, k := range keys {
		if k.Sealed == nil {
			continue
		}
		hk := &cachedKey{Key: k, open: sync.OnceValues(func() (any, error) {
			der, err := by.open(k)
			if err != nil {
				return nil, err
			}
			defer clear(der)
			return parse(der)
		})}
		if err := hk.jwk.UnmarshalJSON(k.JWK); err != nil {
			return fmt.Errorf("keyring: stored key %s: %w", k.Kid, err)
		}
		c.keys = append(c.keys, hk)
	}
	for _, k := range response {
		if k.ProvenAt.IsZero() {
			continue
		}
		rk := cachedResponseKey{kid: k.Kid}
		if err := rk.jwk.UnmarshalJSON(k.JWK); err != nil {
			return fmt.Errorf("keyring: stored response key %s: %w", k.Kid, err)
		}
		c.responseKeys = append(c.responseKeys, rk)
	}
	return nil
}
