package engine_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// TestOwnCodeOfADecline: the message of a declined capture, void or refund has the acquirer's own
// code. So has one line of the log, with the account.
func TestOwnCodeOfADecline(t *testing.T) {
	t.Parallel()
	for _, own := range []string{"", "54"} {
		s := coretest.OpenLive(t)
		txn := mustPay(t, s, true)
		s.Acquirer.Decide = func(coretest.Call) string { return "processing_error" }
		s.Acquirer.Report = func(_ coretest.Call, a acquirer.Response) acquirer.Response {
			a.OwnCode = own
			return a
		}
		want := "(response code 05, the acquirer's own code 54)"
		if own == "" {
			want = "(response code 05)"
		}
		a, err := s.Engine.Refund(t.Context(), s.Request(""), txn, 0, 100, []byte("{}"))
		if err != nil || a.Status != 402 || !strings.Contains(string(a.Body), want) {
			t.Errorf("got %d %s, %v, want %s", a.Status, a.Body, err, want)
		}
		found := 0
		for line := range strings.Lines(s.Log.String()) {
			if strings.Contains(line, "the acquirer declined it") && strings.Contains(line, `"own_code":"`+own+`"`) &&
				strings.Contains(line, "acct_") {
				found++
			}
		}
		if found != 1 {
			t.Errorf("own code %q: got %d lines, want 1", own, found)
		}
	}
}
