package api_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// cardDeclined is the refusal of a declined confirmation.
func cardDeclined() refusal { return refusal{402, v1.ErrorTypeCardError, "card_declined", ""} }

// notConfirmable is the refusal of a confirmation that comes too late.
func notConfirmable() refusal {
	return refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_not_confirmable", ""}
}

// declinedCard is a body of a token whose card is declined.
func declinedCard() string { return strings.Replace(visa, "4242424242424242", "4000000000009987", 1) }

// TestConfirmAgain: after a decline the payer uses another card. The used token is refused. The
// transaction shows the last decline until the next confirmation, and each change has an event.
func TestConfirmAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	u := b.MustPrepare(t, `,"reference":"order 7","capture":"manual"`)
	token := b.MustToken(t, declinedCard()).Value.Reveal()
	declined := b.confirm(t, u.id, u.proven(`,"payment_method":"`+token+`"`), pk, keyed("k"))
	e := wantRefusal(t, declined, cardDeclined())
	if *e.DeclineCode != "generic_decline" || e.Transaction.Status != v1.TransactionStatusRequiresConfirmation ||
		e.Transaction.Checks != nil || e.Transaction.Authorization != nil {
		t.Errorf("the payer's view: got %s", declined.body)
	}
	got := b.wantTransaction(t, u.id, v1.TransactionStatusRequiresConfirmation, amounts{})
	if got.Version != 1 || got.Card != nil || got.PaymentMethod != "" || *got.DeclineCode != "lost_card" ||
		got.Checks.Cvc != "match" || got.Authorization.ResponseCode != "41" || *got.Reference != "order 7" {
		t.Errorf("waiting again: got %+v", got)
	}
	wantRefusal(t, b.confirm(t, u.id, u.proven(`,"payment_method":"`+token+`"`), pk), invalid("token_used", "payment_method"))
	approved := b.MustToken(t, visa).Value.Reveal()
	MustDecode[v1.Transaction](t, b.confirm(t, u.id, u.proven(`,"payment_method":"`+approved+`"`), pk, keyed("l")), 200)
	after := b.wantTransaction(t, u.id, v1.TransactionStatusAuthorized, amounts{500, 0, 0, 500, 0})
	if after.DeclineCode != nil || after.PaymentMethod != tokenID(approved) || after.Card.Last4 != "4242" {
		t.Errorf("confirmed: got %+v", after)
	}
	wantReplay(t, b.confirm(t, u.id, u.proven(`,"payment_method":"`+token+`"`), pk, keyed("k")), declined)
	events := b.listEvents(t, "object="+u.id)
	if got, want := types(events), []string{"transaction.authorized", "transaction.confirmation_declined"}; !slices.Equal(got, want) {
		t.Fatalf("events: got %v, want %v", got, want)
	}
	shown := MustDecode[v1.Transaction](t, response{status: 200, body: events[1].Data.Object}, 200)
	if events[1].Sequence != 1 || shown.Status != v1.TransactionStatusRequiresConfirmation || *shown.DeclineCode != "lost_card" {
		t.Errorf("event: got sequence %d, %+v", events[1].Sequence, shown)
	}
	MustDecode[v1.Capture](t, b.capture(t, u.id, ""), 201)
	MustDecode[v1.Refund](t, b.refund(t, u.id, ""), 201)
}

// TestTheFifthDeclineIsFinal: a restart and confirmations that the acquirer did not receive do not
// change the count.
func TestTheFifthDeclineIsFinal(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := b.MustPrepare(t, "")
	for i := range 5 {
		wantRefusal(t, b.confirm(t, u.id, by("pm_card_unavailable")), refusal{503, v1.ErrorTypeAPIError, "acquirer_unavailable", ""})
		e := wantRefusal(t, b.confirm(t, u.id, by("pm_card_declined")), cardDeclined())
		want := v1.TransactionStatusRequiresConfirmation
		if i == 4 {
			want = v1.TransactionStatusDeclined
		}
		if got := b.wantTransaction(t, u.id, want, amounts{}); e.Transaction.Status != want || got.Version != int64(i+1) {
			t.Errorf("decline %d: got %s in the response, version %d, want %s", i+1, e.Transaction.Status, got.Version, want)
		}
		b.restart(t)
	}
	wantRefusal(t, b.confirm(t, u.id, by("pm_card_visa")), notConfirmable())
	if got := types(b.listEvents(t, "object="+u.id)); len(got) != 5 || got[0] != "transaction.declined" {
		t.Errorf("events: got %v, want 5 that end with a final decline", got)
	}
}

// TestADeclinedCreateIsFinal: only a confirmation can be repeated.
func TestADeclinedCreateIsFinal(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := wantRefusal(t, b.post(t, "/v1/transactions", paid("pm_card_declined", "")), cardDeclined())
	b.wantTransaction(t, e.Transaction.ID, v1.TransactionStatusDeclined, amounts{})
	wantRefusal(t, b.confirm(t, e.Transaction.ID, by("pm_card_visa")), notConfirmable())
}

// TestAWaitAfterADeclineEnds: the wait still ends 24 hours after the creation, or by a void.
func TestAWaitAfterADeclineEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lapses, voided := b.MustPrepare(t, ""), b.MustPrepare(t, "")
	for _, u := range []unconfirmed{lapses, voided} {
		wantRefusal(t, b.confirm(t, u.id, by("pm_card_declined")), cardDeclined())
	}
	got := MustDecode[v1.Transaction](t, b.void(t, voided.id), 200)
	if got.Status != v1.TransactionStatusCanceled || got.Version != 2 {
		t.Errorf("voided: got %s version %d", got.Status, got.Version)
	}
	MustDecode[v1.TestClock](t, b.post(t, "/v1/test_helpers/clock/advance", `{"seconds":86400}`), 200)
	got = b.wantTransaction(t, lapses.id, v1.TransactionStatusCanceled, amounts{})
	if got.Failure.Code != "not_confirmed" || got.DeclineCode != nil {
		t.Errorf("lapsed: got %+v", got)
	}
	wantRefusal(t, b.confirm(t, lapses.id, by("pm_card_visa")), notConfirmable())
}

// TestALostConfirmationIsFinal: if the acquirer's response was lost, no other confirmation can
// follow after any outcome.
func TestALostConfirmationIsFinal(t *testing.T) {
	t.Parallel()
	b := setupWith(t, MustHurryCatalogue(t, 20*time.Millisecond))
	for _, c := range []struct {
		method string
		want   v1.TransactionStatus
		moved  amounts
	}{
		{"pm_card_timeout_before_effect", v1.TransactionStatusFailed, amounts{}},
		{"pm_card_timeout_after_effect", v1.TransactionStatusCaptured, amounts{500, 500, 0, 0, 500}},
	} {
		u := b.MustPrepare(t, "")
		wantRefusal(t, b.confirm(t, u.id, by(c.method)), refusal{504, v1.ErrorTypeAPIError, "outcome_unknown", ""})
		b.restart(t)
		if got := b.resolved(t, u.id); got != c.want {
			t.Errorf("%s: got %s, want %s", c.method, got, c.want)
		}
		wantRefusal(t, b.confirm(t, u.id, by("pm_card_visa")), notConfirmable())
		b.wantTransaction(t, u.id, c.want, c.moved)
	}
}

// TestADeclineLeavesNoLink: a declined confirmation by a customer's card leaves no link to the
// customer. A payer cannot then use that customer's payment methods.
func TestADeclineLeavesNoLink(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	customer := b.MustCustomer(t, "{}").ID
	bad, good := b.MustAttach(t, customer, declinedCard()).ID, b.MustAttach(t, customer, visa).ID
	u := b.MustPrepare(t, "")
	wantRefusal(t, b.confirm(t, u.id, by(bad)), cardDeclined())
	wantRefusal(t, b.confirm(t, u.id, u.proven(`,"payment_method":"`+good+`"`), pk), invalid("invalid_value", "payment_method"))
	if got := MustDecode[v1.TransactionList](t, b.get(t, "/v1/transactions?customer="+customer), 200).Data; len(got) != 0 {
		t.Errorf("the customer has %d transactions", len(got))
	}
	if got := b.number(t, "SELECT COUNT(*) FROM transaction_terms WHERE kind = 1"); got != 0 {
		t.Errorf("links to customers: got %d", got)
	}
	if got := b.transaction(t, u.id); got.Customer != nil || got.PaymentMethod != "" {
		t.Errorf("got %+v", got)
	}
	wantRefusal(t, b.confirm(t, u.id, ""), invalid("missing_field", "payment_method"))
}

// TestConfirmManyDeclinesAtOnce: of concurrent confirmations that are declined, each one counts
// once, and at most five reach the acquirer.
func TestConfirmManyDeclinesAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := b.MustPrepare(t, "")
	const clients = 16
	statuses := make([]int, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for statuses[i] != 402 && statuses[i] != 409 {
				a, err := b.try(t, "POST", "/v1/transactions/"+u.id+"/confirm", by("pm_card_declined"))
				if err != nil {
					t.Error(err)
					return
				}
				if statuses[i] = a.status; strings.Contains(string(a.body), "operation_in_progress") {
					statuses[i] = 0 // again
				}
			}
		})
	}
	wg.Wait()
	declined := len(slices.DeleteFunc(slices.Clone(statuses), func(status int) bool { return status != 402 }))
	if got := b.wantTransaction(t, u.id, v1.TransactionStatusDeclined, amounts{}); declined != 5 || got.Version != 5 {
		t.Errorf("declined %d times, version %d, want 5: %v", declined, got.Version, statuses)
	}
}

// TestDeclinesHaveALimit: a client that tries stolen cards from one address gets 429 before it has
// tried many. Other addresses and secret keys are not affected, and the address recovers.
func TestDeclinesHaveALimit(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, hop: strings.Repeat("h", 43)})
	payer := b.MustSender(t, "publishable", "")
	at := func(address string) option { return from(&sender{secret: payer.secret, address: address, hop: b.hop}) }
	limited := refusal{429, v1.ErrorTypeRateLimitError, "too_many_declines", ""}
	card := `,"payment_method":"pm_card_declined"`
	var first response
	waits := make([]unconfirmed, 6)
	for i := range waits {
		waits[i] = b.MustPrepare(t, "")
	}
	for i := range 20 {
		u := waits[i/4]
		a := b.confirm(t, u.id, u.proven(card), at("203.0.113.7"), keyed(fmt.Sprint(i)))
		wantRefusal(t, a, cardDeclined())
		if i == 0 { // a replay does not count
			first = a
			wantReplay(t, b.confirm(t, u.id, u.proven(card), at("203.0.113.7"), keyed("0")), first)
		}
	}
	last := waits[5]
	wantReplay(t, b.confirm(t, waits[0].id, waits[0].proven(card), at("203.0.113.7"), keyed("0")), first)
	a := b.confirm(t, last.id, last.proven(`,"payment_method":"pm_card_visa"`), at("203.0.113.7"), keyed("k"))
	wantRefusal(t, a, limited)
	if got := a.header.Get("Retry-After"); got != "360" || a.header.Get("RateLimit") != `"address";r=0;t=7200` ||
		a.header.Get("RateLimit-Policy") != `"address";q=20;w=7200` {
		t.Errorf("got Retry-After %s, %v", got, a.header)
	}
	b.wantTransaction(t, last.id, v1.TransactionStatusRequiresConfirmation, amounts{})
	wantRefusal(t, b.confirm(t, id.Format(id.Transaction, 12345), `{"client_secret":"x"}`, at("203.0.113.7")),
		refusal{403, v1.ErrorTypePermissionError, "invalid_client_secret", "client_secret"})
	other := b.MustPrepare(t, "")
	wantRefusal(t, b.confirm(t, other.id, other.proven(card), at("198.51.100.7")), cardDeclined())
	wantRefusal(t, b.confirm(t, other.id, by("pm_card_declined")), cardDeclined())
	b.clock.Advance(360 * time.Second)
	MustDecode[v1.Transaction](t, b.confirm(t, last.id, last.proven(`,"payment_method":"pm_card_visa"`), at("203.0.113.7"), keyed("k")), 200)
}

// TestDeclinesOfFewAddresses: four addresses with as many declines as possible do not keep other
// payers of their network of 16 bits from paying.
func TestDeclinesOfFewAddresses(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, hop: strings.Repeat("h", 43)})
	payer := b.MustSender(t, "publishable", "")
	at := func(address string) option { return from(&sender{secret: payer.secret, address: address, hop: b.hop}) }
	for i := range 20 {
		u := b.MustPrepare(t, "")
		address := fmt.Sprintf("100.64.%d.1", i/5)
		for range 4 {
			wantRefusal(t, b.confirm(t, u.id, u.proven(`,"payment_method":"pm_card_declined"`), at(address)), cardDeclined())
		}
	}
	u := b.MustPrepare(t, "")
	MustDecode[v1.Transaction](t, b.confirm(t, u.id, u.proven(`,"payment_method":"pm_card_visa"`), at("100.64.77.5")), 200)
}

// TestDeclinesAtOnceHaveALimit: concurrent confirmations from one address do not get more declines
// than its limit.
func TestDeclinesAtOnceHaveALimit(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, hop: strings.Repeat("h", 43)})
	payer := b.MustSender(t, "publishable", "")
	const clients = 40
	waits := make([]unconfirmed, clients)
	for i := range waits {
		waits[i] = b.MustPrepare(t, "")
	}
	statuses := make([]int, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for statuses[i] == 0 {
				a, err := b.try(t, "POST", "/v1/transactions/"+waits[i].id+"/confirm", waits[i].proven(`,"payment_method":"pm_card_declined"`),
					from(&sender{secret: payer.secret, address: "203.0.113.7", hop: b.hop}))
				if err != nil {
					t.Error(err)
					return
				}
				if statuses[i] = a.status; strings.Contains(string(a.body), "operation_in_progress") {
					statuses[i] = 0 // again
				}
			}
		})
	}
	wg.Wait()
	slices.Sort(statuses)
	if statuses[19] != 402 || statuses[20] != 429 {
		t.Errorf("got %v, want 402 20 times", statuses)
	}
}
