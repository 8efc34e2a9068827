package api_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const exceptionsOf = operator.Root + "/settlement_exceptions"

// TestOperatorResolvesAnException: a live payment settles by its account's report. If the report is
// a failed settlement, an operator lists, shows and ends the exception over HTTP. A wrong outcome
// and a missing reason change nothing, and the action is one audit record.
func TestOperatorResolvesAnException(t *testing.T) {
	t.Parallel()
	b, p, host := hosted(t)
	host.Settle = failing(70)
	account := p.MustAddAccount(t, "").ID
	live := as(b.live(t))
	pay := func(amount string) string {
		t.Helper()
		return MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", `{"amount":`+amount+`,"currency":"usd","payment_method":"card",
			"card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}}`, live), 201).ID
	}
	good, bad := pay("60"), pay("70")
	settlement := func(txn string) v1.Settlement {
		t.Helper()
		return MustDecode[v1.Transaction](t, b.get(t, "/v1/transactions/"+txn, live), 200).Settlement
	}
	b.clock.Advance(24 * time.Hour)
	if got := settlement(good); got != v1.SettlementPending {
		t.Errorf("before the report: got %s", got)
	}
	b.restart(t) // it requests reports immediately
	p = openPort(t, b)
	x := p.mustExcept(t)
	programtest.WaitFor(t, "the settlement", func() bool { return settlement(good) == v1.SettlementSettled })
	if x.Transaction != bad || x.Account != account || x.Merchant != b.merchant || x.Amount != 70 || x.Kind != "failed" || x.Report != "settlementError" {
		t.Fatalf("got %+v, want the exception of %s", x, bad)
	}
	path := exceptionsOf + "/" + x.ID
	if got := MustDecode[operator.SettlementException](t, p.get(t, path), 200); got != x {
		t.Errorf("got %+v, want %+v", got, x)
	}
	if got := MustDecode[operator.SettlementExceptionList](t, p.get(t, exceptionsOf+"?starting_after="+x.ID), 200); len(got.Data) != 0 {
		t.Errorf("behind it: got %+v, want none", got)
	}
	p.wantExceptionKept(t, x.ID)
	missing := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"}
	for range 2 { // the same request again
		done := MustDecode[operator.SettlementException](t, p.post(t, path+"/resolve", settledByLine7, keyed("r")), 200)
		if done.Outcome != "settled" || done.Reason != "statement of November 22, line 7" || done.ID != x.ID {
			t.Errorf("resolved: got %+v", done)
		}
	}
	wantRefusal(t, p.get(t, path), missing)
	if got := settlement(bad); got != v1.SettlementSettled {
		t.Errorf("afterwards: got %s", got)
	}
	if got := b.number(t, `SELECT COUNT(*) FROM audit_records WHERE action = 'settlements.resolve' AND outcome = 'done' AND state_after LIKE '%line 7%'`); got != 1 {
		t.Errorf("audit records: got %d, want 1", got)
	}
}

// settledByLine7 is the body of a resolve.
const settledByLine7 = `{"outcome":"settled","reason":"statement of November 22, line 7","despite_failed_report":true}`

// failing returns reports in which the payments of an amount failed to settle, and all others have
// settled.
func failing(amount int64) func(context.Context, []acquirer.Sent) ([]acquirer.Settlement, error) {
	return func(_ context.Context, of []acquirer.Sent) ([]acquirer.Settlement, error) {
		out := make([]acquirer.Settlement, len(of))
		for i, s := range of {
			out[i].State = acquirer.Settled
			if s.Amount == amount {
				out[i] = acquirer.Settlement{State: acquirer.SettlementFailed, Reason: "settlementError"}
			}
		}
		return out, nil
	}
}

// mustExcept waits for the merchant's only exception, and returns it.
func (p port) mustExcept(t *testing.T) (x operator.SettlementException) {
	t.Helper()
	programtest.WaitFor(t, "the exception", func() bool {
		list := MustDecode[operator.SettlementExceptionList](t, p.get(t, exceptionsOf+"?limit=1&merchant="+p.merchant), 200)
		if len(list.Data) == 0 {
			return false
		}
		x = list.Data[0]
		return true
	})
	return x
}

// wantExceptionKept checks that wrong requests do not end an exception.
func (p port) wantExceptionKept(t *testing.T, capture string) {
	t.Helper()
	path := exceptionsOf + "/" + capture
	wantRefusal(t, p.post(t, path+"/resolve", strings.Replace(settledByLine7, "settled", "approved", 1)), invalid("invalid_value", "outcome"))
	unconfirmed := strings.Replace(settledByLine7, "true", "false", 1)
	wantRefusal(t, p.post(t, path+"/resolve", unconfirmed), invalid("invalid_value", "despite_failed_report"))
	wantRefusal(t, p.post(t, path+"/resolve", `{"outcome":"settled","reason":"short"}`), invalid("invalid_value", "reason"))
	missing := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"}
	wantRefusal(t, p.post(t, exceptionsOf+"/cap_0000000000001/resolve", settledByLine7), missing)
	for query, param := range map[string]string{"merchant=x": "merchant", "limit=0": "limit"} {
		wantRefusal(t, p.get(t, exceptionsOf+"?"+query), invalid("invalid_value", param))
	}
	wantRefusal(t, p.get(t, exceptionsOf+"?starting_after=x"), invalid("invalid_cursor", "starting_after"))
	MustDecode[operator.SettlementException](t, p.get(t, path), 200)
}
