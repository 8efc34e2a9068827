package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// sender is a client with its own API key and address.
type sender struct {
	secret, address, hop string
	key                  int64
}

// MustSender creates a key of a kind and returns a client that sends it from an address.
func (b *bundle) MustSender(t *testing.T, kind, address string) *sender {
	t.Helper()
	text := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: kind})
	return &sender{text, address, b.hop, b.number(t, "SELECT MAX(id) FROM api_keys")}
}

// from sends a request as s does.
func from(s *sender) option {
	return func(r *request) {
		as(s.secret)(r)
		header(httpx.ClientAddressField, s.address)(r)
		header(httpx.HopField, s.hop)(r)
	}
}

// wantClient compares the client that one row records, in columns with a prefix. A nil client means
// no client.
func (b *bundle) wantClient(t *testing.T, what string, want *sender, table, prefix string, row int64) {
	t.Helper()
	var got sender
	query := fmt.Sprintf("SELECT %[1]sapi_key_id, %[1]sclient_address FROM %[2]s WHERE id = ?", prefix, table)
	err := b.inspect.QueryRowContext(t.Context(), query, row).Scan(&got.key, &got.address)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if want == nil {
		want = &sender{}
	}
	if got.key != want.key || got.address != want.address {
		t.Errorf("%s: got key %d and address %q, want %d and %q", what, got.key, got.address, want.key, want.address)
	}
}

func setupSenders(t *testing.T) (b *bundle, one, two, payer *sender) {
	t.Helper()
	b = openBundle(t, &bundle{rateLimit: -1, hop: strings.Repeat("h", 43)})
	b.MustAllow(t, true)
	one, two = b.MustSender(t, "secret", "203.0.113.7"), b.MustSender(t, "secret", "2001:db8::1")
	return b, one, two, b.MustSender(t, "publishable", "198.51.100.9")
}

// MustNumber returns the number in a public id.
func MustNumber(t *testing.T, p id.Prefix, text string) int64 {
	t.Helper()
	n, err := id.Parse(p, text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestMoneyRowsNameTheirClient checks that each row of a payment records the API key and the
// address of its request. A transaction also records the clients of its confirmation and its void.
func TestMoneyRowsNameTheirClient(t *testing.T) {
	t.Parallel()
	b, one, two, _ := setupSenders(t)
	created := func(body string, s *sender) (string, int64) {
		t.Helper()
		text := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", body, from(s)), 201).ID
		return text, MustNumber(t, id.Transaction, text)
	}
	captureOf := func(transaction int64) int64 {
		t.Helper()
		return b.number(t, "SELECT id FROM captures WHERE transaction_id = ?", transaction)
	}
	refund := func(body string, s *sender) int64 {
		t.Helper()
		return MustNumber(t, id.Refund, MustDecode[v1.Refund](t, b.post(t, "/v1/refunds", body, from(s)), 201).ID)
	}

	held, n := created(create(1000, manual), one)
	captured := MustDecode[v1.Capture](t, b.capture(t, held, `{"amount":400}`, from(two)), 201)
	capture := MustNumber(t, id.Capture, captured.ID)
	linked := refund(`{"transaction":"`+held+`","amount":100}`, one)
	b.wantClient(t, "an authorization", one, "transactions", "", n)
	b.wantClient(t, "its capture", two, "captures", "", capture)
	b.wantClient(t, "its refund", one, "refunds", "", linked)
	b.wantClient(t, "without a confirmation", nil, "transactions", "confirm_", n)
	b.wantClient(t, "before a void", nil, "transactions", "void_", n)
	unlinked := refund(giving(50, "usd", "pm_card_visa", ""), two)
	b.wantClient(t, "a refund without a transaction", two, "refunds", "", unlinked)

	sold, n := created(create(500, ""), two)
	b.wantClient(t, "a sale", two, "transactions", "", n)
	b.wantClient(t, "the capture of a sale", two, "captures", "", captureOf(n))
	MustDecode[v1.Transaction](t, b.void(t, sold, from(one)), 200)
	b.wantClient(t, "a voided sale", two, "transactions", "", n)
	b.wantClient(t, "the void", one, "transactions", "void_", n)
	b.wantClient(t, "the voided capture", two, "captures", "", captureOf(n))

	canceled, n := created(waiting(""), one)
	MustDecode[v1.Transaction](t, b.void(t, canceled, from(two)), 200)
	b.wantClient(t, "a canceled payment", one, "transactions", "", n)
	b.wantClient(t, "the cancelation", two, "transactions", "void_", n)
}

// TestConfirmationNamesItsClient checks that a confirmation records its own client, also for the
// capture. The client that created the transaction stays recorded.
func TestConfirmationNamesItsClient(t *testing.T) {
	t.Parallel()
	b, one, _, payer := setupSenders(t)
	waits := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", waiting(""), from(one)), 201)
	n := MustNumber(t, id.Transaction, waits.ID)
	b.wantClient(t, "a payment that waits", one, "transactions", "", n)
	b.wantClient(t, "before a confirmation", nil, "transactions", "confirm_", n)
	u := unconfirmed{waits.ID, waits.ClientSecret.Reveal()}
	MustDecode[v1.Transaction](t, b.confirm(t, u.id, u.proven(typedCard), from(payer)), 200)
	b.wantClient(t, "a confirmed payment", one, "transactions", "", n)
	b.wantClient(t, "the confirmation", payer, "transactions", "confirm_", n)
	b.wantClient(t, "the capture of a confirmed sale", payer, "captures", "", b.number(t, "SELECT id FROM captures WHERE transaction_id = ?", n))
}

// TestStoredRowsNameTheirClient checks that tokens, customers and payment methods record the API
// key and the address of the request that created each. Later changes leave them, but detaching a
// payment method erases the address.
func TestStoredRowsNameTheirClient(t *testing.T) {
	t.Parallel()
	b, one, two, payer := setupSenders(t)
	token := MustDecode[v1.Token](t, b.post(t, "/v1/tokens", visa, from(payer)), 201)
	b.wantClient(t, "a token", payer, "tokens", "", b.number(t, "SELECT MAX(id) FROM tokens"))
	customer := MustDecode[v1.Customer](t, b.post(t, "/v1/customers", "{}", from(one)), 201).ID
	path := "/v1/customers/" + customer
	method := MustDecode[v1.PaymentMethod](t, b.attach(t, customer, token.Value.Reveal(), from(two)), 201).ID
	MustDecode[v1.Customer](t, b.do(t, "PATCH", path, `{"default_payment_method":"`+method+`"}`, from(two)), 200)
	b.wantClient(t, "a customer", one, "customers", "", MustNumber(t, id.Customer, customer))
	n := MustNumber(t, id.PaymentMethod, method)
	b.wantClient(t, "a payment method", two, "payment_methods", "", n)
	sold := MustDecode[v1.Transaction](t, b.pay(t, method, "", from(one)), 201).ID
	b.wantClient(t, "a sale from a payment method", one, "transactions", "", MustNumber(t, id.Transaction, sold))
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", path+"/payment_methods/"+method, "", from(one)), 200)
	b.wantClient(t, "a detached payment method", &sender{key: two.key}, "payment_methods", "", n)
	paidByToken := MustDecode[v1.Transaction](t, b.pay(t, b.MustToken(t, visa).Value.Reveal(), "", from(two)), 201).ID
	b.wantClient(t, "a sale by a token", two, "transactions", "", MustNumber(t, id.Transaction, paidByToken))
}

// TestRecoveredRowsNameTheirClient checks that the capture which recovery writes records the client
// that requested the sale or its confirmation. Recovery does not change the clients of the
// transaction.
func TestRecoveredRowsNameTheirClient(t *testing.T) {
	t.Parallel()
	catalogue := MustHurryCatalogue(t, 20*time.Millisecond)
	b := openBundle(t, &bundle{catalogue: catalogue, rateLimit: -1, hop: strings.Repeat("h", 43)})
	one, payer := b.MustSender(t, "secret", "203.0.113.7"), b.MustSender(t, "publishable", "198.51.100.9")
	lost := ""
	for _, s := range MustScenarios(t).Cards {
		if s.Behaviour == "timeout_after" {
			lost = s.PaymentMethod
		}
	}
	unknown := refusal{504, v1.ErrorTypeAPIError, "outcome_unknown", ""}
	sale := wantRefusal(t, b.post(t, "/v1/transactions", create1(lost, ""), from(one)), unknown).Transaction.ID
	waits := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", waiting(""), from(one)), 201)
	u := unconfirmed{waits.ID, waits.ClientSecret.Reveal()}
	wantRefusal(t, b.confirm(t, u.id, u.proven(`,"payment_method":"`+lost+`"`), from(payer)), unknown)
	b.restart(t)
	for transaction, by := range map[string]*sender{sale: one, u.id: payer} {
		if got := b.resolved(t, transaction); got != v1.TransactionStatusCaptured {
			t.Fatalf("got %s, want captured", got)
		}
		n := MustNumber(t, id.Transaction, transaction)
		b.wantClient(t, "a recovered sale", one, "transactions", "", n)
		capture := b.number(t, "SELECT id FROM captures WHERE transaction_id = ?", n)
		b.wantClient(t, "the capture of a recovered sale", by, "captures", "", capture)
	}
	n := MustNumber(t, id.Transaction, u.id)
	b.wantClient(t, "the confirmation of a recovered sale", payer, "transactions", "confirm_", n)
}
