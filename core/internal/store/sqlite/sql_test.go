package sqlite_test

import (
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// TestStatements prepares every statement of the store on a migrated database.
func TestStatements(t *testing.T) {
	t.Parallel()
	shapes, err := setup(t).engine.Shapes()
	if err != nil {
		t.Error(err)
	}
	coretest.WantShapes(t, shapes)
}
