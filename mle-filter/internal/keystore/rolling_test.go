package keystore_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// firstRolling is the first migration that runs while filters of the previous release serve. The
// initial schema is older than any release.
const firstRolling = "00002"

// takesAway matches changes that break filters of the previous release. Locks are not checked,
// because the tables are small.
var takesAway = regexp.MustCompile(`(?i)\b(DROP (TABLE|COLUMN|DEFAULT)|RENAME|` +
	`ALTER (COLUMN )?\w+ (SET DATA )?TYPE|SET NOT NULL|ADD COLUMN [^,;]*NOT NULL([^,;]*DEFAULT)?|TRUNCATE)\b`)

func refused(text string) []string {
	text = regexp.MustCompile(`(?m)--.*$`).ReplaceAllString(text, "")
	var out []string
	for _, found := range takesAway.FindAllString(text, -1) {
		if !strings.HasSuffix(strings.ToUpper(found), "DEFAULT") || strings.HasPrefix(strings.ToUpper(found), "DROP") {
			out = append(out, found)
		}
	}
	return out
}

// TestMigrationsWhileOlderVersionsServe checks that migrations only add, because filters on one
// server are replaced one by one. A migration of a later release may remove something, with a line
// `-- rolling: why`.
func TestMigrationsWhileOlderVersionsServe(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("migration/postgres/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) < firstRolling || strings.Contains(string(text), "\n-- rolling: ") {
			continue
		}
		if words := refused(string(text)); len(words) > 0 {
			t.Errorf("%s: %q, or say in a line `-- rolling: why` why this may be", file, words)
		}
	}
	for text, want := range map[string]int{
		"ALTER TABLE a ADD COLUMN b BIGINT NOT NULL DEFAULT 0;":                0,
		"ALTER TABLE a ADD COLUMN b BIGINT; CREATE INDEX c ON a (b);":          0,
		"-- RENAME in a comment\nCREATE TABLE a (b BIGINT NOT NULL);":          0,
		"ALTER TABLE a ADD COLUMN b BIGINT NOT NULL;":                          1,
		"ALTER TABLE a DROP COLUMN b; ALTER TABLE a RENAME b TO c;":            2,
		"ALTER TABLE a ALTER b TYPE TEXT, ALTER COLUMN c SET NOT NULL;":        2,
		"ALTER TABLE a ALTER COLUMN b DROP DEFAULT; TRUNCATE a; DROP TABLE c;": 3,
	} {
		if got := refused(text); len(got) != want {
			t.Errorf("%s: got %q, want %d", text, got, want)
		}
	}
}
