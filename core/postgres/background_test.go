package postgres_test

import (
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/causeway-pay/causeway/core/postgres"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestBackgroundConnectionsPostgreSQL: background work has its own connections.
func TestBackgroundConnectionsPostgreSQL(t *testing.T) {
	t.Parallel()
	database, err := postgres.Database(secret.New(pgtest.Schema(t) + "&patience=20s"))
	if err != nil {
		t.Fatal(err)
	}
	c := mustOpen(t, database, filepath.Join(t.TempDir(), "simulator.journal"))
	used := regexp.MustCompile(`causeway_store_connections\{pool="background_write",state="(idle|in_use)"\} [1-9]`)
	programtest.WaitFor(t, "a connection for background work is used", func() bool {
		w := httptest.NewRecorder()
		c.Operations().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
		return used.Match(w.Body.Bytes())
	})
}
