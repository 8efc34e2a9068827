package v1client

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	keyTTL   = 5 * time.Second
	keyLimit = 1024
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

// APIKey returns an API key with its scopes, up to five seconds old if it works from all addresses.
// If v1 does not return it, it reports false, with the response unless the key is cached.
func (c *Client) APIKey(ctx context.Context, key secret.String) (v1.APIKey, Response, bool) {
	hash := sha256.Sum256([]byte(key.Reveal()))
	if info, ok := c.keys.get(hash, c.cfg.Clock.Now()); ok {
		return info, Response{}, true
	}
	resp := c.currentKey(ctx, key)
	var info v1.APIKey
	named := func() bool { return info.Merchant != "" && info.Mode != "" }
	if resp.Status/100 != 2 || !resp.DecodeMatching(&info, named) {
		if resp.Status/100 == 4 && !ConcernsKey(resp.Err.Code) {
			c.warn(ctx, "it refused to identify an API key: "+resp.Err.Code)
		}
		return v1.APIKey{}, resp, false
	}
	until := c.cfg.Clock.Now()
	if info.AllowedAddresses == nil { // v1 must judge the address of each other request
		until = until.Add(keyTTL)
	}
	c.keys.put(hash, keyEntry{info: info, until: until})
	return info, resp, true
}

// ConcernsKey reports whether v1's refusal to identify an API key, by its code, is about the key or
// its merchant. Any other refusal, such as not_through_filter, is about the way to v1.
func ConcernsKey(code string) bool {
	switch code {
	case v1.CodeInvalidAPIKey, v1.CodeMerchantDisabled, v1.CodeAddressNotAllowed, v1.CodeMLERequired, v1.CodeRateLimited:
		return true
	}
	return false
}

// currentKey reads v1's record of an API key.
func (c *Client) currentKey(ctx context.Context, key secret.String) Response {
	return c.Call(ctx, func(ctx context.Context) (*http.Response, error) {
		return c.API.GetCurrentAPIKey(ctx, c.As(key))
	})
}

// SeenAPIKey returns the cached state of a key, of any age.
func (c *Client) SeenAPIKey(key secret.String) (v1.APIKey, bool) {
	return c.keys.seen(sha256.Sum256([]byte(key.Reveal())))
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
