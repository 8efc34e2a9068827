package sqlite_test

import "testing"

// TestStatements prepares every statement of the store on a migrated database.
func TestStatements(t *testing.T) {
	t.Parallel()
	if n, err := setup(t).engine.PrepareAll(); err != nil || n == 0 {
		t.Errorf("%d statements: %v", n, err)
	}
}
