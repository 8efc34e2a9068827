package keyring_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore/postgres"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestRestart checks that keys outlive the process and open only under the key-encryption key,
// which can be changed.
func TestRestart(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source := e.Source(t)
			c := clock.NewFake(birth)
			a := open(t, source, c)
			k := a.current(t, ec).Current
			if err := open(t, source, c).works(t, shop, k); err != nil {
				t.Error(err)
			}
			fail := func(kek []byte) {
				t.Helper()
				if _, err := keyring.Open(t.Context(), keyring.Config{Store: a.db, KEK: kek}); err == nil {
					t.Error("it opens under another key")
				}
			}
			fail(kek(2))
			fail(nil)
			for range 2 {
				if err := keyring.Rewrap(t.Context(), a.db, kek(1), kek(2)); err != nil {
					t.Fatal(err)
				}
			}
			fail(kek(1))
			if err := open(t, source, c, func(cfg *keyring.Config) { cfg.KEK = kek(2) }).works(t, shop, k); err != nil {
				t.Error(err)
			}
			if err := keyring.Rewrap(t.Context(), a.db, kek(3), kek(4)); err == nil {
				t.Error("the keyset was re-encrypted without its old key")
			}
		})
	}
}

// TestMovedKey checks that a private key opens only for its merchant, id and algorithm, and not
// after a change of its row.
func TestMovedKey(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"tenant": `UPDATE mle_keys SET tenant = '` + other + `'`, "algorithm": `UPDATE mle_keys SET alg = 'RSA-OAEP-256'`,
		"bytes": `UPDATE mle_keys SET sealed = CAST(sealed || x'00' AS BLOB)`, "id": `UPDATE mle_keys SET kid = 'another'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := storetest.SQLite(t)
			a, b := two(t, source)
			k := a.current(t, ec).Current
			MustExec(t, source, change)
			if name == "id" {
				k.Kid = "another"
			}
			tenant := map[bool]string{true: other, false: shop}[name == "tenant"]
			if private, _, err := b.Private(t.Context(), tenant, k.Kid); err == nil || errors.Is(err, engine.ErrNoKey) ||
				private != nil {
				t.Errorf("got %v, %v", private, err)
			}
		})
	}
}

// TestAtRest checks that the files contain no private key, and no trace of a wiped one.
func TestAtRest(t *testing.T) {
	t.Parallel()
	source := storetest.SQLite(t)
	f := open(t, source, clock.NewFake(birth))
	k := f.current(t, ec).Current
	f.must(t, f.Fill)
	stored, err := f.db.Key(t.Context(), k.Kid)
	if err != nil {
		t.Fatal(err)
	}
	f.current(t, rsa)
	if _, err := f.Current(t.Context(), other, ec); err != nil { // another row in the same file
		t.Fatal(err)
	}
	if _, err := f.Revoke(t.Context(), k.Kid); err != nil {
		t.Fatal(err)
	}
	MustExec(t, source, `PRAGMA wal_checkpoint(TRUNCATE)`)
	for _, path := range []string{source, source + "-wal", source + "-shm"} {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for what, text := range map[string][]byte{
			"a PKCS #8 key": {0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01},
			"an RSA PKCS #8 key": {
				0x02, 0x01, 0x00, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01,
			},
			// Only this part: the page may be overwritten around it.
			"what was wiped":       stored.Sealed[len(stored.Sealed)/2:][:16],
			"the key of the store": kek(1),
		} {
			if bytes.Contains(b, text) {
				t.Errorf("%s holds %s", path, what)
			}
		}
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %s", path, info.Mode())
		}
	}
}

// TestStoreAway checks that a filter without its store does not use a key, and that the error names
// the store.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			f := open(t, e.Source(t), clock.NewFake(birth))
			k := f.current(t, ec).Current
			if err := f.works(t, shop, k); err != nil {
				t.Fatal(err)
			}
			if err := f.db.Close(); err != nil {
				t.Fatal(err)
			}
			if err := f.works(t, shop, k); err == nil || errors.Is(err, engine.ErrNoKey) || !f.IsUnavailable(err) {
				t.Errorf("got %v, want that the store is unavailable", err)
			}
			if _, err := f.ResponseKey(t.Context(), shop, ""); err == nil || errors.Is(err, engine.ErrNoKey) ||
				!f.IsUnavailable(err) {
				t.Errorf("response key: got %v, want that the store is unavailable", err)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	f := open(t, storetest.SQLite(t), clock.NewFake(birth))
	for name, change := range map[string]func(*keyring.Config){
		"published longer than current": func(c *keyring.Config) { c.Schedule.PublishAhead = 90 * day },
		"shorter than the cache":        func(c *keyring.Config) { c.Schedule.KeepPrevious = time.Hour - 1 },
		"small keys":                    func(c *keyring.Config) { c.RSABits = 1024 },
		"negative":                      func(c *keyring.Config) { c.Spares = -1 },
	} {
		cfg := keyring.Config{Store: f.db, KEK: kek(1)}
		change(&cfg)
		if _, err := keyring.Open(t.Context(), cfg); err == nil {
			t.Errorf("%s: want a refusal", name)
		}
	}
}

// TestNewerSchema checks that an older build does not touch a store of a newer schema.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source := e.Source(t)
			open(t, source, clock.NewFake(birth))
			MustExec(t, source, `INSERT INTO mle_schema (version_id, is_applied) VALUES (99, true)`)
			_, err := keystore.Open(t.Context(), keystore.Config{Source: source, PostgreSQL: postgres.Open})
			if err == nil || !strings.Contains(err.Error(), "99") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func MustExec(tb testing.TB, source, statement string) {
	tb.Helper()
	driver := "sqlite"
	if strings.HasPrefix(source, "postgres") {
		driver = "pgx"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test's connection
	if _, err := db.ExecContext(tb.Context(), statement); err != nil {
		tb.Fatal(err)
	}
}
