package sqlite_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store/sqlite"
)

// TestPlansOfReports: the statements of settlement reports seek in an index of the captures that
// wait for a report, and none sorts or scans a table.
func TestPlansOfReports(t *testing.T) {
	t.Parallel()
	b := setup(t)
	db := b.MustWrite(t)
	for name, want := range map[string]string{
		"selectReportingAccounts": "captures_unreported (merchant_id=? AND account>?)",
		"selectUnreported":        "captures_unreported (merchant_id=? AND account=? AND <expr>>? AND <expr><?)",
		"selectExceptions":        "captures_excepted (id>?)",
		"countExceptions":         "captures_excepted",
	} {
		text, err := b.engine.TextOf(name)
		if err != nil {
			t.Fatal(err)
		}
		plan := column(t, db, "detail", "EXPLAIN QUERY PLAN "+text, slices.Repeat([]any{0}, sqlite.Parameters(text))...)
		all := strings.Join(plan, "\n")
		if !strings.Contains(all, want) || name != "countExceptions" && strings.Contains(all, "TEMP B-TREE") ||
			strings.Contains(all, "SCAN captures\n") || strings.Contains(all, "SCAN t") {
			t.Errorf("%s: got\n%s\nwant it to have %s, and no sort", name, all, want)
		}
	}
}
