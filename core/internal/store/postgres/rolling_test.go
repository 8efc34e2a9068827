package postgres_test

import (
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store/postgres"
)

// firstRolling is the first migration that runs while cores of the previous release serve.
const firstRolling = 2

// growing matches the large tables. A migration must not scan one, or lock one for the time of a
// scan, while cores serve payments.
const growing = `(ONLY )?"?(transactions|transaction_terms|captures|refunds|events|idempotency_keys|` +
	`webhook_deliveries|tokens|customers|payment_methods)`

// hindrances are statements that break cores of the previous release, or block payments. The key is
// the word that a migration names in its reason.
var hindrances = map[string]*regexp.Regexp{
	"DROP COLUMN":    regexp.MustCompile(`(?i)\bDROP COLUMN\b`),
	"DROP TABLE":     regexp.MustCompile(`(?i)\bDROP TABLE\b`),
	"DROP INDEX":     regexp.MustCompile(`(?i)\bDROP INDEX (IF|[^CI\s])`),
	"DROP DEFAULT":   regexp.MustCompile(`(?i)\bDROP DEFAULT\b`),
	"RENAME":         regexp.MustCompile(`(?i)\bRENAME\b`),
	"TYPE":           regexp.MustCompile(`(?i)\bALTER (COLUMN )?\w+ (SET DATA )?TYPE\b`),
	"SET NOT NULL":   regexp.MustCompile(`(?i)\bSET NOT NULL\b`),
	"NOT NULL":       regexp.MustCompile(`(?i)\bADD COLUMN (IF NOT EXISTS )?[^,;]*\bNOT NULL\b`),
	"CREATE INDEX":   regexp.MustCompile(`(?i)\bCREATE (UNIQUE )?INDEX (IF NOT EXISTS )?\w+ ON ` + growing + `\b`),
	"UNIQUE":         regexp.MustCompile(`(?i)\bADD (CONSTRAINT \w+ )?(UNIQUE|PRIMARY KEY) *\(`),
	"ADD CONSTRAINT": regexp.MustCompile(`(?i)\bADD (CONSTRAINT \w+ )?(CHECK|FOREIGN KEY|EXCLUDE)\b`),
	"UPDATE":         regexp.MustCompile(`(?i)\b(UPDATE|DELETE FROM) ` + growing + `\b`),
	"TRUNCATE":       regexp.MustCompile(`(?i)\bTRUNCATE\b`),
	"LOCK TABLE":     regexp.MustCompile(`(?i)\bLOCK TABLE\b`),
	"VACUUM FULL":    regexp.MustCompile(`(?i)\b(VACUUM FULL|CLUSTER|REINDEX (TABLE|INDEX) \w)`),
}

// everywhere are hindrances that also count within statements that harmless matches. Two more names
// exist. SEVERAL TABLES is a step that alters more than one large table. INTERRUPTIBLE is a step
// without a transaction that does not follow the README.
var everywhere = map[string]*regexp.Regexp{
	"VALIDATE": regexp.MustCompile(`(?i)\bNOT VALID\b(?s:.*)\bVALIDATE CONSTRAINT\b`),
	"VOLATILE DEFAULT": regexp.MustCompile(`(?i)\bADD COLUMN [^,;]*\bDEFAULT [^,;]*` +
		`(random|gen_random_uuid|clock_timestamp|nextval)\(`),
}

// harmless are the parts of a step that need no check for hindrances.
var harmless = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\bADD COLUMN [^,;]*\bNOT NULL\b[^,;]*\bDEFAULT\b[^,;]*`),
	regexp.MustCompile(`(?i)\bADD COLUMN [^,;]*\bDEFAULT\b[^,;]*\bNOT NULL\b[^,;]*`),
	regexp.MustCompile(`(?i)\bADD (CONSTRAINT \w+ )?(CHECK|FOREIGN KEY)[^;]*?\bNOT VALID\b`),
	regexp.MustCompile(`(?is)\bCREATE TABLE[^;]*;`),
}

var (
	comment = regexp.MustCompile(`(?m)--.*$`)
	excuse  = regexp.MustCompile(`(?m)^\s*-- rolling: ([A-Z ]+): (.{20,})$`)
	altered = regexp.MustCompile(`(?i)\bALTER TABLE (IF EXISTS )?` + growing + `\b`)
	whole   = regexp.MustCompile(`(?i)^SET lock_timeout = 0;\s*DROP INDEX CONCURRENTLY IF EXISTS (\w+);\s*` +
		`CREATE (UNIQUE )?INDEX CONCURRENTLY (\w+) ON [^;]*;\s*RESET lock_timeout;$`)
)

// hinders returns the words of the hindrances in a step for which the step gives no reason.
func hinders(text string) []string {
	excused := map[string]bool{}
	for _, m := range excuse.FindAllStringSubmatch(text, -1) {
		excused[m[1]] = true
	}
	alone := strings.Contains(text, "+goose NO TRANSACTION")
	text = strings.TrimSpace(comment.ReplaceAllString(text, ""))
	found := map[string]bool{"INTERRUPTIBLE": alone && !wholeIndex(text)}
	tables := map[string]bool{}
	for _, m := range altered.FindAllStringSubmatch(text, -1) {
		tables[strings.ToLower(m[3])] = true
	}
	found["SEVERAL TABLES"] = len(tables) > 1
	for word, h := range everywhere {
		found[word] = h.MatchString(text)
	}
	for _, h := range harmless {
		text = h.ReplaceAllString(text, "")
	}
	for word, h := range hindrances {
		found[word] = h.MatchString(text)
	}
	var out []string
	for word, is := range found {
		if is && !excused[word] {
			out = append(out, word)
		}
	}
	return out
}

func wholeIndex(text string) bool {
	m := whole.FindStringSubmatch(text)
	return m != nil && m[1] == m[3]
}

// TestMigrationsWhileOlderVersionsServe: every migration can run while cores of the previous
// release serve. A migration with a hindrance gives the reason why it is safe.
func TestMigrationsWhileOlderVersionsServe(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(postgres.Migrations, "migration/*.sql")
	if err != nil || len(names) < firstRolling-1 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		if n, err := strconv.Atoi(number); err != nil || n < firstRolling {
			continue
		}
		text, err := fs.ReadFile(postgres.Migrations, name)
		if err != nil {
			t.Fatal(err)
		}
		if words := hinders(string(text)); len(words) > 0 {
			t.Errorf("%s: %s: see migration/README.md, or give the reason in a line `-- rolling: WORD: reason`",
				name, strings.Join(words, ", "))
		}
	}
}

func TestHinders(t *testing.T) {
	t.Parallel()
	const reason = "no core has read it since the release before the previous one"
	const concurrently = "CREATE INDEX CONCURRENTLY a ON events (b);"
	for text, want := range map[string]string{
		"ALTER TABLE events ADD COLUMN a BIGINT NOT NULL DEFAULT 0;":                             "",
		"ALTER TABLE events ADD COLUMN a BIGINT;":                                                "",
		"CREATE TABLE a (b BIGINT NOT NULL CHECK (b > 0) UNIQUE); CREATE INDEX a_by_b ON a (b);": "",
		"ALTER TABLE events ADD CONSTRAINT a CHECK (b > 0) NOT VALID;":                           "",
		"ALTER TABLE events VALIDATE CONSTRAINT a;":                                              "",
		"-- DROP COLUMN in a comment":                                                            "",
		"-- rolling: DROP COLUMN: " + reason + "\nALTER TABLE events DROP COLUMN a;":             "",
		"-- rolling: DROP COLUMN: short\nALTER TABLE events DROP COLUMN a;":                      "DROP COLUMN",
		"-- rolling: RENAME: " + reason + "\nALTER TABLE events DROP COLUMN a;":                  "DROP COLUMN",
		"ALTER TABLE events\n  RENAME a TO b;":                                                   "RENAME",
		"ALTER TABLE merchants ALTER COLUMN a TYPE BIGINT;":                                      "TYPE",
		"ALTER TABLE merchants ALTER a SET NOT NULL;":                                            "SET NOT NULL",
		"ALTER TABLE merchants ADD COLUMN a BIGINT NOT NULL;":                                    "NOT NULL",
		"CREATE INDEX a ON events (b);":                                                          "CREATE INDEX",
		"CREATE UNIQUE INDEX IF NOT EXISTS a ON refunds (b);":                                    "CREATE INDEX",
		"DROP INDEX a;": "DROP INDEX",
		"ALTER TABLE merchants ADD CONSTRAINT a UNIQUE (b);":                                        "UNIQUE",
		"ALTER TABLE events ADD CONSTRAINT a CHECK (b > 0);":                                        "ADD CONSTRAINT",
		"ALTER TABLE events ADD CHECK (b > 0) NOT VALID; ALTER TABLE events VALIDATE CONSTRAINT a;": "VALIDATE",
		"UPDATE events SET a = 1;":                                                                  "UPDATE",
		"DROP TABLE a;":                                                                             "DROP TABLE",
		"TRUNCATE a;":                                                                               "TRUNCATE",
		"LOCK TABLE a;":                                                                             "LOCK TABLE",
		"VACUUM FULL a;":                                                                            "VACUUM FULL",
		"ALTER TABLE a ALTER COLUMN b DROP DEFAULT;":                                                "DROP DEFAULT",
		"ALTER TABLE events ADD COLUMN a TEXT NOT NULL DEFAULT gen_random_uuid();":         "VOLATILE DEFAULT",
		"ALTER TABLE events ADD COLUMN a BIGINT; ALTER TABLE refunds ADD COLUMN a BIGINT;": "SEVERAL TABLES",
		"-- +goose NO TRANSACTION\n" + concurrently:                                        "INTERRUPTIBLE",
		"-- +goose NO TRANSACTION\n-- +goose Up\nSET lock_timeout = 0;\nDROP INDEX CONCURRENTLY IF EXISTS a;\n" +
			concurrently + "\nRESET lock_timeout;\n": "",
		"-- +goose NO TRANSACTION\nSET lock_timeout = 0;\nDROP INDEX CONCURRENTLY IF EXISTS b;\n" +
			concurrently + "\nRESET lock_timeout;\n": "INTERRUPTIBLE",
	} {
		if got := strings.Join(hinders(text), ", "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
