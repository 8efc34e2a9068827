package postgres_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store/postgres"
)

// TestPlansOfReportsPostgreSQL: the statements of settlement reports seek in an index of the
// captures that wait for a report, and none sorts.
func TestPlansOfReportsPostgreSQL(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, text := range []string{
		"SET plan_cache_mode = force_generic_plan", "SET enable_seqscan = off", "SET enable_bitmapscan = off",
	} {
		if _, err := b.raw.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ args, want string }{
		"selectReportingAccounts": {"7", "captures_unreported"},
		"selectUnreported":        {"7, 5, 9, 1, 0, 2", "captures_unreported"},
		"selectExceptions":        {"0, 0, 0, 2", "captures_excepted"},
	} {
		text, err := postgres.TextOf(name)
		if err != nil {
			t.Fatal(err)
		}
		plan := b.explainWith(t, "PREPARE query AS "+text, c.args)
		if !strings.Contains(plan, c.want) || strings.Contains(plan, "Seq Scan on") ||
			strings.Contains(plan, "Sort") {
			t.Errorf("%s: got\n%s\nwant it to use %s, and no sort", name, plan, c.want)
		}
	}
}
