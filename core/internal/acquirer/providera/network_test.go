package providera

import (
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

// TestNetworkDecline: a decline of a processed payment is the network's. Requests that were refused
// before, and refunds, are not.
func TestNetworkDecline(t *testing.T) {
	t.Parallel()
	given := acquirer.NetworkDecline{Given: true}
	for name, c := range map[string]struct {
		kind acquirer.Kind
		body string
		want acquirer.NetworkDecline
	}{
		"decline":      {auth, outcomeOf(bad, errorOf("2", "2", "")), given},
		"of a sale":    {sale, outcomeOf(bad, errorOf("2", "3", "")), given},
		"card to keep": {auth, outcomeOf(bad, errorOf("2", "4", "")), acquirer.NetworkDecline{Given: true, Code: "04"}},
		"invalid":      {auth, outcomeOf(bad, errorOf("3", "6", "")), acquirer.NetworkDecline{}},
		"not parsed":   {auth, wrap("createTransactionResponse", e00003), acquirer.NetworkDecline{}},
		"of a refund":  {refundKind, outcomeOf(bad, errorOf("2", "2", "")), acquirer.NetworkDecline{}},
		"approval":     {auth, outcomeOf(okay, whole), acquirer.NetworkDecline{}},
	} {
		got, err := decode(asked(c.kind), []byte(c.body))
		if err != nil || got.Network != c.want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got.Network, err, c.want)
		}
	}
	for status, want := range map[string]acquirer.NetworkDecline{
		"declined": given, "generalError": {}, "communicationError": {},
	} {
		d := details{Status: text{true, status}, Type: text{true, typeAuthorize}}
		if got := d.decline().Network; got != want {
			t.Errorf("%s: got %+v, want %+v", status, got, want)
		}
	}
}

const e00003 = "<messages><resultCode>Error</resultCode><message><code>E00003</code></message></messages>"
