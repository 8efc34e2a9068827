package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestLateApproval: the acquirer approves a minute after the request, after the payment has failed.
// The service finds the approval and returns the money, with or without a restart in between. The
// payment stays failed.
func TestLateApproval(t *testing.T) {
	t.Parallel()
	for _, restarted := range []bool{false, true} {
		t.Run(map[bool]string{false: "served through", true: "restarted"}[restarted], func(t *testing.T) {
			t.Parallel()
			b := setupWith(t, MustHurryCatalogue(t, 20*time.Millisecond))
			e := wantRefusal(t, b.post(t, "/v1/transactions", create1("pm_card_late_approval", "")), refusal{504, v1.ErrorTypeAPIError, "outcome_unknown", ""})
			txn := e.Transaction.ID
			b.clock.Advance(time.Second)
			programtest.WaitFor(t, "failed", func() bool { return b.transaction(t, txn).Status == v1.TransactionStatusFailed })
			programtest.WaitFor(t, "the release is requested", func() bool { return b.number(t, "SELECT COUNT(*) FROM reversals WHERE asked = 1") == 1 })
			if restarted {
				b.restart(t)
			}
			b.clock.Advance(30 * time.Second) // too early: the look does not find it
			programtest.WaitFor(t, "looked for", func() bool { return b.number(t, "SELECT COUNT(*) FROM reversals WHERE version = 2") == 1 })
			b.clock.Advance(time.Minute)
			programtest.WaitFor(t, "the reversal has ended", func() bool { return b.number(t, "SELECT COUNT(*) FROM reversals") == 0 })
			if !strings.Contains(b.logs.String(), "late approval reversed") {
				t.Error("the log does not show the late approval")
			}
			b.wantTransaction(t, txn, v1.TransactionStatusFailed, amounts{})
			if got := b.number(t, "SELECT COUNT(*) FROM events WHERE object_id = (SELECT id FROM transactions)"); got != 1 {
				t.Errorf("got %d events, want one", got)
			}
		})
	}
}
