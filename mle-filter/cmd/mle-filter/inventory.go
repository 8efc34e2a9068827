package main

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// inventory lists every secret, key and certificate that a filter with these settings uses.
func (m *Main) inventory(ctx context.Context, f keysFlags) error {
	c, err := f.settings()
	if err != nil {
		return err
	}
	configured, err := c.inventory()
	if err != nil {
		return err
	}
	return m.ring(ctx, f, func(ring *keyring.Keyring) error {
		all, err := ring.Inventory(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(m.Stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "WHAT\tALGORITHM\tID\tMERCHANT\tSINCE\tNEXT\tUSE")
		for _, s := range append(all, configured...) {
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
				s.Name, s.Alg, or(s.ID, "-"), or(s.Tenant, "-"), dayOr(s.Since, "not recorded"),
				dayOr(s.Next, "by an operator"), s.Use)
		}
		return table.Flush()
	})
}

func or(text, none string) string {
	if text == "" {
		return none
	}
	return text
}

func dayOr(t time.Time, none string) string {
	if t.IsZero() {
		return none
	}
	return t.Format("2006-01-02")
}

// inventory lists the configured secrets and certificates.
func (c *Config) inventory() (out []keyring.Secret, err error) {
	for _, s := range []struct {
		name, use, variable string
		setting             config.Secret
	}{
		{"key-encryption key, previous", "decrypts the keyset until it is rewrapped", oldVariable, c.OldKEK},
		{"filter secret", "proves to core that a request passed the filter", secretVariable, c.FilterSecret},
		{"filter token", "opens core's operators' API for events", tokenVariable, c.FilterToken},
	} {
		value, err := s.setting.ResolveOr(os.Getenv, s.variable)
		if err != nil {
			return nil, err
		}
		if !value.IsZero() {
			out = append(out, keyring.Secret{Name: s.name, Alg: "random", Use: s.use})
		}
	}
	hop, err := httpx.HopSecret(os.Getenv)
	if err != nil {
		return nil, err
	}
	if !hop.IsZero() {
		out = append(out, keyring.Secret{
			Name: "hop secret", Alg: "random", Use: "authenticates client addresses between programs",
		})
	}
	for _, file := range []struct{ path, use string }{
		{c.Certificate, "authenticates the filter to clients"}, {c.V1CA, "authenticates core to the filter"},
	} {
		if file.path == "" {
			continue
		}
		s, err := certificateIn(file.path)
		if err != nil {
			return nil, err
		}
		s.Use = file.use
		out = append(out, s)
	}
	return out, nil
}

// certificateIn returns the first certificate of a file.
func certificateIn(path string) (keyring.Secret, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return keyring.Secret{}, fmt.Errorf("certificate: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return keyring.Secret{}, errors.New(path + ": contains no certificate")
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return keyring.Secret{}, fmt.Errorf("%s: %w", path, err)
	}
	sum := sha256.Sum256(c.Raw)
	return keyring.Secret{
		Name: "certificate", Alg: c.PublicKeyAlgorithm.String(), ID: hex.EncodeToString(sum[:8]), Since: c.NotBefore,
		Next: c.NotAfter,
	}, nil
}
