package move_test

import (
	"strings"
	"testing"
)

// TestTextsThatPostgreSQLDoesNotKeep: services on a file took them once. They are moved with another character, whether before the last pass or in it,
// and what only looks like one stays.
func TestTextsThatPostgreSQLDoesNotKeep(t *testing.T) {
	t.Parallel()
	spoil := []string{
		`UPDATE customers SET details = '{"email":"\u0000\u0000","reference":"\\u0000"}'`,
		`UPDATE transactions SET details = '{"reference":"\u0000"}', payment_method = 'a' || char(0) WHERE id = 1600`,
		`UPDATE transaction_terms SET term = char(0) WHERE transaction_id = 1600`,
		`UPDATE transaction_terms SET term = 'a' || char(0) || 'b' WHERE transaction_id = 1616`,
		`UPDATE api_keys SET name = char(0) WHERE id = 9`,
	}
	for name, before := range map[string]bool{"before the last pass": true, "in it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.fill(t)
			if before {
				must(t, b.source, spoil...)
				b.ahead(t)
			} else {
				b.ahead(t)
				must(t, b.source, spoil...)
			}
			b.finish(t)
			b.wantSame(t)
			for query, want := range map[string]int64{
				`SELECT count(*) FROM customers WHERE details = '{"email":"\ufffd\ufffd","reference":"\\u0000"}'`:            1,
				`SELECT count(*) FROM transaction_terms WHERE term IN (U&'\FFFD', U&'a\FFFDb')`:                              2,
				`SELECT count(*) FROM api_keys WHERE id = 9 AND name = U&'\FFFD'`:                                            1,
				`SELECT count(*) FROM transactions WHERE details = '{"reference":"\u0000"}' AND payment_method = U&'a\FFFD'`: 1,
			} {
				if got := number(t, b.target, query); got != want {
					t.Errorf("%s: got %d, want %d", query, got, want)
				}
			}
			if want := "transaction_terms: 2 texts had U+0000"; !strings.Contains(b.told.String(), want) {
				t.Errorf("told %q, want %q in it", b.told.String(), want)
			}
		})
	}
}
