package keyring_test

import (
	"database/sql"
	"testing"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestKeysetDroppedMeanwhilePostgreSQL changes the keyset while a filter reads. After it has read
// the private keys, they are encrypted again and the old key is dropped. The filter must read them
// again.
func TestKeysetDroppedMeanwhilePostgreSQL(t *testing.T) {
	t.Parallel()
	source, c := pgtest.Schema(t), clock.NewFake(birth)
	reads, operator := open(t, source, c), open(t, source, c)
	key := operator.current(t, ec).Current
	db, err := sql.Open("pgx", source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test's connection
	lock, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.ExecContext(t.Context(), "LOCK TABLE mle_response_keys"); err != nil { // read after the private keys
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- reads.Opens(t.Context(), shop, key.Kid) }()
	programtest.WaitFor(t, "the read waits for the table", func() bool {
		const query = "SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND relation = 'mle_response_keys'::regclass"
		var waiting int
		if err := db.QueryRowContext(t.Context(), query).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		return waiting > 0
	})
	if older, err := operator.rotateKeyset(t.Context(), true, quiet); err != nil || older != 0 {
		t.Fatalf("got %d older keys, %v", older, err)
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
