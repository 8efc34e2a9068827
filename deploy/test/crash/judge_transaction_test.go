package crash_test

import (
	"net/http"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/crash"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestJudgeTransaction_amount: an acknowledged change is there, and a change without a response may
// be there.
func TestJudgeTransaction_amount(t *testing.T) {
	t.Parallel()
	const made = `{"id":"txn_1","status":"requires_confirmation","amount":100,"currency":"usd"}`
	responses := map[string]struct {
		response *crash.Response
		may      []int64
	}{
		"acknowledged": {&crash.Response{Status: http.StatusOK, Body: made}, []int64{200}},
		"lost":         {nil, []int64{100, 200}},
		"unavailable": {
			&crash.Response{Status: http.StatusServiceUnavailable, Body: `{"error":{"code":"store_unavailable"}}`},
			[]int64{100, 200},
		},
		"refused": {
			&crash.Response{Status: http.StatusConflict, Body: `{"error":{"code":"transaction_changed"}}`}, []int64{100},
		},
	}
	for name, r := range responses {
		for _, amount := range []int64{100, 200, 300} {
			reference := "marker"
			is := v1.Transaction{
				ID: "txn_1", Reference: &reference, Amount: amount, Currency: "usd",
				Status: v1.TransactionStatusRequiresConfirmation,
			}
			faults := crash.JudgeTransaction(is,
				&crash.Call{
					Kind: crash.Create, Marker: reference, Response: &crash.Response{Status: http.StatusCreated, Body: made},
				},
				&crash.Call{Kind: crash.Update, On: "txn_1", Body: `{"amount":200}`, Response: r.response})
			want := true
			for _, may := range r.may {
				want = want && amount != may
			}
			if got := len(faults) > 0; got != want {
				t.Errorf("%s, amount %d: got %q, want a fault: %v", name, amount, faults, want)
			}
		}
	}
}
