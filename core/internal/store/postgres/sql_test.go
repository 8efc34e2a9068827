package postgres_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
)

// TestStatements prepares every statement of the store on a migrated database.
func TestStatements(t *testing.T) {
	t.Parallel()
	shapes, err := postgres.Shapes(t.Context(), setup(t).raw)
	if err != nil {
		t.Error(err)
	}
	coretest.WantShapes(t, shapes)
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
