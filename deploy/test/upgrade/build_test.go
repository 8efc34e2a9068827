//go:build unix

package upgrade_test

import (
	"os"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// nextVersion is the version of the newer programs, backVersion of the core that replaces them.
const nextVersion, backVersion = "v9.9.9-next", "v9.9.9-back"

// nextSteps are the migrations of the newer core, one of each kind in migration/README.md, on the
// tables that grow.
var nextSteps = map[string]string{
	"90001_next_column.sql": "-- +goose Up\nALTER TABLE transactions ADD COLUMN next_mark BIGINT NOT NULL DEFAULT 7;\n",
	"90002_next_events.sql": "-- +goose Up\nALTER TABLE events ADD COLUMN next_note TEXT;\n",
	"90003_next_table.sql":  "-- +goose Up\nCREATE TABLE next_things (id BIGINT PRIMARY KEY, name TEXT NOT NULL);\n",
	"90004_next_bound.sql": "-- +goose Up\nALTER TABLE transactions ADD CONSTRAINT next_bound CHECK (next_mark >= 0) " +
		"NOT VALID;\n",
	"90005_next_bounded.sql": "-- +goose Up\nALTER TABLE transactions VALIDATE CONSTRAINT next_bound;\n",
	"90006_next_index.sql": "-- +goose NO TRANSACTION\n-- +goose Up\nSET lock_timeout = 0;\nDROP INDEX CONCURRENTLY IF " +
		"EXISTS transactions_by_next;\n" +
		"CREATE INDEX CONCURRENTLY transactions_by_next ON transactions (next_mark, id);\nRESET lock_timeout;\n",
}

// buildNext builds the programs of the next release from this tree, with another version and
// further migrations overlaid.
func buildNext(t *testing.T) string {
	t.Helper()
	return build(t, "next", nextVersion, "core", "mle-filter", "compat-proxy")
}

// buildBack builds the core for the way back: the code of this tree, with the schema of the next
// release. The core of this tree refuses that schema.
func buildBack(t *testing.T) string {
	t.Helper()
	return build(t, "back", backVersion, "core")
}

func build(t *testing.T, name, version string, programs ...string) string {
	t.Helper()
	added := map[string]string{}
	for name, text := range nextSteps {
		added["core/internal/store/postgres/migration/"+name] = text
	}
	folder, err := programtest.Variant{Name: name, Programs: programs, Added: added, Version: version}.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func mustWrite(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
