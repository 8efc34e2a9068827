package payment

import (
	"errors"
	"net/netip"
	"slices"
	"time"
)

// Errors of API keys.
var (
	// ErrKeyEnded reports that the key was revoked or has expired.
	ErrKeyEnded = errors.New("payment: the API key has ended")
	// ErrMerchantDisabled reports that an operator took the key's merchant out of service.
	ErrMerchantDisabled = errors.New("payment: the merchant is disabled")
	// ErrOriginsOfSecretKey reports a request to give origins to a secret key. No secret key works in
	// a web page.
	ErrOriginsOfSecretKey = errors.New("payment: only a publishable key can have origins")
	// ErrTooManyKeys reports that the merchant has MaxKeys active keys, or MaxStoredKeys valid ones.
	ErrTooManyKeys = errors.New(
		"payment: the merchant has 100 active API keys in this mode, or 1,000 valid ones with the rolled ones: revoke one")
)

// MaxKeys is the number of active keys that a merchant may have in each mode.
const MaxKeys = 100

// MaxStoredKeys is the number of keys that are stored for a merchant in each mode, ended ones
// included.
const MaxStoredKeys = 1000

// APIKey is a stored API key. The secret itself is never stored. A zero time stands for an event
// that did not happen.
type APIKey struct {
	ID         int64
	Tenant     Tenant
	Kind       string // secret or publishable
	Name       string
	Scopes     []string
	Addresses  []netip.Prefix // of the clients that may use the key; empty for all
	Origins    []string       // of the web pages that may use the key; empty for all
	Hint       string         // the last four characters
	ReplacedBy int64          // the key that replaced this one in a roll, 0 for none
	CreatedAt  time.Time
	ExpiresAt  time.Time
	RevokedAt  time.Time
	LastUsedAt time.Time // to the minute, and some seconds late
	Root       int64     // version of the root secret under which it is hashed; 0 for a key that was read
	// MerchantDisabled reports that the merchant is out of service, and with it all its keys.
	MerchantDisabled bool
}

// AllowsAddress reports whether a client with that address may use the key. "" is an unknown
// address.
func (k *APIKey) AllowsAddress(client string) bool {
	if len(k.Addresses) == 0 {
		return true
	}
	address, err := netip.ParseAddr(client)
	return err == nil && slices.ContainsFunc(k.Addresses, func(n netip.Prefix) bool { return n.Contains(address) })
}

// PrefixTexts returns networks in CIDR form.
func PrefixTexts(networks []netip.Prefix) []string {
	texts := make([]string, len(networks))
	for i, n := range networks {
		texts[i] = n.String()
	}
	return texts
}

// AllowsOrigins reports whether a request with these Origin fields may use the key. Browsers send
// the field with each request by a key to another origin. Other programs can omit it.
func (k *APIKey) AllowsOrigins(fields []string) bool {
	other := func(origin string) bool { return !slices.Contains(k.Origins, origin) }
	return len(k.Origins) == 0 || !slices.ContainsFunc(fields, other)
}

// APIKeyStatus is the status of an API key.
type APIKeyStatus string

// The statuses of API keys. Active and rolled keys are valid.
const (
	APIKeyActive  APIKeyStatus = "active"
	APIKeyRolled  APIKeyStatus = "rolled" // valid until it expires
	APIKeyExpired APIKeyStatus = "expired"
	APIKeyRevoked APIKeyStatus = "revoked"
)

// Status returns the status of the key at a time.
func (k *APIKey) Status(now time.Time) APIKeyStatus {
	switch {
	case !k.RevokedAt.IsZero():
		return APIKeyRevoked
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return APIKeyExpired
	case k.ReplacedBy != 0:
		return APIKeyRolled
	default:
		return APIKeyActive
	}
}

// Valid reports whether the key is accepted at a time.
func (k *APIKey) Valid(now time.Time) bool {
	s := k.Status(now)
	return s == APIKeyActive || s == APIKeyRolled
}
