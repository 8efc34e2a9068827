package keystore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore/postgres"
	"github.com/causeway-pay/causeway/shared/pgtest"
)

// TestSourcesThatAreNoFile: what is meant for a database is never the name of a file with keys of its own, and is not shown.
func TestSourcesThatAreNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, source := range []string{
		"host=127.0.0.1 dbname=mle password=hunter2", "dbname=mle", "postgre://shop:hunter2@127.0.0.1/mle", "Postgres://shop:hunter2@127.0.0.1/mle", "mysql://x/y",
	} {
		for _, source := range []string{source, filepath.Join(dir, "x") + " " + source} {
			db, err := keystore.Open(t.Context(), keystore.Config{Source: source, PostgreSQL: postgres.Open})
			if err == nil {
				t.Errorf("%s: opened, %v", source, db.Close())
			} else if !strings.Contains(err.Error(), "looks like a database") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: got %v", source, err)
			}
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("files were made: %v, %v", left, err)
	}
}

// TestURLsOfPostgreSQL: keys are not lost by a setting of the URL.
func TestURLsOfPostgreSQL(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	if db, err := keystore.Open(t.Context(), keystore.Config{Source: at + "&synchronous_commit=off", PostgreSQL: postgres.Open}); err == nil {
		t.Errorf("opened, %v", db.Close())
	} else if !strings.Contains(err.Error(), "synchronous_commit") {
		t.Errorf("got %v", err)
	}
	db, err := keystore.Open(t.Context(), keystore.Config{Source: at + "&client_encoding=LATIN1", PostgreSQL: postgres.Open})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
