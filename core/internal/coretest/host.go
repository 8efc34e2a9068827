package coretest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/secret"
)

// HostKind is the kind of the accounts of a Host. They have the setting login and the credential
// key.
const HostKind = "host"

// Host is an acquirer in memory for accounts of live mode. It accepts one key at a time.
type Host struct {
	Acquirer

	mu     sync.Mutex
	key    string   // guarded by mu, as all fields below
	keys   []string // of the calls and checks, in their order
	opened int
}

// Accept sets the key that the host accepts.
func (h *Host) Accept(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.key = key
}

// Keys returns the keys of all calls and checks, in their order.
func (h *Host) Keys() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.keys...)
}

// Opened returns how many connectors were opened.
func (h *Host) Opened() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.opened
}

// Kinds returns the kind of the host alone.
func (h *Host) Kinds() account.Kinds {
	return account.Kinds{HostKind: {Open: func(s account.Settings) (account.Connector, error) {
		r := s.Reader()
		r.Text("login")
		key := r.Secret("key")
		if err := r.Err(); err != nil {
			return nil, err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.opened++
		return &hosted{h, key}, nil
	}}}
}

// hosted is a connector to a host. It embeds the host for the calls that need no key.
type hosted struct {
	*Host
	key secret.String
}

func (c *hosted) present() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys = append(c.keys, c.key.Reveal())
	if c.key.Reveal() != c.Host.key {
		return errors.New("the host does not accept the key " + c.key.Reveal()) // as a careless acquirer writes
	}
	return nil
}

// Check implements account.Connector.
func (c *hosted) Check(context.Context) error { return c.present() }

// Authorize implements acquirer.Acquirer.
func (c *hosted) Authorize(ctx context.Context, r acquirer.Authorize) (acquirer.Response, error) {
	if err := c.present(); err != nil {
		return acquirer.Response{}, fmt.Errorf("%w: the key is refused", acquirer.ErrUnavailable)
	}
	return c.Acquirer.Authorize(ctx, r)
}
