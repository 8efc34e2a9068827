package main

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// TestSteps lists, shows and resolves a refund without an outcome by the command line. The books
// and the audit record must contain the result.
func TestSteps(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	merchant := MustPrint(t, "merchants", "create", "Shop", "--data", data)
	db, err := sql.Open("sqlite", "file:"+data+"/causeway.db")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `INSERT INTO refunds (id, merchant_id, live, state, amount, currency, created_at, updated_at,
			api_key_id, client_address)
		SELECT 7, id, 0, 'pending', 100, 'usd', 1, 1, 9, '203.0.113.7' FROM merchants;
		INSERT INTO refunds (id, merchant_id, live, state, amount, currency, created_at, updated_at, transaction_id)
		SELECT 9, id, 0, 'pending', 50, 'usd', 1, 1, 4 FROM merchants;
		INSERT INTO reversals (kind, transaction_id, merchant_id, live, amount, currency, captured, since, due_at)
		SELECT 'authorize', 5, id, 0, 40, 'usd', 0, 1, `+fmt.Sprint(payment.Never().UnixMilli())+` FROM merchants`); err != nil {
		t.Fatal(err)
	}
	// A payment, a confirmation and a void without an outcome. All three clients have written to
	// each transaction.
	for _, row := range []string{"1, 'unknown', '', 0, 0", "2, 'unknown', '', 0, 1", "3, 'authorized', 'void', 4, 1"} {
		if _, err := db.ExecContext(t.Context(), `INSERT INTO transactions (id, status, operation, operation_id, attempt, merchant_id, live,
				auto_capture, amount, currency, payment_method, details, created_at, updated_at, api_key_id, client_address,
				confirm_api_key_id, confirm_client_address, void_api_key_id, void_client_address, account)
			SELECT `+row+`, id, 0, 0, 100, 'usd', 'card', '{}', 1, 1, 1, '192.0.2.1', 2, '192.0.2.2', 3, '192.0.2.3', 5 FROM merchants`); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	const refund = "re_0000000000007"
	for kind, want := range map[string]string{"credit": refund, "refund": "re_0000000000009", "reversal": "rev_0000000000001"} {
		code, got, stderr := run(t, "steps", "list", "--kind", kind, "--data", data)
		if code != 0 || strings.Count(got, "\n") != 2 || !strings.Contains(got, "\n"+want) {
			t.Errorf("--kind %s: got %d, %s\n%s, want only %s", kind, code, stderr, got, want)
		}
	}
	if _, got, _ := run(t, "steps", "show", "rev_0000000000001", "--data", data); !strings.Contains(got, "next attempt    operator\n") {
		t.Errorf("show: got\n%s, want the operator as the next attempt", got)
	}
	for _, args := range [][]string{{"steps", "list"}, {"steps", "list", "--merchant", merchant, "--kind", "credit"}, {"steps", "show", refund}} {
		if code, got, _ := run(t, append(args, "--data", data)...); code != 0 || !strings.Contains(got, refund) || !strings.Contains(got, "100 usd") || !strings.Contains(got, "credit") {
			t.Errorf("%v: got\n%s", args, got)
		}
	}
	if code, got, _ := run(t, "steps", "list", "--data", data); code != 0 || strings.Count(got, "acct_0000000000005") != 3 {
		t.Errorf("list: got\n%s, want the account of three steps", got)
	}
	if code, got, _ := run(t, "steps", "show", "void_0000000000003_0000000000004", "--data", data); code != 0 || !strings.Contains(got, "acct_0000000000005") {
		t.Errorf("show: got\n%s, want the account", got)
	}
	for step, want := range map[string][2]string{
		refund: {"key_0000000000009", "203.0.113.7"}, "txn_0000000000001": {"key_0000000000001", "192.0.2.1"},
		"txn_0000000000002": {"key_0000000000002", "192.0.2.2"}, "void_0000000000003_0000000000004": {"key_0000000000003", "192.0.2.3"},
	} {
		if code, got, _ := run(t, "steps", "show", step, "--data", data); code != 0 || !strings.Contains(got, want[0]) || !strings.Contains(got, want[1]) {
			t.Errorf("show %s: got\n%s, want %v", step, got, want)
		}
	}
	for want, args := range map[int][]string{
		2: {"steps", "resolve", refund, "--outcome", "declined"}, 1: {"steps", "resolve", "re_0000000000008", "--outcome", "declined", "--reason", "statement of today"},
	} {
		if code, _, stderr := run(t, append(args, "--data", data)...); code != want {
			t.Errorf("%v: got %d, %s, want %d", args, code, stderr, want)
		}
	}
	for want, args := range map[string][]string{
		"core: reason: want 10 to 500 characters, got 5\n": {"--outcome", "declined", "--reason", "short"},
		"core: as_of: want the time at which the acquirer's records were read, such as 2026-11-22T14:05:00Z\n": {
			"--outcome", "approved", "--reason", "statement of today",
		},
		"core: outcome: want approved, declined, no_effect or released\n": {"--outcome", "lost", "--reason", "statement of today"},
	} {
		code, _, stderr := run(t, append([]string{"steps", "resolve", refund, "--data", data}, args...)...)
		if code != 1 || stderr != want {
			t.Errorf("%v: got %d, %q, want %q", args, code, stderr, want)
		}
	}
	if code, _, stderr := run(t, "steps", "resolve", refund, "--outcome", "approved", "--as-of", "today", "--reason", "statement of today", "--data", data); code != 2 || !strings.Contains(stderr, "--as-of") {
		t.Errorf("as of today: got %d, %s, want a usage error", code, stderr)
	}
	if code, _, stderr := run(t, "steps", "resolve", refund, "--outcome", "released", "--reason", "statement of today", "--data", data); code != 1 || !strings.Contains(stderr, "pending reversal") {
		t.Errorf("released: got %d, %s", code, stderr)
	}
	if got := MustPrint(t, "steps", "resolve", refund, "--outcome", "approved", "--as-of", "2026-11-22T14:05:00Z", "--reason", "statement of today, line 7", "--data", data); got != refund+" approved: credit of 100 usd, account -" {
		t.Errorf("got %q", got)
	}
	inspect := coretest.MustInspect(t, data+"/causeway.db")
	var state, audit string
	if err := inspect.QueryRowContext(t.Context(), "SELECT state FROM refunds WHERE id = 7").Scan(&state); err != nil || state != "succeeded" {
		t.Errorf("got %s, %v, want succeeded", state, err)
	}
	const written = "SELECT state_before || state_after FROM audit_records WHERE action = 'steps.resolve' AND outcome = 'done'"
	if err := inspect.QueryRowContext(t.Context(), written).Scan(&audit); err != nil || !strings.Contains(audit, "line 7") ||
		strings.Contains(audit, "203.0.113.7") { // the client's address: an erasure cannot reach it
		t.Errorf("audit record: got %q, %v", audit, err)
	}
	if code, got, _ := run(t, "steps", "list", "--data", data); code != 0 || strings.Contains(got, refund) {
		t.Errorf("afterwards: got %d\n%s", code, got)
	}
}
