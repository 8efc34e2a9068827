package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/shared/id"
)

// RotateEvery is the longest time for which an operator's secret or key should be in use.
const RotateEvery = 366 * 24 * time.Hour

// Secret is one secret, key or certificate that core holds, or a kind of which there are many.
type Secret struct {
	Name      string `json:"name"`
	Algorithm string `json:"algorithm"`
	Use       string `json:"use"`
	Count     int64  `json:"count"`
	// Version is the version of the secret, or of the vault's key that encrypts it; 0 for none.
	Version int64 `json:"version,omitempty"`
	// Since is when it, or the oldest of its kind, was made or last replaced. Nil if that is unknown.
	Since   *time.Time `json:"since,omitempty"`
	AgeDays *int       `json:"age_days,omitempty"`
	// NextRotation is the latest time for a replacement. It is nil for secrets whose owner decides,
	// and for secrets that must not change.
	NextRotation *time.Time `json:"next_rotation,omitempty"`
	Overdue      bool       `json:"overdue"`
	Rotate       string     `json:"rotate"` // how to replace it
}

// inventory collects secrets as of a time.
type inventory struct {
	now time.Time
	all []Secret
}

// add adds a secret in use since a time, zero if that is unknown. One that expires should be
// replaced after RotateEvery.
func (i *inventory) add(s Secret, since time.Time, expires bool) {
	if !since.IsZero() {
		since = since.UTC().Truncate(time.Second)
		days := int(i.now.Sub(since) / (24 * time.Hour))
		s.Since, s.AgeDays = &since, &days
	}
	if expires && s.Since != nil {
		next := since.Add(RotateEvery)
		s.NextRotation, s.Overdue = &next, i.now.After(next)
	}
	i.all = append(i.all, s)
}

// Inventory lists the secrets that core holds, without their values. They are the root secret and
// its lasting keys, the keys of the card vault and of security codes, and the valid operator
// tokens. The credentials of acquirer accounts belong to them, too. Secrets in the environment are
// read by getenv. Merchants' keys and signing secrets are only counted. Core holds no certificate:
// the edge ends TLS.
func (d *Dir) Inventory(ctx context.Context, getenv func(string) string) ([]Secret, error) {
	i := &inventory{now: d.Clock.Now()}
	d.addRoots(i)
	err := errors.Join(d.addVault(ctx, i), d.addCodeKeys(ctx, i), d.addOperators(ctx, i), d.addAccounts(ctx, i),
		d.addMerchants(ctx, i))
	if err != nil {
		return nil, err
	}
	addEnvironment(i, getenv)
	return i.all, nil
}

// addRoots adds the versions of the root secret, and the lasting keys.
func (d *Dir) addRoots(i *inventory) {
	set := d.Roots.Set()
	for n, v := range set.Versions() {
		use, rotate := "derives the keys of API key hashes, stored responses and client secrets", "core secrets rotate"
		newest := n == len(set.Versions())-1
		if !newest {
			use, rotate = "the same for older values, until it is dropped", "core secrets drop-old"
		}
		i.add(Secret{
			Name: v.String(), Algorithm: "HKDF-SHA-256, 256 bits", Use: use, Count: 1, Version: v.Number, Rotate: rotate,
		}, v.From, newest)
	}
	for _, l := range root.Lastings() {
		i.add(Secret{
			Name: string(l) + " key", Algorithm: l.Algorithm(), Use: l.Use(), Count: 1, Rotate: "never: " + l.Lasts(),
		}, set.Made(), false)
	}
}

// addVault adds the card vault's keys, if it has any yet.
func (d *Dir) addVault(ctx context.Context, i *inventory) error {
	changed, err := d.keysetChanged(ctx)
	if errors.Is(err, payment.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("card vault: %w", err)
	}
	v, err := d.Vault(ctx)
	if err != nil {
		return err
	}
	i.add(Secret{
		Name: "card vault keys", Algorithm: "AES-256-GCM",
		Use:   "encrypt stored card and account numbers, and acquirer credentials",
		Count: int64(1 + len(v.Older())), Rotate: "core vault rotate --drop-old",
	}, changed, true)
	return nil
}

// addCodeKeys adds the keys of security codes. Each encrypts for one hour.
func (d *Dir) addCodeKeys(ctx context.Context, i *inventory) error {
	keys, err := d.Store.CodeKeys(ctx)
	if err != nil {
		return err
	}
	for _, k := range keys {
		i.add(Secret{
			Name: fmt.Sprintf("security code key of hour %d", k.Hour), Algorithm: "AES-256-GCM",
			Count: 1, Version: int64(k.Vault),
			Use:    "encrypts the security codes of one hour's tokens",
			Rotate: "automatic, each hour; destroyed after two hours",
		}, time.Unix(k.Hour*int64(time.Hour/time.Second), 0), false)
	}
	return nil
}

// addOperators adds the operator tokens that are valid, by id.
func (d *Dir) addOperators(ctx context.Context, i *inventory) error {
	tokens, err := d.Store.Operators(ctx)
	if err != nil {
		return err
	}
	for _, o := range tokens {
		if !o.Valid(i.now) {
			continue
		}
		i.add(Secret{
			Name:      "operator token " + id.Format(id.Operator, o.ID),
			Algorithm: "256 random bits, stored as HMAC-SHA-256", Count: 1,
			Use:    "authenticates " + o.Name + " as " + o.Role,
			Rotate: "core operators create, then core operators revoke",
		}, o.CreatedAt, true)
	}
	return nil
}

// addAccounts adds the credentials of the acquirer accounts, by id. Open payments and refunds of a
// disabled account still use them. They never become overdue, because nothing removes them.
func (d *Dir) addAccounts(ctx context.Context, i *inventory) error {
	accounts, err := d.Store.AllAccounts(ctx)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		name, state := id.Format(id.Account, a.ID), ""
		if a.State != payment.AccountEnabled {
			state = ", disabled"
		}
		i.add(Secret{
			Name: "credentials of " + name, Algorithm: "the acquirer's, encrypted by the card vault", Count: 1,
			Version: int64(a.VaultKey), Use: "authenticate " + id.Format(id.Merchant, a.Merchant) + " at " + a.Kind + state,
			Rotate: "core accounts rotate " + name,
		}, a.RotatedAt, a.State == payment.AccountEnabled)
	}
	return nil
}

// SecretAges returns the ages of all secrets that operators rotate, by name.
func (d *Dir) SecretAges(ctx context.Context) (map[string]time.Duration, error) {
	all, err := d.Inventory(ctx, os.Getenv)
	if err != nil {
		return nil, err
	}
	out := map[string]time.Duration{}
	now := d.Clock.Now()
	for _, s := range all {
		if s.NextRotation != nil {
			out[s.Name] = max(0, now.Sub(*s.Since))
		}
	}
	return out, nil
}

// keysetChanged returns when the vault's keyset was last written.
func (d *Dir) keysetChanged(ctx context.Context) (time.Time, error) {
	if d.Database != nil {
		return d.Store.SecretChanged(ctx, keysetSecret)
	}
	info, err := os.Stat(filepath.Join(d.Data, KeysetFile))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// addMerchants adds the numbers of secrets that merchants hold. Merchants replace these themselves.
func (d *Dir) addMerchants(ctx context.Context, i *inventory) error {
	keys, oldestKey, err := d.Store.KeyCount(ctx, i.now)
	if err != nil {
		return err
	}
	endpoints, oldestEndpoint, err := d.Store.EndpointCount(ctx)
	if err != nil {
		return err
	}
	i.add(Secret{
		Name: "API keys", Algorithm: "256 random bits, stored as HMAC-SHA-256", Use: "authenticate merchants",
		Count: keys, Rotate: "the merchant, or core keys roll",
	}, oldestKey, false)
	i.add(Secret{
		Name: "webhook signing secrets", Algorithm: "HMAC-SHA-256", Use: "sign webhook deliveries", Count: endpoints,
		Rotate: "the merchant, by POST /v1/webhook_endpoints/{id}/roll_secret",
	}, oldestEndpoint, false)
	return nil
}

// given returns the secrets that an operator gives by the environment.
func given() []Secret {
	return []Secret{
		{
			Name: KEKVariable, Algorithm: "AES-256-GCM", Rotate: "core vault rewrap",
			Use: "encrypts the card vault's keys, and on PostgreSQL the root secret",
		},
		{
			Name: FilterTokenVariable, Algorithm: "bearer token", Rotate: "replace it at all three and restart",
			Use: "authenticates mle-filter and the edge at the operator's API",
		},
		{
			Name: FilterSecretVariable, Algorithm: "bearer token", Rotate: "replace it at both and restart",
			Use: "authenticates mle-filter",
		},
		{
			Name: "CAUSEWAY_HOP_SECRET", Algorithm: "bearer token", Rotate: "replace it at all programs and restart",
			Use: "authenticates the hop in front",
		},
		{
			Name: "CAUSEWAY_STORE", Algorithm: "password in a URL", Rotate: "write the new URL to its file",
			Use: "authenticates core at PostgreSQL",
		},
	}
}

// addEnvironment adds the secrets that are set. The age of a secret in a file is the file's.
// Otherwise it is unknown.
func addEnvironment(i *inventory, getenv func(string) string) {
	for _, s := range given() {
		path := getenv(s.Name + "_FILE")
		if path == "" && getenv(s.Name) == "" {
			continue
		}
		var since time.Time
		if info, err := os.Stat(path); path != "" && err == nil {
			since = info.ModTime()
		}
		s.Count = 1
		i.add(s, since, true)
	}
}
