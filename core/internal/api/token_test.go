package api_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// visa is a token's body for the approving card, with a security code that matches.
const visa = `{"card":{"number":"4242424242424242","exp_month":12,"exp_year":2030,"cvc":"900","holder":"A. Payer"}}`

// MustToken exchanges a card or bank account for a token.
func (b *bundle) MustToken(t *testing.T, body string) v1.Token {
	t.Helper()
	return MustDecode[v1.Token](t, b.post(t, "/v1/tokens", body), 201)
}

// tokenID returns the public part of a token's value.
func tokenID(value string) string { return value[:len("tok_")+13] }

// paid returns a create by a payment method that is named.
func paid(method, more string) string {
	return `{"amount":500,"currency":"usd","payment_method":"` + method + `"` + more + `}`
}

// pay pays by a payment method that is named.
func (b *bundle) pay(t *testing.T, method, more string, options ...option) response {
	t.Helper()
	return b.post(t, "/v1/transactions", paid(method, more), options...)
}

func TestToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	token := b.MustToken(t, visa)
	c := token.Card
	if token.Mode != v1.ModeTest || token.Kind != v1.StoredKindCard || token.Used || token.UsedAt != nil || c == nil {
		t.Fatalf("got %+v", token)
	}
	if c.Brand != v1.CardBrandVisa || c.Last4 != "4242" || c.ExpYear != 2030 || *c.Holder != "A. Payer" || len(c.Fingerprint) != 32 {
		t.Errorf("card: got %+v", c)
	}
	if got, want := token.ExpiresAt.Time, birth.Add(time.Hour); !got.Equal(want) {
		t.Errorf("expires at: got %s, want %s", got, want)
	}
	b.clock.Advance(time.Minute)
	txn := MustDecode[v1.Transaction](t, b.pay(t, token.Value.Reveal(), ""), 201)
	if txn.PaymentMethod != token.ID || *txn.Card.Holder != "A. Payer" || txn.Card.Fingerprint != c.Fingerprint || txn.Customer != nil {
		t.Errorf("transaction: got %+v", txn)
	}
	if got, want := txn.Checks.Cvc, v1.CheckResult("match"); got != want {
		t.Errorf("cvc: got %s, want %s", got, want)
	}
	read := MustDecode[v1.Token](t, b.get(t, "/v1/tokens/"+token.ID), 200)
	if !read.Used || !read.UsedAt.Equal(birth.Add(time.Minute)) || read.Value != nil {
		t.Errorf("after its use: got %+v", read)
	}
	if got := b.number(t, "SELECT COUNT(*) FROM security_codes"); got != 0 {
		t.Error("the security code outlived the first use")
	}
	typed := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", `{"amount":1,"currency":"usd","payment_method":"card",
		"card":{"number":"4242424242424242","exp_month":1,"exp_year":2031}}`), 201)
	if typed.Card.Fingerprint != c.Fingerprint {
		t.Error("the same card has another fingerprint as a token")
	}
}

func TestTokenOfABankAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	token := b.MustToken(t, `{"bank_account":{`+accountFields+`}}`)
	if token.Kind != v1.StoredKindBankAccount || token.Card != nil || token.BankAccount == nil || token.BankAccount.Last4 != "6789" {
		t.Fatalf("got %+v", token)
	}
	wantRefusal(t, b.pay(t, token.Value.Reveal(), manual), invalid("invalid_value", "capture"))
	txn := MustDecode[v1.Transaction](t, b.pay(t, token.Value.Reveal(), ""), 201)
	if txn.BankAccount == nil || txn.BankAccount.Fingerprint != token.BankAccount.Fingerprint || txn.Status != v1.TransactionStatusCaptured {
		t.Errorf("got %+v", txn)
	}
}

// TestTokenOnce: a second use of any kind is refused, and changes nothing.
func TestTokenOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	token := b.MustToken(t, visa).Value.Reveal()
	first := b.pay(t, token, "", keyed("first"))
	MustDecode[v1.Transaction](t, first, 201)
	before := b.effects(t)
	for range 2 {
		wantRefusal(t, b.pay(t, token, "", keyed("second")), invalid("token_used", "payment_method"))
		wantRefusal(t, b.attach(t, customer, token, keyed("third")), invalid("token_used", "token"))
	}
	wantReplay(t, b.pay(t, token, "", keyed("first")), first)
	b.clock.Advance(23 * time.Hour)
	wantReplay(t, b.pay(t, token, "", keyed("first")), first)
	if got, want := b.effects(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
	declined := b.MustToken(t, strings.Replace(visa, "4242424242424242", "4000000000009995", 1)).Value.Reveal()
	wantRefusal(t, b.pay(t, declined, ""), refusal{402, v1.ErrorTypeCardError, "card_declined", ""})
	wantRefusal(t, b.pay(t, declined, ""), invalid("token_used", "payment_method"))
}

func TestTokenExpires(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	inTime, late, attached := b.MustToken(t, visa).Value.Reveal(), b.MustToken(t, visa).Value.Reveal(), b.MustToken(t, visa).Value.Reveal()
	b.clock.Advance(59*time.Minute + 59*time.Second)
	MustDecode[v1.Transaction](t, b.pay(t, inTime, ""), 201)
	b.clock.Advance(time.Second)
	wantRefusal(t, b.pay(t, late, ""), invalid("token_expired", "payment_method"))
	b.clock.Advance(time.Second)
	before := b.effects(t)
	wantRefusal(t, b.pay(t, late, "", keyed("k")), invalid("token_expired", "payment_method"))
	wantRefusal(t, b.attach(t, customer, attached), invalid("token_expired", "token"))
	if got, want := b.effects(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
	if got := MustDecode[v1.Token](t, b.get(t, "/v1/tokens/"+tokenID(late)), 200); got.Used || got.Card.Last4 != "4242" {
		t.Errorf("an expired token: got %+v", got)
	}
}

// TestTokenAtOnce: of many concurrent payments by one token one succeeds, and the others have no
// effect.
func TestTokenAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	for i := range rounds {
		token := b.MustToken(t, visa).Value.Reveal()
		buy := request{path: "/v1/transactions", body: paid(token, "")}
		attach := request{path: "/v1/customers/" + customer + "/payment_methods", body: `{"token":"` + token + `"}`}
		got := b.race(t, buy, buy, attach, buy)
		if got, want := statuses(got), []int{201, 400, 400, 400}; !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		effects := b.number(t, "SELECT (SELECT COUNT(*) FROM transactions) + (SELECT COUNT(*) FROM payment_methods)")
		if got, want := effects, int64(i+1); got != want {
			t.Fatalf("effects: got %d, want %d", got, want)
		}
	}
}

func TestTokenReplay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.post(t, "/v1/tokens", visa, keyed("k"))
	wantReplay(t, b.post(t, "/v1/tokens", visa, keyed("k")), first)
	wantReplay(t, b.post(t, "/v1/tokens", strings.Replace(visa, "900", "901", 1), keyed("k")), first)
	wantKeyReused(t, b.post(t, "/v1/tokens", strings.Replace(visa, "2030", "2031", 1), keyed("k")))
	if got := b.number(t, "SELECT COUNT(*) FROM tokens"); got != 1 {
		t.Errorf("got %d tokens, want 1", got)
	}
}

// TestTokenReturns: a payment that the acquirer never received returns its token, with the security
// code.
func TestTokenReturns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const away = "4000000000000101"
	token := b.MustToken(t, strings.Replace(visa, "4242424242424242", away, 1)).Value.Reveal()
	unavailable := refusal{503, v1.ErrorTypeAPIError, "acquirer_unavailable", ""}
	for range 2 {
		wantRefusal(t, b.pay(t, token, "", keyed("k")), unavailable)
		if MustDecode[v1.Token](t, b.get(t, "/v1/tokens/"+tokenID(token)), 200).Used {
			t.Fatal("the token stays used")
		}
		if got := b.number(t, "SELECT COUNT(*) FROM security_codes"); got != 1 {
			t.Fatal("the security code did not come back")
		}
	}
	b.clock.Advance(time.Hour)
	wantRefusal(t, b.pay(t, token, "", keyed("k")), invalid("token_expired", "payment_method"))
}

func TestBadTokens(t *testing.T) {
	t.Parallel()
	b := setup(t)
	card := func(fields string) string { return `{"card":{` + fields + `}}` }
	b.wantRefused(t, "/v1/tokens", []badInput{
		{"nothing", "{}", invalid("missing_field", "card"), nil},
		{"both", visa[:len(visa)-1] + `,"bank_account":{` + accountFields + `}}`, invalid("invalid_value", "bank_account"), nil},
		{"null", `{"card":null}`, invalid("invalid_type", "card"), nil},
		{"another field", `{"number":"4242424242424242"}`, invalid("unknown_field", "number"), nil},
		{"another field of the card", card(`"pin":"1"`), invalid("unknown_field", "card.pin"), nil},
		{"no number", card(`"exp_month":1,"exp_year":2030`), invalid("missing_field", "card.number"), nil},
		{"a wrong number", card(`"number":"4242424242424241","exp_month":1,"exp_year":2030`), invalid("invalid_card_number", "card.number"), nil},
		{"an expired card", card(`"number":"4242424242424242","exp_month":1,"exp_year":2020`), invalid("expired_card", "card.exp_year"), nil},
		{"a short code", card(`"number":"4242424242424242","exp_month":1,"exp_year":2030,"cvc":"12"`), invalid("invalid_cvc", "card.cvc"), nil},
		{"a bad routing number", `{"bank_account":{` + strings.Replace(accountFields, "110000000", "110000001", 1) + `}}`, invalid("invalid_value", "bank_account.routing_number"), nil},
	})
	for _, name := range []string{"x", "tok_0000000000001", "txn_0000000000001", "tok_0000000000000"} {
		wantRefusal(t, b.get(t, "/v1/tokens/"+name), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
		wantRefusal(t, b.pay(t, name, ""), invalid("unknown_payment_method", "payment_method"))
	}
}

// TestTokensOfOthers: a token exists only for its merchant, in its mode.
func TestTokensOfOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	token := b.MustToken(t, visa).Value.Reveal()
	live := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"}))
	other := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: coretest.MustCreateMerchant(t, b.core.Admin()), Mode: "test", Kind: "secret"}))
	for _, key := range []option{live, other} {
		wantRefusal(t, b.get(t, "/v1/tokens/"+tokenID(token), key), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
		wantRefusal(t, b.pay(t, token, "", key), invalid("unknown_payment_method", "payment_method"))
	}
	MustDecode[v1.Transaction](t, b.pay(t, token, ""), 201)
	ofLive := MustDecode[v1.Token](t, b.post(t, "/v1/tokens", visa, live), 201)
	if ofLive.Mode != v1.ModeLive {
		t.Errorf("mode: got %s", ofLive.Mode)
	}
	wantRefusal(t, b.pay(t, ofLive.Value.Reveal(), "", live), refusal{503, v1.ErrorTypeAPIError, "acquirer_not_configured", ""})
	if MustDecode[v1.Token](t, b.get(t, "/v1/tokens/"+ofLive.ID, live), 200).Used {
		t.Error("a payment that was refused used the token")
	}
}

// TestPublishableKeysTokenize: a publishable key creates tokens, and cannot read them later.
func TestPublishableKeysTokenize(t *testing.T) {
	t.Parallel()
	b := setup(t)
	publishable := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "publishable"}))
	token := MustDecode[v1.Token](t, b.post(t, "/v1/tokens", visa, publishable), 201).Value.Reveal()
	for method, path := range map[string]string{"GET": "/v1/tokens/" + tokenID(token), "POST": "/v1/customers", "DELETE": "/v1/customers/x"} {
		a := b.do(t, method, path, "", publishable)
		wantRefusal(t, a, refusal{403, v1.ErrorTypePermissionError, "publishable_key_not_allowed", ""})
	}
	MustDecode[v1.Transaction](t, b.pay(t, token, ""), 201)
}

// TestTokenMovedInTheStore: a sealed number that is copied to another token does not open there,
// and nothing is charged.
func TestTokenMovedInTheStore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rich, poor := b.MustToken(t, visa).Value.Reveal(), b.MustToken(t, visa).Value.Reveal()
	b.write(t, fmt.Sprintf(`UPDATE tokens SET number = (SELECT number FROM tokens WHERE id = %d) WHERE id = %d`, numberOf(t, "tok", tokenID(rich)), numberOf(t, "tok", tokenID(poor))))
	wantRefusal(t, b.pay(t, poor, ""), refusal{500, v1.ErrorTypeAPIError, "internal_error", ""})
	if got := b.number(t, "SELECT COUNT(*) FROM transactions"); got != 0 {
		t.Errorf("got %d transactions, want none", got)
	}
	MustDecode[v1.Transaction](t, b.pay(t, rich, ""), 201)
}

// TestPanicWithAStoredCard: after a panic, neither a stored card nor a typed card is shown.
func TestPanicWithAStoredCard(t *testing.T) {
	t.Parallel()
	b := setupScripted(t)
	const number, cvc = "4539578763621486", "735"
	status, got, _ := b.post(t, "/v1/tokens", `{"card":{"number":"`+number+`","exp_month":12,"exp_year":2030,"cvc":"`+cvc+`"}}`, "token")
	var token v1.Token
	if err := json.Unmarshal(got, &token); err != nil || status != 201 {
		t.Fatalf("got %d %s, %v", status, got, err)
	}
	b.Acquirer.Before = func(context.Context, coretest.Call) error {
		panic(fmt.Sprint("card ", number, " cvc ", cvc))
	}
	status, got, _ = b.post(t, "/v1/transactions", `{"amount":1,"currency":"usd","payment_method":"`+token.Value.Reveal()+`"}`, "k")
	if status != 500 {
		t.Errorf("got %d %s", status, got)
	}
	if !strings.Contains(b.Log.String(), `"msg":"panic"`) {
		t.Error("the panic was not logged")
	}
	b.Acquirer.Before = nil
	if open := b.Recover(t); open != 0 {
		t.Fatalf("%d stay open", open)
	}
	places := b.Files(t)
	places["the responses"], places["the log"] = got, []byte(b.Log.String())
	for place, text := range places {
		for _, s := range []string{number[4:13], `"` + cvc + `"`, "cvc " + cvc} {
			if strings.Contains(string(text), s) {
				t.Errorf("%s: found %q", place, s)
			}
		}
	}
}
