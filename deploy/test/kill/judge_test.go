//go:build unix

package kill_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	location := crash.Location{Store: store, Journal: f.Journal}
	judged := func(ctx context.Context, location crash.Location) []string {
		t.Helper()
		faults, err := h.JudgeAll(ctx, location)
		if err != nil {
			t.Fatal(err)
		}
		more, err := crash.Agree(ctx, location, f.Cores.URL(), keys)
		if err != nil {
			t.Fatal(err)
		}
		return append(faults, more...)
	}
	if faults := judged(t.Context(), location); len(faults) > 0 {
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
	} {
		const saved = "CREATE TABLE saved AS SELECT * FROM %t WHERE %w ORDER BY id LIMIT 1"
		row := " WHERE id = (SELECT id FROM %t WHERE %w ORDER BY id LIMIT 1)"
		fill := strings.NewReplacer("%t", c.table, "%w", c.where).Replace
		mustExec(t, db, fill(saved), fill(c.harm+row))
		faults := judged(t.Context(), location)
		if !regexp.MustCompile(c.want).MatchString(strings.Join(faults, "\n")) {
			t.Errorf("%s: found %v, want %q", c.harm, faults, c.want)
		}
		mustExec(t, db, fill("DELETE FROM %t WHERE id IN (SELECT id FROM saved)"),
			fill("INSERT INTO %t OVERRIDING SYSTEM VALUE SELECT * FROM saved"), "DROP TABLE saved")
	}
	for line, c := range map[string]struct{ becomes, want string }{
		`(?m)^c cap_\S+ \S+ 00 .*\n`:  {"", "got done false"},
		`(?m)^r re_(\S+ \S+ 00 .*\n)`: {"r rx_$1", "which v1 does not show"},
		`(?m)^(a \S+ - 00 .*\n)`:      {"$1$1", "the acquirer did .* twice"},
	} {
		harmed := crash.Location{Store: store, Journal: filepath.Join(t.TempDir(), "simulator.journal")}
		mustChangeLine(t, f.Journal, harmed.Journal, regexp.MustCompile(line), c.becomes)
		if faults := judged(t.Context(), harmed); !regexp.MustCompile(c.want).MatchString(strings.Join(faults, "\n")) {
			t.Errorf("%s: found %v, want %q", line, faults, c.want)
		}
	}
	if faults := judged(t.Context(), location); len(faults) > 0 {
		t.Errorf("with all put right again: %v", faults)
	}
}

// mustChangeLine copies a journal and changes the first line that matches.
func mustChangeLine(t *testing.T, from, to string, line *regexp.Regexp, becomes string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	at := line.FindSubmatchIndex(text)
	if at == nil {
		t.Fatalf("no line matches %s", line)
	}
	changed := slices.Concat(text[:at[0]], line.Expand(nil, []byte(becomes), text, at), text[at[1]:])
	if err := os.WriteFile(to, changed, 0o600); err != nil {
		t.Fatal(err)
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
