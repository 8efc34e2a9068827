package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore/postgres"
	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/secret"
)

// settings returns the settings of the filter that owns the keys.
func (f *keysFlags) settings() (Config, error) {
	c := defaults()
	if f.config != "" {
		if err := config.Load(f.config, &c); err != nil {
			return c, fmt.Errorf("config: %w", err)
		}
	}
	if f.keys != "" {
		c.Keys = config.Literal(secret.New(f.keys))
	}
	return c, nil
}

// ring runs fn on the keys of a filter.
func (m *Main) ring(ctx context.Context, f keysFlags, fn func(*keyring.Keyring) error) (err error) {
	c, err := f.settings()
	if err != nil {
		return err
	}
	kek, err := readKEK(c.KEK, kekVariable)
	if err != nil {
		return err
	}
	keys, err := c.source()
	if err != nil {
		return err
	}
	db, err := openStore(ctx, keys)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ring, err := keyring.Open(ctx, keyring.Config{
		Store: db, KEK: kek, Existing: true, RSABits: c.RSABits, Spares: c.SpareKeys,
		Log: slog.New(slog.NewTextHandler(m.Stderr, nil)),
		Schedule: mlefilter.Schedule{
			RotateEvery: c.Rotation.Every, PublishAhead: c.Rotation.PublishAhead,
			KeepPrevious: c.Rotation.KeepPrevious,
		},
	})
	if err != nil {
		return err
	}
	return fn(ring)
}

// openStore opens the key store of a filter. It creates none for a mistyped path.
func openStore(ctx context.Context, source string) (*keystore.DB, error) {
	db, err := keystore.Open(ctx, keystore.Config{Source: source, PostgreSQL: postgres.Open, Existing: true})
	switch {
	case errors.Is(err, keystore.ErrNoStore) && strings.Contains(source, "://"): // the source can contain a password
		return nil, errors.New("--keys: no key store in that database: start mle-filter once to create it")
	case errors.Is(err, keystore.ErrNoStore):
		return nil, fmt.Errorf("--keys: no key store in %s: start mle-filter once to create it", source)
	case err != nil:
		return nil, fmt.Errorf("--keys: %w", err)
	}
	return db, nil
}

// readKEK reads a key-encryption key.
func readKEK(s config.Secret, variable string) ([]byte, error) {
	text, err := s.ResolveOr(os.Getenv, variable)
	if err != nil {
		return nil, err
	}
	if text.IsZero() {
		return nil, fmt.Errorf("%s is not set: set the key-encryption key of the filters on this store", variable)
	}
	kek, err := base64.StdEncoding.DecodeString(text.Reveal())
	if err != nil {
		return nil, fmt.Errorf("%s: want 32 bytes in base64, as from openssl rand -base64 32", variable)
	}
	return kek, nil
}

// keysOf lists the keys of a merchant, which must have some, or of all merchants for "".
func keysOf(ctx context.Context, ring *keyring.Keyring, merchant string) ([]keyring.Key, error) {
	keys, err := ring.List(ctx, merchant)
	if err == nil && merchant != "" && len(keys) == 0 {
		err = fmt.Errorf("--merchant: %s has no keys: its first request for a key makes one", merchant)
	}
	return keys, err
}

func (m *Main) listKeys(ctx context.Context, f keysFlags) error {
	return m.ring(ctx, f, func(ring *keyring.Keyring) error {
		keys, err := keysOf(ctx, ring, f.merchant)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(m.Stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "MERCHANT\tKID\tALG\tSTATE\tSINCE\tUNTIL")
		for _, k := range keys {
			const day = "2006-01-02"
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", k.Tenant, k.Kid, k.Alg, k.State, k.NotBefore.Format(day),
				k.ExpiresAt.Format(day))
		}
		return table.Flush()
	})
}

func (m *Main) rotateKey(ctx context.Context, f keysFlags) error {
	if f.merchant == "" {
		return m.misused("keys rotate: --merchant is required: mer_…/test or mer_…/live")
	}
	return m.ring(ctx, f, func(ring *keyring.Keyring) error {
		keys, err := keysOf(ctx, ring, f.merchant)
		if err != nil {
			return err
		}
		alg := engine.Alg(f.alg)
		if !slices.ContainsFunc(keys, func(k keyring.Key) bool { return k.Alg == alg }) {
			return fmt.Errorf("--alg: %s has no key for %s: its first request for one makes it", f.merchant, alg)
		}
		if alg == engine.RSAOAEP256 {
			if err := ring.Fill(ctx); err != nil { // a filter makes them in advance; here the operator waits
				return err
			}
		}
		var done keyring.Rotated
		_, err = ring.Rotate(ctx, keyring.Rotate{Tenant: f.merchant, Alg: alg}, func(r keyring.Rotated) keyring.Response {
			done = r
			return keyring.Response{}
		})
		if err == nil {
			m.showRotated(done)
		}
		return err
	})
}

func (m *Main) showRotated(r keyring.Rotated) {
	_, _ = fmt.Fprintf(m.Stdout, "current  %s\n", r.Current.Kid)
	if r.Previous != nil {
		_, _ = fmt.Fprintf(m.Stdout, "previous %s until %s\n", r.Previous.Kid,
			r.Previous.ExpiresAt.Format("2006-01-02 15:04:05Z07:00"))
	}
}

func (m *Main) retireKey(ctx context.Context, f keysFlags) error {
	return m.ring(ctx, f, func(ring *keyring.Keyring) error {
		_, err := ring.Retire(ctx, "", f.kid)
		if errors.Is(err, keyring.ErrState) {
			return fmt.Errorf("%s is a current or next key: rotate first and then retire it, or revoke it", f.kid)
		}
		return m.ended(f.kid, err)
	})
}

func (m *Main) revokeKey(ctx context.Context, f keysFlags) error {
	return m.ring(ctx, f, func(ring *keyring.Keyring) error {
		done, err := ring.Revoke(ctx, f.kid)
		if err := m.ended(f.kid, err); err != nil {
			return err
		}
		if done.Current.Kid != f.kid {
			_, _ = fmt.Fprintf(m.Stdout, "current %s\n", done.Current.Kid)
		}
		return nil
	})
}

// ended reports the end of a key.
func (m *Main) ended(kid string, err error) error {
	if errors.Is(err, engine.ErrNoKey) {
		return fmt.Errorf("key %s does not exist: see mle-filter keys list", kid)
	}
	if err == nil {
		_, _ = fmt.Fprintf(m.Stdout, "ended %s\n", kid)
	}
	return err
}
