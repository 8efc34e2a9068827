package command

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	keyTTL   = 5 * time.Second
	keyLimit = 1024

	// identifyTimeout leaves time for the command that follows.
	identifyTimeout = 8 * time.Second
)

// keyHash identifies an API key in memory. The key itself is not kept.
type keyHash [sha256.Size]byte

type keyEntry struct {
	info  v1.APIKey
	until time.Time
}

// keyCache keeps the scopes of API keys for a few seconds. V1 itself still refuses a key that was
// revoked meanwhile.
type keyCache struct {
	mu      sync.Mutex
	entries map[keyHash]keyEntry // guarded by mu
}

// Identify returns the API key with its scopes, up to five seconds old, and counts the legacy
// request towards the merchant of the key. If v1 refuses the key, it returns the zero APIKey and
// the refusal, otherwise Done. It returns Unavailable with status 429 if too many requests of the
// merchant are pending.
func (x *Executor) Identify(ctx context.Context, key secret.String) (v1.APIKey, Result) {
	info, r := x.apiKey(ctx, key)
	if r.Outcome != Done {
		return info, r
	}
	err := admission.Identify(ctx, admission.Identity{
		Key: info.ID, Merchant: info.Merchant + "/" + string(info.Mode), Live: info.Mode == v1.ModeLive,
		Public: info.Kind == v1.APIKeyKindPublishable,
	})
	if err != nil {
		return info, Result{Outcome: Unavailable, Status: http.StatusTooManyRequests}
	}
	return info, r
}

func (x *Executor) apiKey(ctx context.Context, key secret.String) (v1.APIKey, Result) {
	hash := sha256.Sum256([]byte(key.Reveal()))
	if info, ok := x.keys.get(hash, x.cfg.Clock.Now()); ok {
		return info, Result{Outcome: Done}
	}
	ctx, end := x.detached(ctx)
	defer end()
	ctx, cancel := context.WithTimeout(ctx, identifyTimeout)
	defer cancel()
	s := session{x: x, key: key}
	resp := x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return x.client.GetCurrentAPIKey(ctx, s.authorized)
	})
	var info v1.APIKey
	if r, ok := resp.read(&info, func() bool { return info.Merchant != "" && info.Mode != "" }); !ok {
		return v1.APIKey{}, r
	}
	x.keys.put(hash, keyEntry{info: info, until: x.cfg.Clock.Now().Add(keyTTL)})
	return info, Result{Outcome: Done, Status: resp.status}
}

// tenant returns the merchant and mode of a key. They never change, so a remembered key needs no
// call. If v1 does not identify the key, it returns the result to give.
func (x *Executor) tenant(ctx context.Context, key secret.String) (tenant, *Result) {
	info, seen := x.keys.seen(sha256.Sum256([]byte(key.Reveal())))
	if !seen {
		var r Result
		if info, r = x.Identify(ctx, key); r.Outcome != Done {
			if r.Outcome == NotFound { // a 404 that v1 never sends
				r.Outcome = Unavailable
			}
			return tenant{}, &r
		}
	}
	return tenant{info.Merchant, string(info.Mode)}, nil
}

// seen returns the cached state of a key, of any age.
func (c *keyCache) seen(h keyHash) (v1.APIKey, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[h]
	return e.info, ok
}

func (c *keyCache) get(h keyHash, now time.Time) (v1.APIKey, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[h]
	if !ok || !now.Before(e.until) {
		return v1.APIKey{}, false
	}
	return e.info, true
}

// put drops an arbitrary entry if the cache is full. The limit is far above the number of callers
// in five seconds, so the choice hardly matters.
func (c *keyCache) put(h keyHash, e keyEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.entries[h]; !known && len(c.entries) >= keyLimit {
		for victim := range c.entries {
			delete(c.entries, victim)
			break
		}
	}
	c.entries[h] = e
}
