package storetest

import (
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest"
)

// Engine is a database engine of the store.
type Engine struct {
	Name   string
	Source func(testing.TB) string // of an empty store
}

// Engines returns all engines. A test runs on each in a subtest of that name. .ci/test omits
// PostgreSQL if no server is available.
func Engines() []Engine { return []Engine{{"SQLite", SQLite}, {"PostgreSQL", pgtest.Schema}} }

// SQLite returns the source of an empty store.
func SQLite(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "mle.db")
}

// Main is TestMain for a package that uses this one: it stops the server at the end.
func Main(m *testing.M) { pgtest.Main(m) }
