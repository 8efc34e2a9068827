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

// maxHeld is the largest number of tenants in memory.
const maxHeld = 20_000

// errAway reports that the store cannot be read, so a key in memory may have ended.
var errAway = errors.New("keyring: the store cannot be read to check the keys in memory")

// held is the cached state of a tenant. It is immutable.
type held struct {
	revision int64
	keys     []*heldKey    // the keys that may decrypt
	response []responseKey // the active ones, the newest first
}

type heldKey struct {
	*keystore.Key
	jwk  jose.JSONWebKey
	open func() (any, error)
}

type responseKey struct {
	kid string
	jwk jose.JSONWebKey
}

func (h *held) key(kid string) *heldKey {
	for _, k := range h.keys {
		if k.Kid == kid {
			return k
		}
	}
	return nil
}

func (h *held) find(alg engine.Alg, s State, now time.Time) *heldKey {
	for _, k := range h.keys {
		if k.Alg == string(alg) && stateOf(k.Key, now) == s {
			return k
		}
	}
	return nil
}

// of returns the state of a tenant, at least as new as the start of the call.
func (r *Keyring) of(ctx context.Context, tenant string) (*held, error) {
	revision, err := r.asked.now(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errAway, err)
	}
	r.mu.RLock()
	h, seen := r.held[tenant], r.seen
	r.mu.RUnlock()
	if seen < revision {
		if err := r.catchUp(ctx, seen, revision); err != nil {
			return nil, fmt.Errorf("%w: %w", errAway, err)
		}
		r.mu.RLock()
		h = r.held[tenant]
		r.mu.RUnlock()
	}
	if h != nil {
		return h, nil
	}
	if h, err = r.read(ctx, tenant); err == nil && h.revision < revision { // a concurrent read had begun before this call
		h, err = r.readNow(ctx, tenant)
	}
	if err != nil {
		return nil, err
	}
	return h, nil
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
		delete(r.held, t)
	}
	r.seen = max(r.seen, revision)
	return nil
}

// read reads a tenant from the store. Concurrent callers share one read.
func (r *Keyring) read(ctx context.Context, tenant string) (*held, error) {
	v, err, _ := r.load.Do(tenant, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
		defer cancel()
		h, err := r.readNow(ctx, tenant)
		if err == nil {
			r.hold(tenant, h)
		}
		return h, err
	})
	if err != nil {
		return nil, err
	}
	return v.(*held), nil
}

func (r *Keyring) readNow(ctx context.Context, tenant string) (*held, error) {
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
		h := &held{revision: revision}
		return h, h.fill(by, keys, response)
	}
}

// hold keeps the state of a tenant in memory.
func (r *Keyring) hold(tenant string, h *held) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.revision < r.seen {
		return // a later change of the tenant would go unnoticed
	}
	if len(r.held) >= maxHeld {
		for t := range r.held { // an arbitrary one
			delete(r.held, t)
			break
		}
	}
	r.held[tenant] = h
}

func (h *held) fill(by *opened, keys []*keystore.Key, response []*keystore.ResponseKey) error {
	for _, k := range keys {
		if k.Sealed == nil {
			continue
		}
		hk := &heldKey{Key: k, open: sync.OnceValues(func() (any, error) {
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
		h.keys = append(h.keys, hk)
	}
	for _, k := range response {
		if k.ProvenAt.IsZero() {
			continue
		}
		rk := responseKey{kid: k.Kid}
		if err := rk.jwk.UnmarshalJSON(k.JWK); err != nil {
			return fmt.Errorf("keyring: stored response key %s: %w", k.Kid, err)
		}
		h.response = append(h.response, rk)
	}
	return nil
}
