package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestUnclearCommits: an intent whose commit failed without a word on whether it took place is handed
// to recovery at once, on either engine. One that certainly did not take place is not.
func TestUnclearCommits(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"SQLite cannot write":    {fmt.Errorf("commit: %w", sqliteFault(t)), true},
		"PostgreSQL is away":     {fmt.Errorf("commit: %w", store.ErrUnavailable), true},
		"a full queue":           {store.ErrBusy, false},
		"the key of another one": {engine.ErrKeyReused, false},
		"no failure":             {nil, false},
	} {
		if got := s.Engine.Abandon(c.err, name); got != c.want {
			t.Errorf("%s: handed over %t, want %t", name, got, c.want)
		}
	}
}

// sqliteFault returns what SQLite says of a database that cannot be written.
func sqliteFault(t *testing.T) error {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(t.TempDir(), "none", "x.db")))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(context.WithoutCancel(t.Context()), "CREATE TABLE x (y INTEGER)")
	if err == nil || errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("got %v, want an error of SQLite's own", err)
	}
	return err
}
