package api_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// erika is the personal data of the payments of these tests.
const erika = `,"billing":{"first_name":"Erika"},"description":"for Erika","metadata":{"name":"Erika"}`

// money is all columns of the transactions that erasures must leave as they are.
const money = `SELECT COALESCE(SUM(amount * 3 + amount_authorized * 5 + amount_captured * 7 + amount_settled * 11 + amount_refunded * 13
	+ version * 17 + updated_at + length(status) * 19), 0) FROM transactions`

// linked counts the terms that link transactions to customers.
const linked = "SELECT COUNT(*) FROM transaction_terms WHERE kind = 1"

// payAndRefund makes a payment and refunds a part of it.
func (b *bundle) payAndRefund(t *testing.T, create string, options ...option) v1.Transaction {
	t.Helper()
	made := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create, options...), 201)
	MustDecode[v1.Refund](t, b.refund(t, made.ID, `,"amount":1`), 201)
	return made
}

// TestDeletedCustomerReachesItsPayments deletes a customer with an old and a young payment. The old
// payment loses its personal data immediately, in its row and its events. The young one loses it at
// the end of its period.
func TestDeletedCustomerReachesItsPayments(t *testing.T) {
	t.Parallel()
	b, one, _, _ := setupSenders(t)
	customer := b.MustCustomer(t, `{"email":"erika@example.com"}`).ID
	method := b.MustAttach(t, customer, visa).ID
	create := paid(method, `,"customer":"`+customer+`"`+erika)
	old := b.payAndRefund(t, create, from(one))
	other := b.MustCreate(t, 700, erika)
	b.clock.Advance(core.LeastKeepPersonal + time.Hour)
	young := b.payAndRefund(t, create, from(one))
	b.settle(t, old.ID)
	before := b.number(t, money)
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+customer, ""), 200)
	b.again(t)
	erased := func(txn string) func() bool {
		return func() bool {
			shown := string(b.get(t, "/v1/transactions/"+txn).body)
			return !strings.Contains(shown, "Erika") && !strings.Contains(shown, customer) && !strings.Contains(shown, method)
		}
	}
	programtest.WaitFor(t, "the old payment is erased", erased(old.ID))
	programtest.WaitFor(t, "the personal data are erased", func() bool {
		return b.number(t, "SELECT COUNT(*) FROM events WHERE object_id = ? AND data LIKE '%Erika%'", MustNumber(t, id.Transaction, old.ID)) == 0
	})
	for _, kept := range []v1.Transaction{young, other} {
		if got := b.transaction(t, kept.ID); got.Billing == nil || got.Description == nil {
			t.Errorf("%s lost its personal data: %+v", kept.ID, got)
		}
	}
	if got := b.number(t, linked); got != 1 {
		t.Errorf("got %d links to the customer, want that of the young payment", got)
	}
	if got := MustDecode[v1.RefundList](t, b.get(t, "/v1/refunds?customer="+customer), 200).Data; len(got) != 1 || got[0].Transaction != young.ID {
		t.Errorf("got the refunds %+v, want that of the young payment", got)
	}
	if got := b.transaction(t, old.ID); got.PaymentMethod != "card" || got.Card.Last4 != "4242" {
		t.Errorf("got %+v", got)
	}
	b.clock.Advance(core.LeastKeepPersonal + time.Hour)
	b.again(t)
	programtest.WaitFor(t, "the young payment is erased", erased(young.ID))
	programtest.WaitFor(t, "no payment is linked", func() bool { return b.number(t, linked) == 0 })
	b.again(t) // a pass that finds nothing to erase
	if got := b.transaction(t, other.ID); got.Billing == nil {
		t.Errorf("a payment without the customer: got %+v", got)
	}
	if got := b.number(t, "SELECT COUNT(*) FROM transactions WHERE erased_at > 0"); got != 2 {
		t.Errorf("got %d erased transactions, want 2", got)
	}
	if before == 0 || b.number(t, "SELECT COUNT(*) FROM transactions WHERE amount_captured <> amount_authorized") != 0 {
		t.Errorf("amounts changed")
	}
}

// TestRefundAfterErasure refunds a payment after its personal data was erased. The refund records
// no client address, the payment stays erased, and the retry returns the first response.
func TestRefundAfterErasure(t *testing.T) {
	t.Parallel()
	b, one, _, _ := setupSenders(t)
	old := b.MustCreate(t, 500, erika)
	b.settle(t, old.ID)
	b.clock.Advance(2 * core.LeastKeepPersonal)
	b.keepPersonal = core.LeastKeepPersonal
	before := b.number(t, money)
	b.again(t)
	programtest.WaitFor(t, "the personal data are erased", func() bool { return b.transaction(t, old.ID).Billing == nil })
	if got := b.number(t, money); got != before {
		t.Errorf("the erasure changed amounts, states or versions: %d, before %d", got, before)
	}
	first := b.refund(t, old.ID, `,"amount":100,"metadata":{"name":"Erika"}`, keyed("k"), from(one))
	r := MustDecode[v1.Refund](t, first, 201)
	if got := b.number(t, "SELECT COUNT(*) FROM refunds WHERE client_address <> ''"); got != 0 {
		t.Errorf("the refund of an erased payment has a client address")
	}
	if got := b.number(t, "SELECT COUNT(*) FROM refunds WHERE api_key_id <> 0"); got != 1 {
		t.Errorf("the refund has no API key")
	}
	b.again(t)
	wantReplay(t, b.refund(t, old.ID, `,"amount":100,"metadata":{"name":"Erika"}`, keyed("k"), from(one)), first)
	b.keepPersonal = 0 // a refund is erased with its payment, for any period
	b.clock.Advance(core.LeastKeepPersonal + time.Hour)
	b.again(t)
	programtest.WaitFor(t, "the personal data are erased", func() bool { return !strings.Contains(string(b.get(t, "/v1/refunds/"+r.ID).body), "Erika") })
	programtest.WaitFor(t, "the personal data are erased", func() bool { return b.number(t, "SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%'") == 0 })
	if got := b.transaction(t, old.ID); got.AmountRefunded != 100 || got.Billing != nil {
		t.Errorf("got %+v", got)
	}
}

// TestPeriodOfAMerchant erases only the payments of the merchant that has its own period. It also
// erases rows that an earlier pass has skipped. Before that, the list of due erasures shows them.
func TestPeriodOfAMerchant(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mine := b.MustCreate(t, 500, erika)
	other := coretest.MustCreateMerchant(t, b.core.Admin())
	key := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: other, Mode: "test", Kind: "secret"})
	theirs := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(500, erika), as(key)), 201)
	b.settle(t, mine.ID)
	b.clock.Advance(2 * core.LeastKeepPersonal)
	days, bad := 60, 59
	if err := b.core.Admin().UpdateMerchant(t.Context(), other, operator.MerchantUpdate{KeepPersonalDays: &bad}); err == nil {
		t.Error("a period of 59 days was accepted")
	}
	b.stopped(t, func(a *admin.Admin) error {
		err := a.UpdateMerchant(t.Context(), other, operator.MerchantUpdate{KeepPersonalDays: &days})
		wantDue(t, a, other, 1)
		wantDue(t, a, b.merchant, 0)
		return err
	})
	shown := func() string { return string(b.get(t, "/v1/transactions/"+theirs.ID, as(key)).body) }
	programtest.WaitFor(t, "the personal data are erased", func() bool { return !strings.Contains(shown(), "Erika") })
	programtest.WaitFor(t, "the merchant's rows are erased", func() bool {
		return b.number(t, "SELECT COUNT(*) FROM erasures WHERE name = 'payment_methods' OR name = 'events'") > 0
	})
	if got := b.transaction(t, mine.ID); got.Billing == nil {
		t.Error("the payment of a merchant without a period was erased")
	}
	b.stopped(t, func(a *admin.Admin) error {
		wantDue(t, a, other, 0)
		// Its payment is older than the erased payment.
		err := a.UpdateMerchant(t.Context(), b.merchant, operator.MerchantUpdate{KeepPersonalDays: &days})
		wantDue(t, a, b.merchant, 1)
		return err
	})
	programtest.WaitFor(t, "the personal data are erased", func() bool { return b.transaction(t, mine.ID).Billing == nil })
}

// stopped runs fn on the store while the service is stopped. No background pass erases rows until
// the service starts again.
func (b *bundle) stopped(t *testing.T, fn func(*admin.Admin) error) {
	t.Helper()
	b.stop(t)
	if err := b.secrets(t, fn); err != nil {
		t.Error(err)
	}
	b.start(t)
}

// wantDue checks how many transactions are due for a merchant.
func wantDue(t *testing.T, a *admin.Admin, merchant string, want int64) {
	t.Helper()
	due, err := a.PersonalDataDue(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := int64(0)
	for _, d := range due {
		if d.Merchant == merchant && d.Kind == "transactions" {
			got += d.Rows
			if d.Mode != "test" || d.Oldest.Before(birth.Add(-time.Minute)) || d.Oldest.After(birth.Add(time.Minute)) {
				t.Errorf("got %+v", d)
			}
		}
	}
	if got != want {
		t.Errorf("%s: got %d transactions due, want %d: %+v", merchant, got, want, due)
	}
}

// TestInactiveCustomersAreDeleted deletes the customers without a payment or a change for the
// period, and no other.
func TestInactiveCustomersAreDeleted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	inactive, payer, changed, attached := b.MustCustomer(t, "{}").ID, b.MustCustomer(t, "{}").ID, b.MustCustomer(t, "{}").ID, b.MustCustomer(t, "{}").ID
	b.MustAttach(t, inactive, visa)
	b.clock.Advance(core.LeastKeepPersonal)
	b.MustCreate(t, 5, `,"customer":"`+payer+`"`)
	MustDecode[v1.Customer](t, b.do(t, "PATCH", "/v1/customers/"+changed, `{"email":"new@example.com"}`), 200)
	b.MustAttach(t, attached, visa)
	b.clock.Advance(time.Hour)
	b.keepCustomers = core.LeastKeepPersonal
	b.again(t)
	programtest.WaitFor(t, "the customer is deleted", func() bool { return b.get(t, "/v1/customers/"+inactive).status == 404 })
	if got := b.number(t, "SELECT COUNT(*) FROM payment_methods WHERE number IS NOT NULL"); got != 1 {
		t.Errorf("got %d stored cards, want the one of an active customer", got)
	}
	programtest.WaitFor(t, "the pass is logged", func() bool { return strings.Contains(b.logs.String(), `"of":"customers"`) })
	for _, active := range []string{payer, changed, attached} {
		if got := b.get(t, "/v1/customers/"+active); got.status != 200 {
			t.Errorf("%s: got %d %s", active, got.status, got.body)
		}
	}
}

// TestPayerStaysAfterItsPaymentIsErased erases the payment of a customer long before the customer's
// period ends. The erasure removes the link between them, and the customer stays with its card.
func TestPayerStaysAfterItsPaymentIsErased(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	b := setup(t)
	payer := b.MustCustomer(t, "{}").ID
	b.MustAttach(t, payer, visa)
	b.clock.Advance(5*day + 12*time.Hour)
	inactive := b.MustCustomer(t, "{}").ID // a pass that deletes it has checked the payer before
	b.clock.Advance(195 * day)
	old := b.MustCreate(t, 500, `,"customer":"`+payer+`"`)
	b.settle(t, old.ID)
	b.clock.Advance(170 * day)
	b.keepPersonal, b.keepCustomers = core.LeastKeepPersonal, 365*day
	b.again(t)
	programtest.WaitFor(t, "the personal data are erased", func() bool { return b.number(t, "SELECT COUNT(*) FROM transactions WHERE erased_at > 0") == 1 })
	if got := b.get(t, "/v1/customers/"+inactive); got.status != 200 {
		t.Fatalf("after the first pass: got %d %s", got.status, got.body)
	}
	b.clock.Advance(day)
	b.again(t)
	programtest.WaitFor(t, "the customer is deleted", func() bool { return b.get(t, "/v1/customers/"+inactive).status == 404 })
	if got := b.get(t, "/v1/customers/"+payer); got.status != 200 {
		t.Errorf("the customer paid 171 days ago, and the period is 365 days: got %d %s", got.status, got.body)
	}
	if got := b.number(t, "SELECT COUNT(*) FROM payment_methods WHERE number IS NOT NULL"); got != 1 {
		t.Errorf("got %d stored cards, want 1", got)
	}
}

// personal returns the personal data of a customer, in every field that can hold it. Long values
// are on separate pages of the database.
func personal() map[string]string {
	return map[string]string{
		"first_name": "Persephone", "last_name": "Quillfeather", "company": "Obsidian Lanterns", "email": "persephone@quill.example",
		"phone": "+4312345999", "reference": "crm-778812", "description": strings.Repeat("prefers marzipan ", 58),
	}
}

const personalMore = `"billing":{"first_name":"Thessaly","address":{"line1":"17 Foxglove Crescent","postal_code":"ZX81 9QQ"}},
	"metadata":{"birthday":"the ides of march"}`

func personalBody() string {
	var body strings.Builder
	for name, value := range personal() {
		fmt.Fprintf(&body, "%q:%q,", name, value)
	}
	return "{" + body.String() + personalMore + "}"
}

// wantForgotten looks for personal data in every file of the stopped service.
func (b *bundle) wantForgotten(t *testing.T) {
	t.Helper()
	words := []string{"old@quill.example", "Foxglove", "Thessaly", "ides of march", "ZX81", "marzipan", "2001:db8::1"}
	for _, value := range personal() {
		words = append(words, value)
	}
	if err := b.inspect.Close(); err != nil { // otherwise the write-ahead log would survive the last connection
		t.Fatal(err)
	}
	b.stop(t)
	for place, text := range b.database.Files(t, b.dir) {
		for _, word := range words {
			if i := bytes.Index(text, []byte(word)); i >= 0 {
				t.Errorf("%s still has %q: …%q…", place, word, text[max(0, i-60):min(len(text), i+60)])
			}
		}
	}
	b.start(t)
}

func TestDeletedCustomerIsErased(t *testing.T) {
	t.Parallel()
	b, _, two, _ := setupSenders(t)
	others := b.MustCustomer(t, ann).ID
	stays := b.MustAttach(t, others, visa).ID
	customer := MustDecode[v1.Customer](t, b.post(t, "/v1/customers", `{"email":"old@quill.example"}`, from(two)), 201).ID
	path := "/v1/customers/" + customer
	MustDecode[v1.Customer](t, b.do(t, "PATCH", path, personalBody()), 200)
	var methods []string
	for range 3 {
		token := b.MustToken(t, visa).Value.Reveal()
		m := MustDecode[v1.PaymentMethod](t, b.post(t, path+"/payment_methods", `{"token":"`+token+`",`+personalMore+`}`, from(two)), 201)
		methods = append(methods, m.ID)
	}
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", path+"/payment_methods/"+methods[0], ""), 200)
	paid := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(5, `,"customer":"`+customer+`"`)), 201)

	gone := MustDecode[v1.Deleted](t, b.do(t, "DELETE", path, ""), 200)
	wantSameJSON(t, gone, v1.Deleted{ID: customer, Object: "customer", Deleted: true})
	if got := b.number(t, `SELECT COUNT(*) FROM payment_methods WHERE details <> '{}' OR fingerprint <> '' OR number IS NOT NULL`); got != 1 {
		t.Errorf("payment methods that say anything: got %d, want the other customer's", got)
	}
	if got := MustDecode[v1.PaymentMethod](t, b.get(t, "/v1/customers/"+others+"/payment_methods/"+stays), 200); got.Card.Last4 != "4242" {
		t.Errorf("the other customer's payment method: got %+v", got)
	}
	if got := b.transaction(t, paid.ID); got.Customer == nil || *got.Customer != customer || got.Card == nil {
		t.Errorf("the transaction lost what it recorded: %+v", got)
	}
	counted := 0
	for _, e := range MustDecode[v1.EventList](t, b.get(t, "/v1/events?limit=100"), 200).Data {
		if text := string(e.Data.Object); strings.Contains(text, customer) && !strings.HasPrefix(string(e.Type), "transaction.") {
			counted++
			for _, word := range []string{"4242", "fingerprint", "email", "quill", "billing"} {
				if strings.Contains(text, word) {
					t.Errorf("%s: found %s in %s", e.Type, word, text)
				}
			}
		}
	}
	if want := 3 + 3*3 + 1; counted != want { // created, updated, deleted; attached, each an update, and detached, one an update
		t.Errorf("events: got %d, want %d", counted, want)
	}
	b.wantForgotten(t)
}

// TestEraseAgainstEverything: a concurrent request runs before the deletion, or finds no customer.
// No personal data remains.
func TestEraseAgainstEverything(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for round := range 40 {
		customer := b.MustCustomer(t, `{"email":"old@quill.example"}`).ID
		path := "/v1/customers/" + customer
		method := b.MustAttach(t, customer, visa).ID
		token := b.MustToken(t, visa).Value.Reveal()
		type call struct{ verb, path, body string }
		calls := []call{
			{"DELETE", path, ""},
			{"POST", "/v1/transactions", paid(method, "")},
			{"PATCH", path, personalBody()},
			{"POST", path + "/payment_methods", `{"token":"` + token + `",` + personalMore + `}`},
		}
		got := make([]response, len(calls))
		var wg sync.WaitGroup
		for i, c := range calls {
			wg.Go(func() {
				var err error
				if got[i], err = b.try(t, c.verb, c.path, c.body); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got[0].status != 200 {
			t.Fatalf("delete: got %d %s", got[0].status, got[0].body)
		}
		for i, may := range map[int][2]int{1: {201, 400}, 2: {200, 404}, 3: {201, 404}} {
			if s := got[i].status; s != may[0] && s != may[1] {
				t.Errorf("round %d: %s %s: got %d %s", round, calls[i].verb, calls[i].path, s, got[i].body)
			}
		}
	}
	if got := b.number(t, "SELECT COUNT(*) FROM payment_methods WHERE number IS NOT NULL OR details <> '{}'"); got != 0 {
		t.Errorf("%d payment methods say something", got)
	}
	b.wantForgotten(t)
}
