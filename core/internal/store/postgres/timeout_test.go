package postgres_test

import (
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestEndedInATransactionPostgreSQL: the server ends a session in its transaction, as it does with
// all idle sessions when its clock jumps ahead. The command is rolled back, and returns
// ErrUnavailable: the client may retry.
func TestEndedInATransactionPostgreSQL(t *testing.T) {
	t.Parallel()
	source := pgtest.Schema(t)
	if err := postgres.Migrate(t.Context(), secret.New(source)); err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Open(t.Context(), source+patient, clock.System())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // the test has checked the result
	raw := mustDial(t, source)
	for _, statement := range []string{
		`CREATE FUNCTION ended() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			RAISE EXCEPTION 'terminating connection due to idle-in-transaction timeout' USING ERRCODE = '25P03'; END $$`,
		`CREATE TRIGGER ended BEFORE INSERT ON merchants FOR EACH ROW EXECUTE FUNCTION ended()`,
	} {
		if _, err := raw.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	err = db.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(1, "shop") })
	if !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, store.ErrUnavailable)
	}
}
