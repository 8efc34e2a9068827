package postgres_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store/postgres"
)

// TestPlansOfBoundsPostgreSQL: the commands that make or revoke a key read only the tenant's keys
// in use. A refund reads only the captures of its transaction.
func TestPlansOfBoundsPostgreSQL(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, text := range []string{
		"SET plan_cache_mode = force_generic_plan", "SET enable_seqscan = off", "SET enable_bitmapscan = off",
		"INSERT INTO merchants (id, name, created_at) VALUES (7, 'shop', 0)",
		`INSERT INTO api_keys (id, merchant_id, live, kind, hash, root_version, hint, scopes, created_at, revoked_at)
			SELECT n, 7, 0, 'secret', int8send(n), 1, '', 'keys:write', 0, CASE WHEN n > 2 THEN 1 END
			FROM generate_series(1::bigint, 2000) n`,
		`INSERT INTO transactions
			(id, merchant_id, live, status, auto_capture, amount, currency, payment_method, details, created_at, updated_at)
			VALUES (5, 7, 0, 'captured', 1, 100, 'usd', '', '{}', 0, 0)`,
		`INSERT INTO captures (id, transaction_id, merchant_id, live, state, amount, currency, final, created_at, updated_at)
			SELECT n, 5, 7, 0, 'succeeded', 1, 'usd', 0, 0, 0 FROM generate_series(1, 10) n`,
		"ANALYZE api_keys, captures",
	} {
		if _, err := b.raw.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ args, want string }{
		"countActiveKeys":        {"7, 0, 9", "api_keys_in_use on api_keys (actual rows=2 loops=1)"},
		"revokeKey":              {"9, 1, 7, 0, 0", "api_keys_in_use on api_keys other (actual rows=1 loops=1)"},
		"reserveRefundOfCapture": {"1, 5, 0", "captures_by_transaction on captures fit (actual rows=10 loops=1)"},
	} {
		text, err := postgres.TextOf(name)
		if err != nil {
			t.Fatal(err)
		}
		if plan := b.explainWith(t, "PREPARE query AS "+text, c.args); !strings.Contains(plan, c.want) {
			t.Errorf("%s: want %s in\n%s", name, c.want, plan)
		}
	}
}
