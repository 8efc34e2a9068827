package main

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// mustExcept makes a folder with two settlement exceptions of a live payment, and returns it with
// the payment's merchant.
func mustExcept(t *testing.T) (data, merchant string) {
	t.Helper()
	data = t.TempDir()
	merchant = MustPrint(t, "merchants", "create", "Shop", "--data", data)
	db, err := sql.Open("sqlite", "file:"+data+"/causeway.db")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		`INSERT INTO transactions (id, merchant_id, live, status, auto_capture, amount, currency, payment_method, details, created_at,
				updated_at, amount_authorized, amount_captured, account, result)
			SELECT 7, id, 1, 'captured', 1, 100, 'usd', 'card', '{}', 1, 1, 100, 100, 5, '{"acquirer_id":"60410000101"}' FROM merchants`,
		`INSERT INTO captures (id, transaction_id, merchant_id, live, state, amount, currency, final, created_at, updated_at, account,
				exception, exception_reason, exception_at)
			SELECT 8, 7, id, 1, 'succeeded', 60, 'usd', 0, 1, 1, 5, 'unreported', 'in no settled batch', 2 FROM merchants
			UNION ALL SELECT 9, 7, id, 1, 'succeeded', 40, 'usd', 0, 1, 1, 5, 'failed', 'settlementError', 2 FROM merchants
			UNION ALL SELECT 10, 7, id, 1, 'voided', 40, 'usd', 0, 1, 1, 5, 'failed', 'voided', 2 FROM merchants`,
	} {
		if _, err := db.ExecContext(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return data, merchant
}

const firstException, secondException = "cap_0000000000008", "cap_0000000000009"

// TestSettlements lists and resolves settlement exceptions by the command line. The books and the
// audit record must contain the result.
func TestSettlements(t *testing.T) {
	t.Parallel()
	data, merchant := mustExcept(t)
	for _, args := range [][]string{{"settlements", "list"}, {"settlements", "list", "--merchant", merchant}} {
		code, got, _ := run(t, append(args, "--data", data)...)
		for _, want := range []string{firstException, secondException, "unreported", "settlementError", "60410000101", "40 usd", "acct_0000000000005"} {
			if code != 0 || !strings.Contains(got, want) || strings.Contains(got, "cap_000000000000a") {
				t.Errorf("%v: got %d\n%s\nwant %s in it", args, code, got, want)
			}
		}
	}
	if code, got, _ := run(t, "settlements", "list", "--limit", "1", "--data", data); code != 0 || strings.Contains(got, secondException) {
		t.Errorf("with a limit: got %d\n%s", code, got)
	}
	const reason = "statement of today, line 7"
	for want, c := range map[string][2]string{
		firstException + " settled: 60 usd, report: in no settled batch":  {firstException, "settled"},
		secondException + " not_settled: 40 usd, report: settlementError": {secondException, "not_settled"},
	} {
		resolve := []string{"settlements", "resolve", c[0], "--outcome", c[1], "--reason", reason, "--data", data}
		if got := MustPrint(t, resolve...); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if code, _, stderr := run(t, resolve...); code != 1 || !strings.Contains(stderr, c[0]+" was resolved by cli ") ||
			!strings.Contains(stderr, "Both outcomes are final") {
			t.Errorf("again: got %d, %q", code, stderr)
		}
	}
	inspect := coretest.MustInspect(t, data+"/causeway.db")
	var got string
	const books = `SELECT (SELECT amount_settled FROM transactions) || ' ' || (SELECT COUNT(*) FROM audit_records
		WHERE action = 'settlements.resolve' AND outcome = 'done' AND state_after LIKE '%line 7%')`
	if err := inspect.QueryRowContext(t.Context(), books).Scan(&got); err != nil || got != "60 2" {
		t.Errorf("settled, and audit records: got %s, %v, want 60 and 2", got, err)
	}
	if code, got, _ := run(t, "settlements", "list", "--data", data); code != 0 || strings.Contains(got, "cap_") {
		t.Errorf("afterwards: got %d\n%s", code, got)
	}
}

// TestSettledDespiteTheReport: an outcome that contradicts the acquirer's report needs a flag.
func TestSettledDespiteTheReport(t *testing.T) {
	t.Parallel()
	data, _ := mustExcept(t)
	resolve := []string{
		"settlements", "resolve", secondException, "--outcome", "settled", "--reason", "statement of today", "--data", data,
	}
	code, stdout, stderr := run(t, resolve...)
	for _, want := range []string{secondException, "40 usd", "settlementError", "--despite-failed-report"} {
		if code != 1 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("without the flag: got %d, %q, %q, want %s in it", code, stdout, stderr, want)
		}
	}
	if got := MustPrint(t, append(resolve, "--despite-failed-report")...); got != secondException+" settled: 40 usd, report: settlementError" {
		t.Errorf("with the flag: got %q", got)
	}
}

// TestSettlementsRefuses: a wrong command line changes nothing.
func TestSettlementsRefuses(t *testing.T) {
	t.Parallel()
	data, _ := mustExcept(t)
	const reason = "statement of today, line 7"
	for args, want := range map[string]int{
		"settlements resolve " + firstException + " --outcome settled": 2, "settlements list --limit 0": 2, "settlements": 2,
		"settlements list --merchant x": 1,
	} {
		if code, _, stderr := run(t, append(strings.Fields(args), "--data", data)...); code != want {
			t.Errorf("%s: got %d, %s, want %d", args, code, stderr, want)
		}
	}
	for want, args := range map[string][]string{
		"core: reason: want 10 to 500 characters, got 5\n": {firstException, "--outcome", "settled", "--reason", "short"},
		"core: outcome: want settled or not_settled\n":     {firstException, "--outcome", "lost", "--reason", reason},
		"core: the settlement exception does not exist, or it has ended: see core settlements list\n": {
			"cap_000000000000a", "--outcome", "settled", "--reason", reason,
		},
	} {
		code, _, stderr := run(t, append([]string{"settlements", "resolve", "--data", data}, args...)...)
		if code != 1 || stderr != want {
			t.Errorf("%v: got %d, %q, want %q", args, code, stderr, want)
		}
	}
	if code, got, _ := run(t, "settlements", "list", "--data", data); code != 0 || strings.Count(got, "cap_") != 2 {
		t.Errorf("afterwards: got %d\n%s, want both exceptions", code, got)
	}
}
