package store_test

import (
	"os"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestMigrateKeysInPlace brings a database of the first version, with keys in it, to this build's.
func TestMigrateKeysInPlace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.db.Close(); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile("migration/sqlite/00001_first_light.sql")
	if err != nil {
		t.Fatal(err)
	}
	b.path += ".old"
	old := b.MustWrite(t)
	for _, statement := range append(strings.Split(strings.TrimPrefix(string(first), "-- +goose Up"), ";\n"),
		`CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL,
			tstamp TIMESTAMP DEFAULT (datetime('now')))`,
		`INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (1, 1)`,
		`INSERT INTO merchants VALUES (7, 'shop', 1)`,
		`INSERT INTO api_keys VALUES (9, 7, 0, 'secret', x'68617368', 'wxyz', 'keys:write transactions:read', 1700000000000, NULL)`,
		`INSERT INTO api_keys VALUES (10, 7, 0, 'secret', x'6f6c64', 'abcd', '', 1700000000000, 1700000000001)`,
	) {
		if _, err := old.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	b.db = b.MustOpen(t)
	k, err := b.db.KeyByHash(t.Context(), []byte("hash"))
	if err != nil {
		t.Fatal(err)
	}
	if k.Status(b.clock.Now()) != store.KeyActive || k.Name != "" || len(k.Scopes) != 2 || !k.LastUsedAt.IsZero() {
		t.Errorf("got %+v", k)
	}
	if k, err := b.db.KeyByHash(t.Context(), []byte("old")); err != nil || k.Status(b.clock.Now()) != store.KeyExpired {
		t.Errorf("the expired one: got %+v, %v", k, err)
	}
	next := &store.Key{ID: 11, Tenant: tenant, Kind: "secret", Scopes: k.Scopes}
	if err := b.db.Update(t.Context(), func(tx *store.Tx) error { return tx.RollKey(9, tx.Now, next, []byte("next")) }); err != nil {
		t.Errorf("roll: %v", err)
	}
}
