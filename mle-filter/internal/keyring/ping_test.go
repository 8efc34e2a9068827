package keyring_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestPing checks that the health check fails if a keyring cannot use the stored keyset. It
// succeeds while the keys in memory are the stored ones, under any key-encryption key.
func TestPing(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			source := e.Source(t)
			f := open(t, source, clock.NewFake(birth))
			wantPing(t, "at first", f, true)
			if _, err := f.rotateKeyset(t.Context(), true, quiet); err != nil {
				t.Fatal(err)
			}
			wantPing(t, "after a rotation of the keyset", f, true)
			if err := keyring.Rewrap(t.Context(), f.db, kek(1), kek(2)); err != nil {
				t.Fatal(err)
			}
			wantPing(t, "after a rewrap", f, true)
			r := keyring.KeysetRotation{Store: f.db, KEK: kek(2), Progress: quiet, Complain: func(string) {}}
			if _, err := r.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantPing(t, "after a rotation under the new key-encryption key", f, false)
			renewed := open(t, source, f.clock, withKEK(2, 0))
			wantPing(t, "with that key", renewed, true)
			forgetKeyset(t, source)
			wantPing(t, "without the keyset", renewed, false)
		})
	}
}

func wantPing(t *testing.T, when string, f filter, want bool) {
	t.Helper()
	if err := f.Ping(t.Context()); (err == nil) != want {
		t.Errorf("ping %s: got %v, want success: %v", when, err, want)
	}
}

// forgetKeyset deletes the keyset of a store.
func forgetKeyset(t *testing.T, source string) {
	t.Helper()
	driver := "sqlite"
	if strings.HasPrefix(source, "postgres") {
		driver = "pgx"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test's connection
	if _, err := db.ExecContext(t.Context(), "DELETE FROM mle_keyset"); err != nil {
		t.Fatal(err)
	}
}
