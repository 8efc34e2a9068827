package executor_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// cardInText is a card number in the texts of the tests, and maskedInText is its masked form.
const cardInText, maskedInText = "4000001234567899", "XXXXXXXXXXXX7899"

// texts returns commands with a card number in each text. Some texts have the command's own card,
// with letters around it.
func texts() map[string]command.Command {
	text, entries := "a "+cardInText, v1.Metadata{"k": cardInText, cardInText: "x" + mastercard + "x"}
	other := map[string]string{"k": cardInText, cardInText: "x"}
	contact := &v1.Contact{LastName: &text, Address: &v1.Address{Line1: &text}}
	card := &v1.CardInput{Number: secret.New(mastercard), ExpMonth: 4, ExpYear: 2031, Holder: &text}
	own := "x" + mastercard + "y"
	return map[string]command.Command{
		"authorize": command.Named{Name: cardInText, Command: command.Authorize{Body: v1.TransactionCreate{
			Amount: 100, Currency: "usd", PaymentMethod: "card", Card: card, Reference: &text, Description: &own,
			Billing: contact, Metadata: &entries,
		}}},
		"capture": command.Capture{Target: "1", Reference: text, Metadata: other, Seen: true},
		"refund":  command.Refund{Target: "1", Reference: text, Metadata: other},
		"credit": command.Credit{Body: v1.RefundCreate{
			Amount: new(int64(100)), Currency: new("usd"), PaymentMethod: new("card"), Card: card, Reference: &own,
			Reason: &text, Metadata: &entries,
		}},
		"token": command.CreateToken{Body: v1.TokenCreate{Card: card}},
		"customer": command.CreateCustomer{
			Body: v1.CustomerInput{Reference: &text, Description: &own, Email: &text, Billing: contact, Metadata: &entries},
			Methods: []command.NewMethod{{
				Token: command.CreateToken{Body: v1.TokenCreate{Card: card}}, Billing: contact, Metadata: entries,
			}},
		},
	}
}

// TestCardNumbersInTextsAreMasked executes each command. V1 receives no card number in a text, and
// the command's own card only in its field.
func TestCardNumbersInTextsAreMasked(t *testing.T) {
	t.Parallel()
	last := map[string]string{"customer": "POST /v1/customers", "token": "POST /v1/tokens", "refund": "POST /v1/refunds"}
	for name, c := range texts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, f := setup(t, map[string][]response{
				"GET /v1/transactions/txn_0000000000001": {{status: http.StatusOK, body: `{"id":"txn_0000000000001",` +
					`"object":"transaction",` +
					`"status":"captured","amount":100,"amount_captured":100,"amount_refundable":100,"currency":"usd"}`}},
				"POST /v1/transactions": {{status: http.StatusServiceUnavailable, body: refusal("acquirer_unavailable")}},
				"GET /v1/customers":     {{status: http.StatusOK, body: `{"object":"list","data":[],"has_more":false}`}},
				"POST /v1/tokens": {{status: http.StatusCreated, body: `{"id":"tok_0000000000001","object":"token",` +
					`"value":"tok_x"}`}},
			})
			x.Execute(t.Context(), secret.New("sk_test_x"), c)
			bodies := 0
			for _, call := range f.seen() {
				if strings.Contains(call.body+call.route+call.key, cardInText) || strings.Contains(call.body, "x"+mastercard) {
					t.Errorf("%s got %s", call.route, call.body)
				}
				if at, found := v1.CardNumberInText([]byte(call.body)); found {
					t.Errorf("%s: v1 would refuse %s", call.route, at)
				}
				if strings.Contains(call.body, maskedInText) {
					bodies++
				}
			}
			requests := f.seen()
			if want := last[name]; want != "" && (len(requests) == 0 || requests[len(requests)-1].route != want) {
				t.Errorf("got %+v, want %s at the end", requests, want)
			}
			if bodies == 0 {
				t.Errorf("no body has the masked number: %+v", f.seen())
			}
		})
	}
}

// TestMaskedReferenceFits accepts a response of v1 with the masked reference, as the request had.
func TestMaskedReferenceFits(t *testing.T) {
	t.Parallel()
	const transaction = `{"id":"txn_0000000000001","object":"transaction","status":"captured","amount":100,` +
		`"currency":"usd","reference":"` + maskedInText + `"}`
	x, _ := setup(t, map[string][]response{"POST /v1/transactions": {{status: http.StatusCreated, body: transaction}}})
	got := x.Execute(t.Context(), secret.New("sk_test_x"), command.Authorize{
		Body: v1.TransactionCreate{Amount: 100, Currency: "usd", PaymentMethod: "card", Reference: new(cardInText)},
	})
	if got.Outcome != command.Done {
		t.Errorf("got %+v, want it done", got)
	}
}
