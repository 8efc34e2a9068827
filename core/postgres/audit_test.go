package postgres_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest"
)

// TestAuditPostgreSQL checks that many concurrent processes write one chain of records without a
// gap. Then it falsifies the records. The triggers refuse that, and without the triggers verify
// finds it.
func TestAuditPostgreSQL(t *testing.T) {
	t.Parallel()
	const processes, each = 6, 5
	store := pgtest.Schema(t)
	c := newCluster(t, store)
	var all sync.WaitGroup
	for range processes {
		all.Go(func() { // each has its own merchant: the processes share the chain's row only
			merchant := c.run(t, "merchants", "create", "Other")
			for i := range each {
				c.run(t, "merchants", "update", merchant, "--unlinked-refunds", []string{"on", "off"}[i%2])
			}
		})
	}
	all.Wait()
	db := inspect(t, store)
	n := number(t, db, "SELECT COUNT(*) FROM audit_records")
	if want := int64(2 + processes*(each+1)); n != want { // a merchant and a key before
		t.Errorf("got %d records, want %d", n, want)
	}
	if last := number(t, db, "SELECT MAX(sequence) FROM audit_records"); last != n {
		t.Errorf("the last of %d records has sequence %d", n, last)
	}
	head := c.run(t, "audit", "verify")
	for _, statement := range []string{
		"UPDATE audit_records SET actor = 'x'", "DELETE FROM audit_records WHERE sequence = 2", "TRUNCATE audit_records",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("%s: done", statement)
		}
	}
	for _, statement := range []string{
		"DROP TRIGGER audit_records_kept ON audit_records",
		"DELETE FROM audit_records WHERE sequence = (SELECT MAX(sequence) FROM audit_records)",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	c.run(t, "audit", "verify")
	if out := c.refused(t, "audit", "verify", "--head", head); !strings.Contains(out, "tampered") {
		t.Errorf("the last record is gone: got %s", out)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE audit_records SET state_after = '' WHERE sequence = 4"); err != nil {
		t.Fatal(err)
	}
	if out := c.refused(t, "audit", "verify"); !strings.Contains(out, "record 4") {
		t.Errorf("a changed record: got %s", out)
	}
}
