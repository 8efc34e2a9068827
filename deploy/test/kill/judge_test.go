//go:build unix

package kill_test

import (
	"context"
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/crash"
	"github.com/causeway-pay/causeway/deploy/test/fleet"
	"github.com/causeway-pay/causeway/shared/pgtest"
)

// TestJudgePostgreSQL checks that the judge reports each loss, duplicate and unfinished operation
// in the store of several cores.
func TestJudgePostgreSQL(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	f := fleet.Start(t, fleet.Config{
		Cores: 2, Store: store, CoreArgs: []string{"--webhooks-allow-private", "--simulator", crash.QuickCatalogue(t)},
	})
	keys := crash.Keys{Secret: f.Secret, Publishable: f.Publishable}
	h, err := crash.New(1, keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	h.Attach(f.Cores.URLs()...)
	if err := h.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.Storm(t.Context(), 0, 400, func(int) {}, func(int) {})
	if err := h.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	judged := func(ctx context.Context) []string {
		t.Helper()
		faults, err := h.JudgeAll(ctx, store)
		if err != nil {
			t.Fatal(err)
		}
		more, err := crash.Agree(ctx, store, f.Cores.URL(), keys)
		if err != nil {
			t.Fatal(err)
		}
		return append(faults, more...)
	}
	if faults := judged(t.Context()); len(faults) > 0 {
		t.Fatalf("before anything is wrong: %v", faults)
	}
	db, err := sql.Open("pgx", store)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // the test only reads
	for _, c := range []struct{ table, where, harm, want string }{
		{"refunds", "state = 'succeeded'", "DELETE FROM refunds", "and is lost"},
		{"refunds", "state = 'succeeded'", "UPDATE refunds SET amount = amount + 1", "it was acknowledged as"},
		{"events", "type = 'transaction.captured'", "DELETE FROM events", "the events of|its last event shows"},
		{"captures", "state = 'succeeded'", "UPDATE captures SET amount = amount + 1", "its captures come to"},
		{"tokens", "used_by <> 0", "UPDATE tokens SET used_by = 0, used_at = 0", "can be used again"},
		{
			"simulator_requests", "line LIKE 'c %00 - %'", "DELETE FROM simulator_requests",
			"at the acquirer it is done: false",
		},
		{
			"simulator_requests", "line LIKE 'r %00 - %'",
			"UPDATE simulator_requests SET line = replace(line, 'r re_', 'r rx_')", "which v1 does not show",
		},
	} {
		const saved = "CREATE TABLE saved AS SELECT * FROM %t WHERE %w ORDER BY %k LIMIT 1"
		row := " WHERE %k = (SELECT %k FROM %t WHERE %w ORDER BY %k LIMIT 1)"
		key := map[string]string{"simulator_requests": "key"}[c.table]
		if key == "" {
			key = "id"
		}
		fill := strings.NewReplacer("%t", c.table, "%w", c.where, "%k", key).Replace
		mustExec(t, db, fill(saved), fill(c.harm+row))
		if faults := judged(t.Context()); !regexp.MustCompile(c.want).MatchString(strings.Join(faults, "\n")) {
			t.Errorf("%s: found %v, want %q", c.harm, faults, c.want)
		}
		mustExec(t, db, fill("DELETE FROM %t WHERE %k IN (SELECT %k FROM saved)"),
			fill("INSERT INTO %t OVERRIDING SYSTEM VALUE SELECT * FROM saved"), "DROP TABLE saved")
	}
	if faults := judged(t.Context()); len(faults) > 0 {
		t.Errorf("with all put right again: %v", faults)
	}
}

func mustExec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}
