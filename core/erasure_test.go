package core_test

import (
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/admin"
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

// TestDeletedCustomerReachesItsPayments deletes a customer with an old and a young payment. The old
// one loses its personal data at once, in its row and its events; the young one follows at its
// time.
func TestDeletedCustomerReachesItsPayments(t *testing.T) {
	t.Parallel()
	b, one, _, _ := setupSenders(t)
	customer := b.MustCustomer(t, `{"email":"erika@example.com"}`).ID
	method := b.MustAttach(t, customer, visa).ID
	pay := func() v1.Transaction {
		return MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", paid(method, `,"customer":"`+customer+`"`+erika), from(one)), 201)
	}
	old := pay()
	other := b.MustCreate(t, 700, erika)
	b.clock.Advance(core.LeastKeepPersonal + time.Hour)
	young := pay()
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
	b.keepPersonal = 0 // the refund follows its payment, under any period
	b.clock.Advance(core.LeastKeepPersonal + time.Hour)
	b.again(t)
	programtest.WaitFor(t, "the personal data are erased", func() bool { return !strings.Contains(string(b.get(t, "/v1/refunds/"+r.ID).body), "Erika") })
	programtest.WaitFor(t, "the personal data are erased", func() bool { return b.number(t, "SELECT COUNT(*) FROM events WHERE data LIKE '%Erika%'") == 0 })
	if got := b.transaction(t, old.ID); got.AmountRefunded != 100 || got.Billing != nil {
		t.Errorf("got %+v", got)
	}
}

// TestPeriodOfAMerchant erases only the payments of the merchant that has its own period. It also
// erases rows that an earlier erasure has passed. The list of due erasures has them before.
func TestPeriodOfAMerchant(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mine := b.MustCreate(t, 500, erika)
	other := MustCreateMerchant(t, b.core.Admin())
	key := MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: other, Mode: "test", Kind: "secret"})
	theirs := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(500, erika), as(key)), 201)
	b.settle(t, mine.ID)
	b.clock.Advance(2 * core.LeastKeepPersonal)
	days, bad := 60, 59
	if err := b.core.Admin().UpdateMerchant(t.Context(), other, admin.MerchantChange{Day: admin.Day{Cutoff: admin.SameCutoff}, KeepPersonal: &bad}); err == nil {
		t.Error("a period of 59 days was accepted")
	}
	update := func(merchant string) {
		t.Helper()
		if err := b.core.Admin().UpdateMerchant(t.Context(), merchant, admin.MerchantChange{Day: admin.Day{Cutoff: admin.SameCutoff}, KeepPersonal: &days}); err != nil {
			t.Fatal(err)
		}
	}
	update(other)
	b.wantDue(t, other, 1)
	b.wantDue(t, b.merchant, 0)
	b.again(t)
	shown := func() string { return string(b.get(t, "/v1/transactions/"+theirs.ID, as(key)).body) }
	programtest.WaitFor(t, "the personal data are erased", func() bool { return !strings.Contains(shown(), "Erika") })
	programtest.WaitFor(t, "the merchant's rows are erased", func() bool {
		return b.number(t, "SELECT COUNT(*) FROM erasures WHERE name = 'payment_methods' OR name = 'events'") > 0
	})
	if got := b.transaction(t, mine.ID); got.Billing == nil {
		t.Error("the payment of a merchant without a period was erased")
	}
	b.wantDue(t, other, 0)
	update(b.merchant) // its payment is older than the one that was erased
	b.wantDue(t, b.merchant, 1)
	b.again(t)
	programtest.WaitFor(t, "the personal data are erased", func() bool { return b.transaction(t, mine.ID).Billing == nil })
}

// wantDue checks how many transactions are due for a merchant.
func (b *bundle) wantDue(t *testing.T, merchant string, want int64) {
	t.Helper()
	due, err := b.core.Admin().PersonalDataDue(t.Context(), 0, 0)
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
	inactive := b.MustCustomer(t, "{}").ID // the pass that deletes it has decided about the payer before
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
