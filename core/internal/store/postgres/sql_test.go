package postgres_test

import (
	"testing"

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
