package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (b *bundle) update(t *testing.T, id, body string, options ...option) response {
	t.Helper()
	return b.do(t, http.MethodPatch, "/v1/transactions/"+id, body, options...)
}

func changedPrice() refusal {
	return refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_changed", "amount"}
}

// price returns the fields of a confirmation of an amount in US dollars.
func price(amount int) string { return fmt.Sprintf(`,"amount":%d,"currency":"usd"`, amount) }

// TestUpdateAtAnyState: the merchant changes reference, description and metadata of a transaction
// in each state. Each change has an event, and a request without a change has none.
func TestUpdateAtAnyState(t *testing.T) {
	t.Parallel()
	b := setupWith(t, MustHurryCatalogue(t, 20*time.Millisecond))
	made := map[v1.TransactionStatus]string{
		v1.TransactionStatusRequiresConfirmation: b.MustPrepare(t, "").id,
		v1.TransactionStatusCanceled:             b.MustPrepare(t, "").id,
		v1.TransactionStatusCaptured:             b.MustCreate(t, 500, "").ID,
		v1.TransactionStatusAuthorized:           b.MustCreate(t, 500, manual).ID,
		v1.TransactionStatusPartiallyCaptured:    b.MustCreate(t, 500, manual).ID,
		v1.TransactionStatusVoided:               b.MustCreate(t, 500, manual).ID,
		v1.TransactionStatusExpired:              b.MustCreate(t, 500, manual).ID,
		v1.TransactionStatusDeclined: wantRefusal(t, b.post(t, "/v1/transactions", paid("pm_card_declined", "")),
			cardDeclined()).Transaction.ID,
	}
	b.void(t, made[v1.TransactionStatusCanceled])
	b.void(t, made[v1.TransactionStatusVoided])
	b.capture(t, made[v1.TransactionStatusPartiallyCaptured], `{"amount":200}`)
	b.post(t, "/v1/test_helpers/transactions/"+made[v1.TransactionStatusExpired]+"/expire", "")
	for status, txn := range made {
		b.wantUpdates(t, txn, status)
		if status == v1.TransactionStatusRequiresConfirmation {
			continue
		}
		for early, value := range map[string]string{
			"amount": "500", "statement_descriptor": `"x"`, "billing": "{}", "shipping": "{}", "order": "{}",
		} {
			wantRefusal(t, b.update(t, txn, `{"`+early+`":`+value+`,"description":"no"}`),
				refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_not_changeable", early})
		}
	}
}

// wantUpdates changes the texts of a transaction with a status, changes nothing, and removes the
// texts. Then the first request again gets the same response, and changes nothing.
func (b *bundle) wantUpdates(t *testing.T, txn string, status v1.TransactionStatus) {
	t.Helper()
	was := b.transaction(t, txn)
	if was.Status != status {
		t.Fatalf("got %s, want %s", was.Status, status)
	}
	body := `{"reference":"order 7","description":"a mug","metadata":{"k":"v"}}`
	first := b.update(t, txn, body, keyed(string(status)))
	got := MustDecode[v1.Transaction](t, first, 200)
	if *got.Reference != "order 7" || *got.Description != "a mug" || got.Metadata["k"] != "v" || got.Version != was.Version+1 ||
		got.Status != status || amountsOf(got) != amountsOf(was) {
		t.Errorf("%s: got %s", status, first.body)
	}
	events := b.listEvents(t, "object="+txn)
	if e := events[0]; e.Type != "transaction.updated" || e.Sequence != got.Version ||
		strings.TrimSpace(string(e.Data.Object)) != strings.TrimSpace(string(first.body)) {
		t.Errorf("%s: the last event is %s %d %s", status, e.Type, e.Sequence, e.Data.Object)
	}
	same := MustDecode[v1.Transaction](t, b.update(t, txn, body), 200)
	if same.Version != got.Version || len(b.listEvents(t, "object="+txn)) != len(events) {
		t.Errorf("%s: an equal update made version %d", status, same.Version)
	}
	bare := MustDecode[v1.Transaction](t, b.update(t, txn, `{"description":"","metadata":{"k":""},"reference":""}`), 200)
	if bare.Description != nil || bare.Reference != nil || len(bare.Metadata) != 0 {
		t.Errorf("%s: got %+v", status, bare)
	}
	wantReplay(t, b.update(t, txn, body, keyed(string(status))), first)
	if now := b.transaction(t, txn); now.Description != nil {
		t.Errorf("%s: the replay changed the transaction", status)
	}
}

// TestUpdateOfAnUnknownPayment: a payment with a lost response can be changed, and its outcome then
// shows the change.
func TestUpdateOfAnUnknownPayment(t *testing.T) {
	t.Parallel()
	b := setupWith(t, MustHurryCatalogue(t, 20*time.Millisecond))
	e := wantRefusal(t, b.post(t, "/v1/transactions", paid("pm_card_timeout_after_effect", "")),
		refusal{504, v1.ErrorTypeAPIError, "outcome_unknown", ""})
	txn := e.Transaction.ID
	if a := b.update(t, txn, `{"description":"late"}`); a.status != 200 {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	b.restart(t)
	if got := b.resolved(t, txn); got != v1.TransactionStatusCaptured {
		t.Fatalf("got %s, want captured", got)
	}
	events := b.listEvents(t, "object="+txn)
	for i, event := range events {
		if want := int64(len(events) - i); event.Sequence != want {
			t.Errorf("%s: got sequence %d, want %d", event.Type, event.Sequence, want)
		}
	}
	if shown := string(events[0].Data.Object); !strings.Contains(shown, `"description":"late"`) {
		t.Errorf("the last event does not show the change: %s", shown)
	}
}

// TestUpdateBeforeTheConfirmation: the merchant changes the amount and the details of an order, and
// the payer pays the new amount.
func TestUpdateBeforeTheConfirmation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := b.MustPrepare(t, `,"reference":"order 7"`+manual)
	body := `{"amount":700,"statement_descriptor":"SHOP*7","billing":{"address":{"postal_code":"46201"}},` +
		`"shipping":{"company":"Acme"},"order":{"purchase_order_number":"7"}}`
	got := MustDecode[v1.Transaction](t, b.update(t, u.id, body), 200)
	if got.Amount != 700 || got.Version != 1 || *got.StatementDescriptor != "SHOP*7" || *got.Shipping.Company != "Acme" ||
		*got.Order.PurchaseOrderNumber != "7" || *got.Reference != "order 7" || got.ClientSecret != nil {
		t.Errorf("got %+v", got)
	}
	got = MustDecode[v1.Transaction](t, b.confirm(t, u.id, `{`+typedCard[1:]+price(700)+`}`), 200)
	if got.AmountAuthorized != 700 || got.Checks.PostalCode != "no_match" || *got.Shipping.Company != "Acme" {
		t.Errorf("confirmed: got %+v", got)
	}
	yen := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", strings.Replace(waiting(""), "usd", "jpy", 1)), 201).ID
	MustDecode[v1.Transaction](t, b.update(t, yen, `{"amount":1501}`), 200)
	wantRefusal(t, b.confirm(t, yen, `{"payment_method":"card","amount":150100,"currency":"jpy"}`), changedPrice())
	got = MustDecode[v1.Transaction](t, b.confirm(t, yen, `{"payment_method":"card","amount":1501,"currency":"jpy"}`), 200)
	if got.AmountCaptured != 1501 || got.Currency != "jpy" {
		t.Errorf("yen: got %d %s", got.AmountCaptured, got.Currency)
	}
	zero := b.MustPrepare(t, manual)
	MustDecode[v1.Transaction](t, b.update(t, zero.id, `{"amount":0}`), 200)
	MustDecode[v1.Transaction](t, b.confirm(t, zero.id, `{"payment_method":"card"`+price(0)+`}`), 200)
	b.wantTransaction(t, zero.id, v1.TransactionStatusAuthorized, amounts{})
}

// TestConfirmOfAChangedAmount: a page that shows an earlier amount cannot pay the new one. The
// token stays unused.
func TestConfirmOfAChangedAmount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	u := b.MustPrepare(t, "")
	token := b.MustToken(t, visa).Value.Reveal()
	source := `,"payment_method":"` + token + `"`
	wantRefusal(t, b.confirm(t, u.id, u.proven(source+price(501)), pk), changedPrice())
	wantRefusal(t, b.confirm(t, u.id, u.proven(source+`,"amount":500,"currency":"eur"`), pk), changedPrice())
	MustDecode[v1.Transaction](t, b.update(t, u.id, `{"amount":500}`), 200) // no change
	MustDecode[v1.Transaction](t, b.update(t, u.id, `{"amount":900}`), 200)
	first := b.confirm(t, u.id, u.proven(source), pk, keyed("k"))
	e := wantRefusal(t, first, changedPrice())
	if e.Transaction.Amount != 900 || e.Transaction.Status != v1.TransactionStatusRequiresConfirmation {
		t.Errorf("got %s", first.body)
	}
	wantRefusal(t, b.confirm(t, u.id, u.proven(source+price(500)), pk), changedPrice())
	wantRefusal(t, b.confirm(t, u.id, u.proven(source), as(b.key)), changedPrice())
	MustDecode[v1.Transaction](t, b.update(t, u.id, `{"amount":500}`), 200)
	wantRefusal(t, b.confirm(t, u.id, u.proven(source), pk), changedPrice()) // a page may still show 900
	wantReplay(t, b.confirm(t, u.id, u.proven(source), pk, keyed("k")), first)
	got := MustDecode[v1.Transaction](t, b.confirm(t, u.id, u.proven(source+price(500)), pk), 200)
	if got.AmountCaptured != 500 || got.Version != 3 {
		t.Errorf("got %d version %d", got.AmountCaptured, got.Version)
	}
	wantReplay(t, b.confirm(t, u.id, u.proven(source), pk, keyed("k")), first)
	same := b.MustPrepare(t, "")
	MustDecode[v1.Transaction](t, b.confirm(t, same.id, same.proven(typedCard+price(500)), pk), 200)
}

// TestUpdateAndConfirmAtOnce: the amount changes while payers confirm. The payment is of the amount
// that the successful confirmation named.
func TestUpdateAndConfirmAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for round := range 8 {
		u := b.MustPrepare(t, "")
		var confirmed sync.Map
		var wg sync.WaitGroup
		for amount := 501; amount <= 504; amount++ {
			wg.Go(func() {
				if _, err := b.try(t, http.MethodPatch, "/v1/transactions/"+u.id, fmt.Sprintf(`{"amount":%d,"description":"%d"}`, amount, amount)); err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() {
				a, err := b.try(t, "POST", "/v1/transactions/"+u.id+"/confirm", `{"payment_method":"pm_card_visa"`+price(amount)+`}`)
				if err != nil {
					t.Error(err)
				}
				if a.status == 200 {
					confirmed.Store(int64(amount), true)
				}
			})
		}
		wg.Wait()
		got, won := b.transaction(t, u.id), 0
		confirmed.Range(func(amount, _ any) bool {
			won++
			if got.AmountCaptured != amount.(int64) || got.Amount != amount.(int64) {
				t.Errorf("round %d: %d was confirmed, and %d of %d is captured", round, amount, got.AmountCaptured, got.Amount)
			}
			return true
		})
		if won > 1 || won == 0 && got.AmountCaptured != 0 {
			t.Errorf("round %d: %d confirmations succeeded, captured %d", round, won, got.AmountCaptured)
		}
		sequences := []int64{}
		for _, e := range b.listEvents(t, "object="+u.id) { // in the order in which the commands began
			sequences = append(sequences, e.Sequence)
		}
		slices.Sort(sequences)
		for i, sequence := range sequences {
			if int64(len(sequences)) != got.Version || sequence != int64(i+1) {
				t.Errorf("round %d: version %d has events %v", round, got.Version, sequences)
				break
			}
		}
	}
}

// TestUpdatedReferenceFinds: lists find a transaction by its new reference only.
func TestUpdatedReferenceFinds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	paid := b.MustCreate(t, 500, `,"reference":"old"`).ID
	find := func(reference string, want ...string) {
		t.Helper()
		got := []string{}
		for _, found := range MustDecode[v1.TransactionList](t, b.get(t, "/v1/transactions?reference="+reference), 200).Data {
			got = append(got, found.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", reference, got, want)
		}
	}
	MustDecode[v1.Transaction](t, b.update(t, paid, `{"reference":"new"}`), 200)
	find("new", paid)
	find("old")
	MustDecode[v1.Transaction](t, b.update(t, paid, `{"description":"x"}`), 200)
	find("new", paid)
	MustDecode[v1.Transaction](t, b.update(t, paid, `{"reference":""}`), 200)
	find("new")
	if got := b.number(t, "SELECT COUNT(*) FROM transaction_terms WHERE kind = 2"); got != 0 {
		t.Errorf("%d references are left", got)
	}
}

func TestUpdateThatIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u, pk := b.MustPrepare(t, ""), b.publishable(t)
	before := b.effects(t)
	for body, want := range map[string]refusal{
		"":                                      invalid("invalid_json", ""),
		`{"currency":"eur"}`:                    invalid("unknown_field", "currency"),
		`{"amount":-1}`:                         invalid("invalid_amount", "amount"),
		`{"amount":0}`:                          invalid("invalid_amount", "amount"),
		`{"amount":1000000000000}`:              invalid("invalid_amount", "amount"),
		`{"amount":1.5}`:                        invalid("invalid_amount", "amount"),
		`{"amount":"500"}`:                      invalid("invalid_amount", "amount"),
		`{"reference":null}`:                    invalid("invalid_type", "reference"),
		`{"description":"4242 4242 4242 4242"}`: invalid("card_number_in_text", "description"),
		`{"statement_descriptor":"` + strings.Repeat("x", 23) + `"}`: invalid("invalid_value", "statement_descriptor"),
		`{"order":{"tax_amount":-1}}`:                                invalid("invalid_amount", "order.tax_amount"),
		`{"metadata":{"":"x"}}`:                                      invalid("invalid_value", "metadata"),
	} {
		wantRefusal(t, b.update(t, u.id, body), want)
	}
	missing := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"}
	wantRefusal(t, b.update(t, id.Format(id.Transaction, 12345), `{}`), missing)
	wantRefusal(t, b.update(t, "x", `{}`), missing)
	other := setup(t)
	wantRefusal(t, other.update(t, u.id, `{"description":"x"}`), missing)
	wantRefusal(t, b.update(t, u.id, `{}`, pk), refusal{403, v1.ErrorTypePermissionError, "publishable_key_not_allowed", ""})
	if got := b.effects(t); got != before {
		t.Errorf("rows: got %s, want %s", got, before)
	}
	for body, want := range map[string]refusal{
		`{"payment_method":"card","amount":500}`:                          invalid("missing_field", "currency"),
		`{"payment_method":"card","currency":"usd"}`:                      invalid("missing_field", "amount"),
		`{"payment_method":"card","amount":-1,"currency":"usd"}`:          invalid("invalid_amount", "amount"),
		`{"payment_method":"card","amount":500,"currency":"xyz"}`:         invalid("unknown_currency", "currency"),
		`{"payment_method":"card","amount":500,"currency":"USD"}`:         invalid("unknown_currency", "currency"),
		`{"payment_method":"card","amount":5000000000000,"currency":"u"}`: invalid("invalid_amount", "amount"),
	} {
		wantRefusal(t, b.confirm(t, u.id, body), want)
	}
}

// TestUpdateOfMetadata: an update keeps the entries that it does not name: another program may have
// written them. It removes an entry with an empty text. The result has at most 50 entries.
func TestUpdateOfMetadata(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 500, `,"metadata":{"order":"7","group":"a"}`).ID
	for _, c := range []struct {
		body string
		want v1.Metadata
	}{
		{`{"order":"8","color":"red"}`, v1.Metadata{"order": "8", "group": "a", "color": "red"}},
		{`{}`, v1.Metadata{"order": "8", "group": "a", "color": "red"}},
		{`{"color":"","size":""}`, v1.Metadata{"order": "8", "group": "a"}},
	} {
		got := MustDecode[v1.Transaction](t, b.update(t, txn, `{"metadata":`+c.body+`}`), 200)
		if !maps.Equal(got.Metadata, c.want) {
			t.Errorf("%s: got %v, want %v", c.body, got.Metadata, c.want)
		}
	}
	many := make([]string, 49)
	for i := range many {
		many[i] = fmt.Sprintf(`"k%d":"v"`, i)
	}
	body := `{"metadata":{` + strings.Join(many, ",") + `}}`
	wantRefusal(t, b.update(t, txn, body), invalid("invalid_value", "metadata"))
	if got := b.transaction(t, txn).Metadata; len(got) != 2 {
		t.Errorf("after a refusal: got %v", got)
	}
	MustDecode[v1.Transaction](t, b.update(t, txn, `{"metadata":{"group":""}}`), 200)
	if got := MustDecode[v1.Transaction](t, b.update(t, txn, body), 200); len(got.Metadata) != 50 {
		t.Errorf("got %d entries, want 50", len(got.Metadata))
	}
	customer := "/v1/customers/" + b.MustCustomer(t, "{}").ID
	hook := "/v1/webhook_endpoints/" + b.MustHook(t, somewhere).ID
	for path, entries := range map[string]func(response) v1.Metadata{
		customer: func(a response) v1.Metadata { return MustDecode[v1.Customer](t, a, 200).Metadata },
		hook:     func(a response) v1.Metadata { return MustDecode[v1.WebhookEndpoint](t, a, 200).Metadata },
	} {
		entries(b.do(t, "PATCH", path, `{"metadata":{"order":"7","group":"a"}}`))
		got := entries(b.do(t, "PATCH", path, `{"metadata":{"order":"","color":"red"}}`))
		if !maps.Equal(got, v1.Metadata{"group": "a", "color": "red"}) {
			t.Errorf("%s: got %v", path, got)
		}
		wantRefusal(t, b.do(t, "PATCH", path, body), invalid("invalid_value", "metadata"))
	}
}
