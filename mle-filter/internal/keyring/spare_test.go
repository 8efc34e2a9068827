package keyring_test

import (
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestDamagedSpare checks that a spare key that does not open is removed and replaced, so that the
// merchant gets a key.
func TestDamagedSpare(t *testing.T) {
	t.Parallel()
	source := storetest.SQLite(t)
	f := open(t, source, clock.NewFake(birth))
	f.must(t, f.Fill)
	MustExec(t, source, `UPDATE mle_spares SET sealed = CAST(sealed || x'00' AS BLOB)`)
	if _, err := f.Current(t.Context(), shop, rsa); !errors.Is(err, keyring.ErrNotReady) {
		t.Errorf("with the damaged one: got %v, want ErrNotReady", err)
	}
	f.must(t, f.Fill)
	key := f.current(t, rsa).Current
	if err := f.works(t, shop, key); err != nil {
		t.Errorf("after the next were made: %v", err)
	}
}
