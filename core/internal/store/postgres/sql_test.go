package postgres_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/causeway-pay/causeway/core/internal/store/postgres"
)

// TestStatements prepares every statement of the store on a migrated database.
func TestStatements(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if n, err := postgres.PrepareAll(t.Context(), b.raw); err != nil || n == 0 {
		t.Errorf("%d statements: %v", n, err)
	}
}

// TestRefuseBatch: the function fails with the code by which the engine recognizes a refused batch.
func TestRefuseBatch(t *testing.T) {
	t.Parallel()
	_, err := setup(t).raw.Exec(t.Context(), "SELECT CASE WHEN now() IS NULL THEN 1 ELSE refuse_batch('a reason') END")
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "CW001" || refused.Message != "a reason" || !postgres.Undone(refused) {
		t.Errorf("got %v", err)
	}
}
