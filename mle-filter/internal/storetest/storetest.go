package storetest

import (
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest"
)

// Engine is one of the engines that a store can have.
type Engine struct {
	Name   string
	Source func(testing.TB) string // of an empty store
}

// Engines are all of them. A test runs on each in a subtest of that name: .ci/test leaves
// PostgreSQL out where there is no server to be had.
func Engines() []Engine { return []Engine{{"SQLite", SQLite}, {"PostgreSQL", pgtest.Schema}} }

// SQLite returns the source of an empty store.
func SQLite(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "mle.db")
}

// Main is TestMain for a package that uses this one: it stops the server in the end.
func Main(m *testing.M) { pgtest.Main(m) }
