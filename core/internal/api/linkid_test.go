package api_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestNetworkLinkID: a payment by a card of Mastercard has a link id, which payments of the same
// agreement name. Other networks have none.
func TestNetworkLinkID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	card := func(number string) string {
		return `,"card":{"number":"` + number + `","exp_month":12,"exp_year":2032}`
	}
	first := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create1("card", card("5555555555554444"))), 201)
	link := v1.Text(first.Authorization.NetworkLinkID)
	if len(link) != 22 || link != v1.Text(b.transaction(t, first.ID).Authorization.NetworkLinkID) {
		t.Errorf("got the link id %q, want 22 characters that stay", link)
	}
	again := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create1("card", card("5555555555554444")+
		`,"initiator":{"type":"merchant","reason":"recurring","previous_network_link_id":"`+link+`"}`)), 201)
	if got := v1.Text(b.transaction(t, again.ID).Initiator.PreviousNetworkLinkID); got != link {
		t.Errorf("got the earlier link id %q, want %q", got, link)
	}
	visa := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create1("card", card("4111111111111111"))), 201)
	if visa.Authorization.NetworkLinkID != nil || visa.Authorization.NetworkTransactionID == nil {
		t.Errorf("a card of Visa: got %+v, want no link id", visa.Authorization)
	}
	for _, wrong := range []string{"", strings.Repeat("A", 21), strings.Repeat("A", 23), strings.Repeat("A", 21) + " "} {
		wantRefusal(t, b.post(t, "/v1/transactions", create1("card", card("5555555555554444")+
			`,"initiator":{"type":"customer","previous_network_link_id":"`+wrong+`"}`)),
			invalid("invalid_value", "initiator.previous_network_link_id"))
	}
}

// TestInitiatorReachesTheAcquirer: the acquirer gets the party, the reason and both earlier ids.
func TestInitiatorReachesTheAcquirer(t *testing.T) {
	t.Parallel()
	b := setupScripted(t)
	want := acquirer.Initiator{
		Type: "merchant", Reason: "recurring", PreviousNetworkTransactionID: "016150703802094",
		PreviousNetworkLinkID: strings.Repeat("L", 22),
	}
	status, got, _ := b.post(t, "/v1/transactions", create1("pm_card_visa", `,"initiator":{"type":"merchant","reason":"recurring",`+
		`"previous_network_transaction_id":"`+want.PreviousNetworkTransactionID+`",`+
		`"previous_network_link_id":"`+want.PreviousNetworkLinkID+`"}`), "k")
	if calls := b.Acquirer.Calls(coretest.Authorize); status != 201 || len(calls) != 1 || calls[0].Initiator != want {
		t.Errorf("got %d %s and the calls %+v, want %+v", status, got, calls, want)
	}
}
