package api_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// waiting returns the body of a create that waits for its confirmation.
func waiting(more string) string {
	return `{"amount":500,"currency":"usd","confirm":false` + more + `}`
}

// unconfirmed is a transaction that waits to be confirmed, with its client secret.
type unconfirmed struct{ id, secret string }

func (b *bundle) MustPrepare(t *testing.T, more string) unconfirmed {
	t.Helper()
	got := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", waiting(more)), 201)
	if got.Status != v1.TransactionStatusRequiresConfirmation || got.ClientSecret == nil {
		t.Fatalf("got %s with secret %v, want it to wait, with a secret", got.Status, got.ClientSecret)
	}
	return unconfirmed{got.ID, got.ClientSecret.Reveal()}
}

func (b *bundle) confirm(t *testing.T, id, body string, options ...option) response {
	t.Helper()
	return b.post(t, "/v1/transactions/"+id+"/confirm", body, options...)
}

// proven returns the body of a confirmation with its client_secret.
func (u unconfirmed) proven(more string) string {
	return `{"client_secret":"` + u.secret + `"` + more + `}`
}

const typedCard = `,"payment_method":"card","card":{"number":"5555555555554444","exp_month":12,"exp_year":2030,"cvc":"900"}`

func (b *bundle) publishable(t *testing.T) option {
	t.Helper()
	return as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "publishable"}))
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		name, create, confirm string
		status                v1.TransactionStatus
		want                  amounts
		method                string
	}{
		{"a typed card", "", `{` + typedCard[1:] + `}`, v1.TransactionStatusCaptured, amounts{500, 500, 0, 0, 500}, "card"},
		{"authorized only", manual, `{"payment_method":"pm_card_visa"}`, v1.TransactionStatusAuthorized, amounts{500, 0, 0, 500, 0}, "pm_card_visa"},
		{"the method of the create", `,"payment_method":"pm_card_amex"`, "", v1.TransactionStatusCaptured, amounts{500, 500, 0, 0, 500}, "pm_card_amex"},
		{"another than that of the create", `,"payment_method":"pm_card_amex"`, `{"payment_method":"pm_card_visa"}`, v1.TransactionStatusCaptured, amounts{500, 500, 0, 0, 500}, "pm_card_visa"},
		{"a bank account", "", `{"payment_method":"bank_account","bank_account":{` + accountFields + `}}`, v1.TransactionStatusCaptured, amounts{500, 500, 0, 0, 500}, "bank_account"},
		{"a network token", "", `{"payment_method":"network_token","network_token":{` + tokenFields + `}}`, v1.TransactionStatusCaptured, amounts{500, 500, 0, 0, 500}, "network_token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := b.MustPrepare(t, c.create+`,"reference":"order 7","metadata":{"k":"v"}`)
			before := b.wantTransaction(t, u.id, v1.TransactionStatusRequiresConfirmation, amounts{})
			if before.Version != 0 || before.ClientSecret != nil || before.Card != nil || before.Authorization != nil {
				t.Errorf("waiting: got %+v", before)
			}
			b.clock.Advance(time.Second) // only a second: recovery claims the step of an older request
			got := MustDecode[v1.Transaction](t, b.confirm(t, u.id, c.confirm), 200)
			read := b.wantTransaction(t, u.id, c.status, c.want)
			if got.PaymentMethod != c.method || got.Version != 1 || got.Status != c.status || read.PaymentMethod != c.method {
				t.Errorf("got %s by %s version %d, want %s by %s", got.Status, got.PaymentMethod, got.Version, c.status, c.method)
			}
			if *read.Reference != "order 7" || read.Metadata["k"] != "v" || read.ClientSecret != nil || got.ClientSecret != nil {
				t.Errorf("got %+v", read)
			}
			wantRefusal(t, b.confirm(t, u.id, c.confirm), refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_not_confirmable", ""})
		})
	}
}

func TestConfirmChecksWhatThePayerGave(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := b.MustPrepare(t, `,"billing":{"address":{"postal_code":"46201"}}`+manual)
	got := MustDecode[v1.Transaction](t, b.confirm(t, u.id, `{`+typedCard[1:]+`,"three_d_secure":{"eci":"02","cavv":"AAAA"}}`), 200)
	if got.Checks.PostalCode != "no_match" || got.Checks.Cvc != "match" || got.ThreeDSecure.Eci != "02" {
		t.Errorf("got %+v", got)
	}
	u = b.MustPrepare(t, `,"billing":{"address":{"postal_code":"46201"}}`+manual)
	got = MustDecode[v1.Transaction](t, b.confirm(t, u.id, `{"payment_method":"card","billing":{"address":{"postal_code":"98004"}}}`), 200)
	if got.Checks.PostalCode != "match" || *got.Billing.Address.PostalCode != "98004" {
		t.Errorf("got %+v", got)
	}
	zero := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", strings.Replace(waiting(manual), "500", "0", 1)), 201).ID
	MustDecode[v1.Transaction](t, b.confirm(t, zero, `{"payment_method":"card"}`), 200)
	b.wantTransaction(t, zero, v1.TransactionStatusAuthorized, amounts{})
}

func TestConfirmDeclined(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := b.MustPrepare(t, "")
	e := wantRefusal(t, b.confirm(t, u.id, `{"payment_method":"pm_card_lost"}`), refusal{402, v1.ErrorTypeCardError, "card_declined", ""})
	if *e.DeclineCode != "lost_card" || e.Transaction.ID != u.id {
		t.Errorf("got %+v", e)
	}
	b.wantTransaction(t, u.id, v1.TransactionStatusRequiresConfirmation, amounts{})
	wantRefusal(t, b.capture(t, u.id, ""), refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_not_capturable", ""})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := b.MustPrepare(t, "")
	wantRefusal(t, b.capture(t, u.id, ""), refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_not_capturable", ""})
	wantRefusal(t, b.refund(t, u.id, ""), refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_not_refundable", ""})
	first := b.void(t, u.id, keyed("cancel"))
	got := MustDecode[v1.Transaction](t, first, 200)
	if got.Status != v1.TransactionStatusCanceled || got.Version != 1 {
		t.Errorf("got %s version %d, want canceled", got.Status, got.Version)
	}
	if again := b.void(t, u.id, keyed("cancel")); string(again.body) != string(first.body) || again.header.Get("Idempotent-Replayed") == "" {
		t.Errorf("again: got %s, want %s", again.body, first.body)
	}
	wantRefusal(t, b.confirm(t, u.id, `{"payment_method":"card"}`), refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_not_confirmable", ""})
	wantRefusal(t, b.void(t, u.id), refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_not_voidable", ""})
	if got := b.number(t, "SELECT COUNT(*) FROM events WHERE type = 'transaction.canceled' AND sequence = 1"); got != 1 {
		t.Errorf("events: got %d, want 1", got)
	}
}

func TestConfirmWithPublishableKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	u, other := b.MustPrepare(t, ""), b.MustPrepare(t, "")
	live := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "publishable"}))
	before := b.rows(t)
	wrong := refusal{403, v1.ErrorTypePermissionError, "invalid_client_secret", "client_secret"}
	absent := id.Format(id.Transaction, 12345)
	wantRefusal(t, b.confirm(t, u.id, `{"payment_method":"card"}`, pk), invalid("missing_field", "client_secret"))
	wantRefusal(t, b.confirm(t, absent, `{"payment_method":"card"}`, pk), invalid("missing_field", "client_secret"))
	wantRefusal(t, b.confirm(t, u.id, "", pk), invalid("missing_field", "client_secret"))
	for _, secret := range []string{"x", other.secret, u.secret[:len(u.secret)-1], u.secret + "0", strings.ToUpper(u.secret)} {
		body := `{"client_secret":"` + secret + `","payment_method":"card"}`
		wantRefusal(t, b.confirm(t, u.id, body, pk), wrong)
		wantRefusal(t, b.confirm(t, u.id, body), wrong)       // a wrong client secret is refused for a secret key too
		wantRefusal(t, b.confirm(t, absent, body, pk), wrong) // and does not reveal whether it exists
	}
	stranger := setup(t)
	wantRefusal(t, stranger.confirm(t, u.id, u.proven(typedCard), stranger.publishable(t)), wrong)
	wantRefusal(t, b.confirm(t, u.id, u.proven(typedCard), live), wrong)
	if got, want := b.rows(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
	MustDecode[v1.Transaction](t, b.confirm(t, u.id, u.proven(typedCard), pk), 200)
	MustDecode[v1.Transaction](t, b.confirm(t, other.id, other.proven(typedCard)), 200)
	b.restart(t)
	last := b.MustPrepare(t, "")
	b.restart(t) // the secret follows from the root secret, which outlives the process
	MustDecode[v1.Transaction](t, b.confirm(t, last.id, last.proven(typedCard), pk), 200)
}

// TestPayerSeesOnlyTheirOwn: a publishable key reads no data of the merchant and no response of the
// acquirer.
func TestPayerSeesOnlyTheirOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	private := `,"reference":"privately","description":"privately","metadata":{"privately":"so"},"order":{"purchase_order_number":"privately"},
		"shipping":{"company":"privately"},"initiator":{"type":"customer","previous_network_transaction_id":"privately"}`
	allowed := []string{
		"id", "object", "mode", "status", "amount", "currency", "amount_authorized", "amount_captured", "amount_refunded", "amount_capturable",
		"amount_refundable", "settlement", "capture", "partial_authorization", "payment_method", "card", "statement_descriptor", "decline_code", "metadata", "version",
		"created_at", "updated_at",
	}
	check := func(name string, body []byte) {
		t.Helper()
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(body, &fields); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(body), "privately") {
			t.Errorf("%s: the payer sees too much: %s", name, body)
		}
		for _, name := range allowed {
			delete(fields, name)
		}
		if len(fields) != 0 {
			t.Errorf("%s: more than the payer may see: %v", name, fields)
		}
	}
	u := b.MustPrepare(t, private)
	first := b.confirm(t, u.id, u.proven(typedCard), pk, keyed("k"))
	MustDecode[v1.Transaction](t, first, 200)
	check("confirmed", first.body)
	again := b.confirm(t, u.id, u.proven(typedCard), pk, keyed("k"))
	if string(again.body) != string(first.body) || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("replay: got %s, want %s", again.body, first.body)
	}
	conflict := b.confirm(t, u.id, u.proven(typedCard), pk)
	e := wantRefusal(t, conflict, refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_not_confirmable", ""})
	if e.Transaction == nil || e.Transaction.Reference != nil || len(e.Transaction.Metadata) != 0 || strings.Contains(string(conflict.body), "privately") {
		t.Errorf("refused: got %s", conflict.body)
	}
	for method, category := range map[string]v1.DeclineCode{
		"pm_card_lost": "generic_decline", "pm_card_stolen": "generic_decline", "pm_card_pickup": "generic_decline",
		"pm_card_suspected_fraud": "generic_decline", "pm_card_insufficient_funds": "insufficient_funds",
	} {
		u := b.MustPrepare(t, private)
		a := b.confirm(t, u.id, u.proven(`,"payment_method":"`+method+`"`), pk)
		e := wantRefusal(t, a, refusal{402, v1.ErrorTypeCardError, "card_declined", ""})
		if *e.DeclineCode != category || *e.Transaction.DeclineCode != category || e.Transaction.Authorization != nil || strings.Contains(string(a.body), "privately") {
			t.Errorf("%s: got %s", method, a.body)
		}
	}
	if got := b.transaction(t, u.id); *got.Reference != "privately" {
		t.Error("the merchant's own view lost what the payer's leaves out")
	}
}

func TestClientSecretIsShownOnceAndKeptNowhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.post(t, "/v1/transactions", waiting(""), keyed("k"))
	got := MustDecode[v1.Transaction](t, first, 201)
	secret := got.ClientSecret.Reveal()
	if want := got.ID + "_secret_"; !strings.HasPrefix(secret, want) || len(secret) != len(want)+48 {
		t.Errorf("got a secret of %d characters, want %s and 48 more", len(secret), want)
	}
	again := b.post(t, "/v1/transactions", waiting(""), keyed("k"))
	if string(again.body) != string(first.body) || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("replay: got %s, want %s", again.body, first.body)
	}
	proof := strings.TrimPrefix(secret, got.ID+"_secret_")
	for _, a := range []response{
		b.get(t, "/v1/transactions/"+got.ID), b.get(t, "/v1/transactions"),
		b.confirm(t, got.ID, `{"client_secret":"`+secret+`","payment_method":"card"}`), b.void(t, got.ID),
		b.post(t, "/v1/transactions", create(1, "")),
	} {
		if strings.Contains(string(a.body), proof) || strings.Contains(string(a.body), "client_secret") {
			t.Errorf("the secret is in %s", a.body)
		}
	}
	b.restart(t)
	if again := b.post(t, "/v1/transactions", waiting(""), keyed("k")); string(again.body) != string(first.body) {
		t.Errorf("replay after a restart: got %s, want %s", again.body, first.body)
	}
	b.restart(t)
	found := b.database.Files(t, b.dir)
	found["log"] = []byte(b.logs.String())
	for path, content := range found {
		if strings.Contains(string(content), proof) {
			t.Errorf("the secret is in %s", path)
		}
	}
}

// TestConfirmTwiceAtOnce: of many confirmations of one transaction, one has its effect.
func TestConfirmTwiceAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := b.MustPrepare(t, "")
	const clients = 16
	responses := make([]response, clients)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			a, err := b.try(t, "POST", "/v1/transactions/"+u.id+"/confirm", `{"payment_method":"pm_card_visa"}`)
			if err != nil {
				t.Error(err)
			}
			responses[i] = a
		})
	}
	wg.Wait()
	won := 0
	for _, a := range responses {
		switch a.status {
		case 200:
			won++
		case 409:
		default:
			t.Errorf("got %d %s", a.status, a.body)
		}
	}
	if won != 1 {
		t.Errorf("%d confirmations went through, want 1", won)
	}
	b.wantTransaction(t, u.id, v1.TransactionStatusCaptured, amounts{500, 500, 0, 0, 500})
	if got := b.number(t, "SELECT COUNT(*) FROM events WHERE type = 'transaction.captured'"); got != 1 {
		t.Errorf("events: got %d, want 1", got)
	}
}

func TestConfirmThatIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	card := `,"card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}`
	b.wantRefused(t, "/v1/transactions", []badInput{
		{"card before", waiting(`,"payment_method":"card"` + card), invalid("invalid_value", "card"), nil},
		{"token before", waiting(`,"payment_method":"network_token","network_token":{` + tokenFields + `}`), invalid("invalid_value", "network_token"), nil},
		{"account before", waiting(`,"payment_method":"bank_account","bank_account":{` + accountFields + `}`), invalid("invalid_value", "bank_account"), nil},
		{"3-D Secure before", waiting(`,"three_d_secure":{"eci":"05"}`), invalid("invalid_value", "three_d_secure"), nil},
		{"unknown method", waiting(`,"payment_method":"pm_nobody"`), invalid("unknown_payment_method", "payment_method"), nil},
		{"confirm as text", strings.Replace(waiting(""), "false", `"no"`, 1), invalid("invalid_type", "confirm"), nil},
		{"confirm null", strings.Replace(waiting(""), "false", "null", 1), invalid("invalid_type", "confirm"), nil},
		{"confirm true without method", strings.Replace(waiting(""), "false", "true", 1), invalid("missing_field", "payment_method"), nil},
		{"secret in the create", waiting(`,"client_secret":"x"`), invalid("unknown_field", "client_secret"), nil},
	})
	held := b.MustPrepare(t, manual).id
	euro := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", strings.Replace(waiting(""), "usd", "eur", 1)), 201).ID
	account := `{"payment_method":"bank_account","bank_account":{` + accountFields + `}}`
	b.wantRefused(t, "/v1/transactions/"+held+"/confirm", []badInput{
		{"no method", "{}", invalid("missing_field", "payment_method"), nil},
		{"unknown method", `{"payment_method":"pm_nobody"}`, invalid("unknown_payment_method", "payment_method"), nil},
		{"long method", `{"payment_method":"` + strings.Repeat("p", 65) + `"}`, invalid("invalid_value", "payment_method"), nil},
		{"stray card", `{"payment_method":"pm_card_visa"` + card + `}`, invalid("invalid_value", "card"), nil},
		{"card without method", `{` + card[1:] + `}`, invalid("missing_field", "payment_method"), nil},
		{"bad number", `{"payment_method":"card","card":{"number":"4242424242424241","exp_month":12,"exp_year":2030}}`, invalid("invalid_card_number", "card.number"), nil},
		{"account, authorized only", account, invalid("invalid_value", "payment_method"), nil},
		{"bad 3-D Secure", `{"payment_method":"card","three_d_secure":{}}`, invalid("missing_field", "three_d_secure.eci"), nil},
		{"long billing", `{"payment_method":"card","billing":{"phone":"` + strings.Repeat("1", 41) + `"}}`, invalid("invalid_value", "billing.phone"), nil},
	})
	wantRefusal(t, b.confirm(t, euro, account), invalid("invalid_value", "payment_method"))
	missing := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"}
	wantRefusal(t, b.confirm(t, id.Format(id.Transaction, 12345), `{"payment_method":"card"}`), missing)
	wantRefusal(t, b.confirm(t, "x", `{"payment_method":"card"}`), missing)
	wantRefusal(t, b.confirm(t, b.MustCreate(t, 1, "").ID, `{"payment_method":"card"}`), refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_not_confirmable", ""})
	live := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"}))
	wantRefusal(t, b.post(t, "/v1/transactions", waiting(""), live), refusal{503, v1.ErrorTypeAPIError, "acquirer_not_configured", ""})
}

// TestStepsAfterASecondAttempt: captures and refunds after a second confirmation name its
// authorization, not the declined one of the first.
func TestStepsAfterASecondAttempt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := b.MustPrepare(t, `,"capture":"manual"`)
	wantRefusal(t, b.confirm(t, u.id, by("pm_card_declined")), cardDeclined())
	MustDecode[v1.Transaction](t, b.confirm(t, u.id, by("pm_card_visa")), 200)
	MustDecode[v1.Capture](t, b.capture(t, u.id, ""), 201)
	MustDecode[v1.Refund](t, b.refund(t, u.id, ""), 201)
	got := b.text(t, "SELECT CAST(attempt AS TEXT) FROM transactions")
	if got != "2" {
		t.Errorf("attempt: got %s, want 2", got)
	}
}
