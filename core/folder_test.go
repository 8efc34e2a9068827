package core_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/datadir"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// MustCopy copies a data folder without some of its files. Nothing may be writing to it.
func MustCopy(t *testing.T, dir string, without ...string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, name := range without {
		if err := os.Remove(filepath.Join(to, name)); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// openings are what opens a data folder in one way or another.
func openings() map[string]func(context.Context, string) error {
	with := func(fn func(context.Context, *admin.Admin) error) func(context.Context, string) error {
		return func(ctx context.Context, dir string) error {
			a, err := admin.Open(ctx, datadir.Config{Data: dir})
			if err != nil {
				return err
			}
			return errors.Join(fn(ctx, a), a.Close())
		}
	}
	return map[string]func(context.Context, string) error{
		"serve": func(ctx context.Context, dir string) error {
			c, err := core.Open(ctx, core.Config{Data: dir})
			if err != nil {
				return err
			}
			return c.Close()
		},
		"list":   with(func(ctx context.Context, a *admin.Admin) error { _, err := a.ListMerchants(ctx); return err }),
		"rotate": with(func(ctx context.Context, a *admin.Admin) error { return a.RotateVault(ctx, false, &bytes.Buffer{}) }),
		"rewrap": with(func(ctx context.Context, a *admin.Admin) error { return a.RewrapVault(ctx, secret.String{}) }),
	}
}

// TestLostFilesSQLite: a lost file of a folder that needs it is not created anew. The error names
// it, and nothing is changed. Once the file is back, all works as before.
func TestLostFilesSQLite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	method := b.MustAttach(t, b.MustCustomer(t, "{}").ID, visa).ID
	b.stop(t)
	for name, c := range map[string]struct {
		lost    []string
		refused []string // the openings that need it; all by default
	}{
		"keyset":                          {lost: []string{"vault.keyset"}, refused: []string{"serve", "rotate", "rewrap"}},
		"database":                        {lost: []string{"causeway.db"}},
		"root secret":                     {lost: []string{"root.secret"}},
		"root secret and keyset":          {lost: []string{"root.secret", "vault.keyset"}},
		"database, and the secret of old": {lost: []string{"causeway.db", "root.secret"}},
	} {
		dir := MustCopy(t, b.dir, c.lost...)
		opens := openings()
		if c.refused == nil {
			c.refused = []string{"serve", "list", "rotate", "rewrap"}
		}
		for _, opening := range c.refused {
			err := opens[opening](t.Context(), dir)
			if !errors.Is(err, datadir.ErrLost) || !strings.Contains(err.Error(), c.lost[0]) || !strings.Contains(err.Error(), dir) ||
				!strings.Contains(err.Error(), "backup") {
				t.Errorf("%s, %s: got %v, want it to name what is gone, and where to take it from", name, opening, err)
			}
		}
		for _, file := range c.lost {
			if _, err := os.Stat(filepath.Join(dir, file)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %s was made anew", name, file)
			}
		}
	}
	b.start(t) // for the bundle's own folder has them all
	MustDecode[v1.Transaction](t, b.pay(t, method, ""), 201)
}

// TestLostKeysetIsNotBackedUpSQLite: a backup that no card could be read from is none.
func TestLostKeysetIsNotBackedUpSQLite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustToken(t, visa)
	b.stop(t)
	dir, to := MustCopy(t, b.dir, "vault.keyset"), filepath.Join(t.TempDir(), "backup")
	if err := admin.Backup(t.Context(), datadir.Config{Data: dir}, to); !errors.Is(err, datadir.ErrLost) {
		t.Errorf("got %v, want %v", err, datadir.ErrLost)
	}
	if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a backup was made: %v", err)
	}
	b.start(t)
}

// TestFirstStartThatDied: a first start died after it had created some files. The next start
// creates the others.
func TestFirstStartThatDied(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	if err := openings()["serve"](t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	for name, left := range map[string]string{
		"before the keyset":      MustCopy(t, whole, "vault.keyset"),
		"before the root secret": MustCopy(t, whole, "vault.keyset", "root.secret"),
		"before the database":    MustCopy(t, whole, "vault.keyset", "root.secret", "causeway.db"),
		"before its schema": func() string {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "causeway.db"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return dir
		}(),
	} {
		for range 2 {
			if err := openings()["serve"](t.Context(), left); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestKeysetOfAMerchantWithoutCardsSQLite: a merchant that is made before the first start needs no
// keyset yet.
func TestKeysetOfAMerchantWithoutCardsSQLite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.stop(t)
	if err := os.Remove(filepath.Join(b.dir, "vault.keyset")); err != nil {
		t.Fatal(err)
	}
	b.start(t)
	MustDecode[v1.Transaction](t, b.pay(t, b.MustToken(t, visa).Value.Reveal(), ""), 201)
}
