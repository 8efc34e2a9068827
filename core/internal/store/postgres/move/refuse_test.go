package move_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres/move"
	"github.com/causeway-pay/causeway/shared/secret"
)

// wantRefused opens the move, which must not.
func (b *bundle) wantRefused(t *testing.T, cfg move.Config, want string) {
	t.Helper()
	m, err := move.Open(t.Context(), cfg)
	if err == nil {
		t.Fatalf("it was not refused: %v", m.Close())
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q in it", err, want)
	}
}

// TestForeignTargets: what holds anything, or is another store's, is left as it is.
func TestForeignTargets(t *testing.T) {
	t.Parallel()
	t.Run("in use", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		db, err := b.openTarget(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(1, "somebody's") }); err != nil {
			t.Fatal(err)
		}
		b.wantRefused(t, b.config(), "rows in merchants")
		if err := db.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(2, "and served on") }); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("another store's", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.ahead(t)
		cfg := b.config()
		cfg.Identity = "two"
		b.wantRefused(t, cfg, move.ErrForeign.Error())
	})
	t.Run("of another program", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		must(t, b.target, `CREATE TABLE merchants (id BIGINT)`)
		b.wantRefused(t, b.config(), "merchants")
	})
	t.Run("opened before", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		db, err := b.openTarget(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b.ahead(t)
		if err := db.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(1, "late") }); err == nil {
			t.Error("a service that had it open wrote into it")
		}
		b.finish(t)
		if err := db.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMerchant(1, "in time") }); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("being moved to", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.with(t, func(*move.Move) ([]store.MovedTable, error) {
			b.wantRefused(t, b.config(), "another migrate-data")
			return nil, nil
		})
	})
}

// TestSchemasThatDiffer: rows of another version mean something else.
func TestSchemasThatDiffer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, target, want string }{
		"older source":     {source: `DELETE FROM goose_db_version WHERE version_id = (SELECT MAX(version_id) FROM goose_db_version)`, want: "the source is of schema version"},
		"newer source":     {source: `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)`, want: "version 99999"},
		"older target":     {target: `DELETE FROM core_schema WHERE version_id = (SELECT max(version_id) FROM core_schema)`, want: "the target is of schema version"},
		"newer target":     {target: `INSERT INTO core_schema (version_id, is_applied) VALUES (99999, true)`, want: "version 99999"},
		"column at source": {source: `ALTER TABLE merchants ADD COLUMN more INTEGER`, want: "no merchants.more"},
		"column at target": {target: `ALTER TABLE merchants ADD COLUMN more BIGINT`, want: "merchants has"},
		"type":             {target: `ALTER TABLE merchants ALTER COLUMN name TYPE BYTEA USING ''::bytea`, want: "merchants.name"},
		"table":            {source: `CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT`, want: "no more.id"},
		"no key":           {source: `CREATE TABLE more (id INTEGER) STRICT`, want: "no primary key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.ahead(t)
			if c.source != "" {
				must(t, b.source, c.source)
			}
			if c.target != "" {
				must(t, b.target, c.target)
			}
			b.wantRefused(t, b.config(), c.want)
		})
	}
}

// TestTargetThatCannotBeReached shows nothing of the URL that could be a secret.
func TestTargetThatCannotBeReached(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, url := range []string{"postgres://shop:hunter2hunter2@127.0.0.1:1/x", "postgres://shop:hunter2hunter2@%zz", "hunter2hunter2"} {
		cfg := b.config()
		cfg.Target = secret.New(url)
		m, err := move.Open(t.Context(), cfg)
		if err == nil {
			t.Fatalf("opened: %v", m.Close())
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}

// TestOneByteAtTheTarget changes the target behind the last pass, so that only the comparison of the whole can see it.
func TestOneByteAtTheTarget(t *testing.T) {
	t.Parallel()
	for table, change := range map[string]string{
		"transactions":      `UPDATE transactions SET details = overlay(details placing 'X' from 3) WHERE id = 1600`,
		"captures":          `UPDATE captures SET amount = amount + 1 WHERE id = 1601`,
		"idempotency_keys":  `UPDATE idempotency_keys SET answer = set_byte(answer, 0, 0) WHERE key = 'k100'`,
		"api_keys":          `UPDATE api_keys SET revoked_at = 0 WHERE id = 9`, // was NULL
		"transaction_terms": `DELETE FROM transaction_terms WHERE transaction_id = 1600`,
		"test_clocks":       `INSERT INTO test_clocks VALUES (8, 0)`,
		"merchants":         `UPDATE merchants SET (id, name) = (SELECT m.id, o.name FROM merchants o WHERE o.id <> m.id) FROM merchants m WHERE m.id = merchants.id`,
	} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.fill(t)
			b.ahead(t)
			must(t, b.target, `SET causeway.moving = 'yes'`)
			cfg, harmed := b.config(), false
			cfg.Tell = func(format string, args ...any) {
				if strings.HasPrefix(fmt.Sprintf(format, args...), b.last(t)+": ") {
					must(t, b.target, change)
					harmed = true
				}
			}
			m, err := move.Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Finish(t.Context(), store.Luggage{})
			if !harmed || err == nil || !strings.Contains(err.Error(), table+" differs") {
				t.Errorf("got %v, want that %s differs", err, table)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			b.wantOpens(t, nil, store.ErrArriving)
			b.finish(t)
			b.wantSame(t)
		})
	}
}

// last is the table that a pass ends with.
func (b *bundle) last(t *testing.T) string {
	t.Helper()
	moved := b.lastPass
	return moved[len(moved)-1].Name
}

// TestCutOffBetweenTheMarks: when only the source is marked neither can be served, and running it again ends the move.
func TestCutOffBetweenTheMarks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(t)
	m, err := move.Open(t.Context(), b.config())
	if err != nil {
		t.Fatal(err)
	}
	must(t, b.target, `SET causeway.moving = 'yes'`, `CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$`,
		`CREATE TRIGGER no BEFORE UPDATE ON moves EXECUTE FUNCTION no()`)
	if _, err := m.Finish(t.Context(), store.Luggage{}); err == nil {
		t.Error("it ended")
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	b.wantOpens(t, store.ErrMoved, store.ErrArriving)
	must(t, b.target, `DROP TRIGGER no ON moves`)
	b.finish(t)
	b.wantSame(t)
	b.wantOpens(t, store.ErrMoved, nil)
}

// TestUndo takes a move back, and makes it again.
func TestUndo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(t)
	b.finish(t)
	if err := move.Undo(t.Context(), b.config(), false); err != nil {
		t.Fatal(err)
	}
	b.wantOpens(t, nil, store.ErrArriving)
	must(t, b.source, `UPDATE merchants SET name = 'served again'`)
	b.finish(t)
	b.wantSame(t)
	b.wantOpens(t, store.ErrMoved, nil)
}

// TestUndoOfWhatWasServed is refused, and leaves the target as it was; forced, what the target took is lost.
func TestUndoOfWhatWasServed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(t)
	b.finish(t)
	must(t, b.target, `UPDATE merchants SET name = 'the target has served' WHERE id = 7`)
	if err := move.Undo(t.Context(), b.config(), false); !errors.Is(err, move.ErrTaken) || !strings.Contains(err.Error(), "merchants differs") {
		t.Errorf("got %v, want %v", err, move.ErrTaken)
	}
	b.wantOpens(t, store.ErrMoved, nil)
	must(t, b.target, `UPDATE merchants SET name = 'and serves' WHERE id = 7`)
	if err := move.Undo(t.Context(), b.config(), true); err != nil {
		t.Error(err)
	}
	b.wantOpens(t, nil, store.ErrArriving)
}

// TestUndoCutOff: a target that is being given up takes no rows before that has ended.
func TestUndoCutOff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(t)
	b.finish(t)
	must(t, b.target, `UPDATE moves SET state = 'undoing'`, `UPDATE merchants SET name = 'the target has served' WHERE id = 7`)
	b.wantRefused(t, b.config(), "--undo again")
	b.wantOpens(t, store.ErrMoved, store.ErrArriving)
	if err := move.Undo(t.Context(), b.config(), false); !errors.Is(err, move.ErrTaken) {
		t.Errorf("got %v, want %v", err, move.ErrTaken)
	}
	b.wantOpens(t, store.ErrMoved, nil)
}

// TestUndoWithoutATarget frees a source whose target is lost.
func TestUndoWithoutATarget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(t)
	b.finish(t)
	if err := move.UndoSource(t.Context(), b.path); err != nil {
		t.Fatal(err)
	}
	b.wantOpens(t, nil, nil)
	must(t, b.source, `UPDATE merchants SET name = 'served again'`)
	b.wantRefused(t, b.config(), "take an empty one")
}
