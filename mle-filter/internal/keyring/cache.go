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

const (
	maxHeld    = 20_000          // tenants in memory
	maxMissed  = 20              // times a second that a tenant may have the store asked for a key that is not in memory
	askTimeout = 2 * time.Second // for what a request waits for
)

// errStale: the store could not be asked for too long.
var errStale = errors.New("keyring: the store cannot be asked, and what is in memory is too old")

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

// Refresh forgets what was changed in the store, by this filter or another.
func (r *Keyring) Refresh(ctx context.Context) error {
	now := r.clock.Now()
	r.mu.RLock()
	seen := r.seen
	r.mu.RUnlock()
	revision, err := r.db.Revision(ctx)
	if err != nil {
		return err
	}
	var changed []string
	if revision != seen {
		if changed, err = r.db.ChangedSince(ctx, seen); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range changed {
		delete(r.held, t)
	}
	if revision > r.seen {
		r.seen = revision
	}
	if now.After(r.checkedAt) {
		r.checkedAt = now
	}
	return nil
}

// changed is called after a write of a tenant's.
func (r *Keyring) changed(ctx context.Context, tenant string) {
	if err := r.Refresh(ctx); err != nil {
		r.mu.Lock()
		delete(r.held, tenant)
		r.mu.Unlock()
	}
}

// of returns what there is of a tenant, from memory if it is not too old.
func (r *Keyring) of(ctx context.Context, tenant string) (*held, error) {
	now := r.clock.Now()
	r.mu.RLock()
	h, checked := r.held[tenant], r.checkedAt
	r.mu.RUnlock()
	if now.Sub(checked) > r.cfg.MaxStale {
		if err := r.catchUp(ctx); err != nil {
			return nil, err
		}
		r.mu.RLock()
		h = r.held[tenant]
		r.mu.RUnlock()
	}
	if h != nil {
		return h, nil
	}
	return r.read(ctx, tenant)
}

// catchUp is Refresh for a request.
func (r *Keyring) catchUp(ctx context.Context) error {
	_, err, _ := r.load.Do("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout) // others wait for it too
		defer cancel()
		return nil, r.Refresh(ctx)
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errStale, err)
	}
	return nil
}

// read reads a tenant from the store.
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
	h := &held{revision: revision}
	return h, h.fill(r.sealer, keys, response)
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

func (h *held) fill(s *sealer, keys []*keystore.Key, response []*keystore.ResponseKey) error {
	for _, k := range keys {
		if k.Sealed == nil {
			continue
		}
		hk := &heldKey{Key: k, open: sync.OnceValues(func() (any, error) {
			der, err := s.open(k)
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

// again reads a tenant anew if anything has changed since h was read: something was asked for that is not in it. It is nil when there is
// nothing newer, or when the tenant asks for too much that does not exist.
func (r *Keyring) again(ctx context.Context, tenant string, h *held) (*held, error) {
	if !r.mayAsk(tenant) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	revision, err := r.db.Revision(ctx)
	if err != nil || revision == h.revision {
		return nil, err
	}
	return r.read(ctx, tenant)
}

// mayAsk counts the questions of a tenant in this second.
func (r *Keyring) mayAsk(tenant string) bool {
	second := r.clock.Now().Unix()
	r.mu.Lock()
	defer r.mu.Unlock()
	if second != r.second {
		r.second = second
		clear(r.missed)
	}
	r.missed[tenant]++
	return r.missed[tenant] <= maxMissed
}
