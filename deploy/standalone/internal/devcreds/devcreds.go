package devcreds

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/durable"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Credentials are the credentials of one merchant for every endpoint. Their encoding masks the
// secrets unless it uses secret.RevealMarshalers.
type Credentials struct {
	Merchant  string    `json:"merchant"` // mer_…
	Keys      Keys      `json:"keys"`
	ProviderA ProviderA `json:"provider_a"`
	ProviderB ProviderB `json:"provider_b,omitzero"`
}

// Keys are the merchant's v1 keys: secret and publishable, test and live.
type Keys struct {
	SKTest secret.String `json:"sk_test"`
	PKTest secret.String `json:"pk_test"`
	SKLive secret.String `json:"sk_live"`
	PKLive secret.String `json:"pk_live"`
}

// ProviderA is the login of a provider-a client. Its clients refuse a name above 25 or a key above
// 16 characters.
type ProviderA struct {
	Name           string        `json:"name"`
	TransactionKey secret.String `json:"transaction_key"`
}

// ProviderB is the login of a provider-b client, with the proxy's key to which the client encrypts.
type ProviderB struct {
	MerchantID            string        `json:"merchant_id"`
	KeyID                 string        `json:"key_id"`
	SharedSecret          secret.String `json:"shared_secret"`
	P12                   []byte        `json:"p12"` // the content of the file
	P12Password           secret.String `json:"p12_password"`
	Certificate           string        `json:"certificate"` // the client's, PEM
	EncryptionKey         secret.String `json:"encryption_key"`
	EncryptionCertificate string        `json:"encryption_certificate"`
}

// Issuer creates merchants and keys, and checks keys.
type Issuer interface {
	// CreateMerchant returns the new merchant's id.
	CreateMerchant(ctx context.Context, name string) (string, error)
	// CreateKey creates a key of mode "test" or "live" and kind "secret" or "publishable". An unknown
	// merchant is an error.
	CreateKey(ctx context.Context, merchant, mode, kind string) (secret.String, error)
	// Valid reports whether v1 accepts the key.
	Valid(ctx context.Context, key secret.String) (bool, error)
	// ProviderB creates a login of provider-b.
	ProviderB() (ProviderB, error)
}

// Ensure returns the credentials in the file at path, complete and valid.
//
// Ensure writes the file, mode 0600, after everything in it exists, and before it returns. If a
// first start dies earlier, its keys were never shown, and the next start makes new ones. Ensure
// replaces a revoked key for the same merchant. If no key is valid, because the store was removed,
// it replaces the merchant too. It returns an error for an invalid file and never replaces it.
func Ensure(ctx context.Context, path string, by Issuer) (*Credentials, error) {
	c, err := read(path)
	if err != nil {
		return nil, err
	}
	changed, err := c.complete(ctx, by)
	if err != nil {
		return nil, fmt.Errorf("make development credentials: %w", err)
	}
	if !changed {
		return c, nil
	}
	data, err := json.Marshal(c, json.WithMarshalers(secret.RevealMarshalers()), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("encode development credentials: %w", err)
	}
	if err := durable.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		return nil, fmt.Errorf("store development credentials: %w", err)
	}
	return c, nil
}

// New reports whether no credentials exist at path.
func New(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// read returns the content of the file, or the zero value if the file does not exist.
func read(path string) (*Credentials, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Credentials{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read development credentials: %w", err)
	}
	c := &Credentials{}
	if json.Unmarshal(data, c, json.RejectUnknownMembers(true)) != nil { // its error would quote the file
		return nil, fmt.Errorf("%s does not hold development credentials (remove it to create new ones)", path)
	}
	return c, nil
}

// complete creates missing or invalid credentials, and reports whether it changed any.
func (c *Credentials) complete(ctx context.Context, by Issuer) (changed bool, err error) {
	dead, err := c.dead(ctx, by)
	if err != nil {
		return false, err
	}
	if len(dead) == len(c.slots()) { // a new folder, or a store without the merchant
		if c.Merchant, err = by.CreateMerchant(ctx, "Development"); err != nil {
			return false, err
		}
	}
	for _, k := range dead {
		changed = true
		if *k.key, err = by.CreateKey(ctx, c.Merchant, k.mode, k.kind); err != nil {
			return false, err
		}
	}
	if c.ProviderA.Name == "" || c.ProviderA.TransactionKey.IsZero() {
		changed = true
		c.ProviderA = ProviderA{
			Name:           "dev-" + strings.ToLower(rand.Text()[:10]),
			TransactionKey: secret.New(rand.Text()[:16]), // 80 random bits
		}
	}
	if c.ProviderB.MerchantID == "" {
		changed = true
		if c.ProviderB, err = by.ProviderB(); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// dead returns the slots whose key is missing or not valid.
func (c *Credentials) dead(ctx context.Context, by Issuer) (dead []slot, err error) {
	for _, k := range c.slots() {
		valid := false
		if !k.key.IsZero() {
			if valid, err = by.Valid(ctx, *k.key); err != nil {
				return nil, err
			}
		}
		if !valid {
			dead = append(dead, k)
		}
	}
	return dead, nil
}

type slot struct {
	key        *secret.String
	mode, kind string
}

func (c *Credentials) slots() []slot {
	return []slot{
		{&c.Keys.SKTest, "test", "secret"},
		{&c.Keys.PKTest, "test", "publishable"},
		{&c.Keys.SKLive, "live", "secret"},
		{&c.Keys.PKLive, "live", "publishable"},
	}
}
