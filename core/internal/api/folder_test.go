package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/auth"
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

// openings returns what opens a data folder in one way or another.
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
		"rewrap": func(ctx context.Context, dir string) error {
			return admin.RewrapVault(ctx, datadir.Config{Data: dir}, secret.String{})
		},
	}
}

// TestLostFilesSQLite: a lost file of a folder that needs it is not created again. The error names
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
				t.Errorf("%s: %s was created again", name, file)
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

// TestInventory: every secret and key is listed, with its age and next rotation, and none is shown.
func TestInventory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustToken(t, visa) // the vault has a key from the start on
	b.mustEndpoint(t)
	must(t, b.rotateRoot(t))
	login, err := b.core.Admin().CreateOperator(t.Context(), "alice", auth.RoleAuditor, time.Time{})
	must(t, err)
	old, err := b.core.Admin().CreateOperator(t.Context(), "bob", core.RoleOperator, b.clock.Now().Add(time.Second))
	must(t, err)
	b.clock.Advance(time.Second)
	operators, err := b.core.Admin().ListOperators(t.Context())
	must(t, err)
	alice := "operator token " + operators[0].ID
	codes := fmt.Sprintf("security code key of hour %d", birth.Unix()/3600)
	file := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte("hidden in a file"), 0o600))
	must(t, os.Chtimes(file, birth, birth))
	getenv := func(name string) string {
		return map[string]string{"CAUSEWAY_FILTER_TOKEN_FILE": file, "CAUSEWAY_FILTER_SECRET": "hidden in the environment"}[name]
	}
	list := func() map[string]datadir.Secret {
		t.Helper()
		all, err := b.core.Admin().Inventory(t.Context(), getenv)
		must(t, err)
		out := map[string]datadir.Secret{}
		for _, s := range all {
			if s.Algorithm == "" || s.Use == "" || s.Rotate == "" || s.Count < 1 {
				t.Errorf("incomplete: %+v", s)
			}
			out[s.Name] = s
		}
		text := fmt.Sprintf("%+v", all)
		if strings.Contains(text, "hidden") || strings.Contains(text, login.Reveal()) || strings.Contains(text, old.Reveal()) {
			t.Errorf("a secret is shown: %s", text)
		}
		return out
	}
	b.again(t)
	got := list()
	for name, rotates := range map[string]bool{
		"root secret 1": false, "root secret 2": true, "card-fingerprint key": false, "request-fingerprint key": false, "webhook-secret key": false,
		"audit-record key": false, "operator-token key": false, "vault-kek key": false, "card vault keys": true,
		"API keys": false, "webhook signing secrets": false,
		"CAUSEWAY_FILTER_TOKEN": true, "CAUSEWAY_FILTER_SECRET": false, // its age is unknown
		alice: true, codes: false,
	} {
		s, there := got[name]
		if !there || (s.NextRotation != nil) != rotates || s.Overdue || (s.Since == nil) != (name == "CAUSEWAY_FILTER_SECRET") {
			t.Errorf("%s: got %+v, listed %t", name, s, there)
		}
	}
	if len(got) != 15 { // the expired operator token is not there
		t.Errorf("got %d kinds, want 15", len(got))
	}
	if s := got[codes]; s.Version == 0 {
		t.Errorf("%s: got version %d, want that of the vault's key", codes, s.Version)
	}
	for name, reason := range map[string]string{"card-fingerprint key": "its fingerprint", "webhook-secret key": "merchants"} {
		if s := got[name]; !strings.HasPrefix(s.Rotate, "never: ") || !strings.Contains(s.Rotate, reason) {
			t.Errorf("%s: got %q, want never, with the reason", name, s.Rotate)
		}
	}
	b.clock.Advance(datadir.RotateEvery + 48*time.Hour)
	got = list()
	if s := got["root secret 2"]; !s.Overdue || *s.AgeDays < 366 {
		t.Errorf("a year later: got %+v", s)
	}
	b.wantSeries(t, `secret_age_seconds\{secret="root secret 2"\} 3\.1795141e\+07`,
		`secret_age_seconds\{secret="`+alice+`"\} 3\.1795201e\+07`)
	for _, absent := range []string{"root secret 1", "API keys", "card-fingerprint key"} { // no alert would end
		if strings.Contains(b.scrape(t), `causeway_secret_age_seconds{secret="`+absent) {
			t.Errorf("%s has a series, although an operator rotates nothing there", absent)
		}
	}
	if s := got[alice]; !s.Overdue {
		t.Errorf("a year later: got %+v", s)
	}
	if s := got["CAUSEWAY_FILTER_TOKEN"]; !s.Overdue {
		t.Errorf("a year later: got %+v", s)
	}
}
