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

// maxHeld is how many tenants are kept in memory.
const maxHeld = 20_000

// errAway: the store cannot be asked whether a key is still good.
var errAway = errors.New("keyring: the store cannot be asked whether what is in memory still holds")

// held is what is in memory of a tenant. It does not change.
type held struct {
	revision int64
	keys     []*heldKey    // that may decrypt
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

// of returns what there is of a tenant: not older than the moment of the call.
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
	if h, err = r.read(ctx, tenant); err == nil && h.revision < revision { // another request had begun to read before this one came
		h, err = r.readNow(ctx, tenant)
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

// catchUp forgets what was changed in the store since a revision, by this filter or another.
func (r *Keyring) catchUp(ctx context.Context, seen, revision int64) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
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

// read reads a tenant from the store, once for all who want it at the same time.
func (r *Keyring) read(ctx context.Context, tenant string) (*held, error) {
	v, err, _ := r.load.Do(tenant, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
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
		revision, err := r.db.Revision(ctx) // first: what is read then may be newer, never older
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
		by, err := r.sealer.follow(r.db.Keyset(ctx)) // last: it knows by what they were encrypted
		if err != nil {
			return nil, err
		}
		if by.generation != before {
			continue // unless what they were encrypted by was dropped in between
		}
		h := &held{revision: revision}
		return h, h.fill(by, keys, response)
	}
}

// hold keeps in memory what was read of a tenant.
func (r *Keyring) hold(tenant string, h *held) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.revision < r.seen {
		return // it may lack what was changed since, and nobody would notice
	}
	if len(r.held) >= maxHeld {
		for t := range r.held { // any one
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
