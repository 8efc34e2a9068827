package providerb

import (
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TransactionID is the name of an operation at the provider.
func TransactionID(reference string) string { return transactionID(reference) }

// Encode returns the path and the body of a command: an Authorize, a Credit, or a Follow that the
// text names.
func Encode(kind string, command any) (string, []byte, error) {
	var out request
	var err error
	switch r := command.(type) {
	case acquirer.Authorize:
		out, err = encodeAuthorize(r)
	case acquirer.Credit:
		out, err = encodeCredit(r)
	case acquirer.Sent:
		out, err = encodeTimeout(r, kind == "reversal")
	case acquirer.Follow:
		switch kind {
		case "capture":
			out, err = encodeCapture(r)
		case "refund":
			out, err = encodeRefund(r)
		case "reversal":
			out, err = encodeReversal(r.Reference, r.Original.ID, r.Amount, r.Currency)
		case "void":
			out = encodeVoid(r.Reference, pathCaptures, r.Original.ID)
		}
	}
	if err != nil {
		return "", nil, err
	}
	body, err := out.bytes()
	return out.path, body, err
}

// Decoded is the outcome of a response.
type Decoded struct {
	Class    string
	Response acquirer.Response
}

// Operations are the kinds of requests.
func Operations() []string {
	var out []string
	for _, o := range []operation{
		authorizing, selling, debiting, capturing, reversing, voiding, refunding, crediting,
	} {
		out = append(out, string(o))
	}
	return out
}

// Decode returns the outcome of a request of an amount in US dollars.
func Decode(status int, body string, o string, amount int64) (Decoded, error) {
	out, err := decode(upstream.Response{Status: status, Body: []byte(body)}, sent{
		operation: operation(o), amount: amount, currency: "usd", body: requestBody{ClientReference: referenceOf("r", "")},
	})
	return Decoded{string(out.class), out.response}, err
}

// Names returns the names of the table of codes, by the place at which the provider sends them.
func Names() map[string][]string {
	out := map[string][]string{}
	for name := range statuses {
		out["status"] = append(out["status"], name)
	}
	for name := range declines {
		out["decline"] = append(out["decline"], name)
	}
	for name := range refusals {
		out["refusal"] = append(out["refusal"], name)
	}
	return out
}

// DeclineCode returns v1's decline code of a reason.
func DeclineCode(place, name string) string {
	table := declines
	if place == "refusal" {
		table = refusals
	}
	return string(table[name].decline)
}

// Header returns the header that proves credentials.
func Header(auth, method, path string, body, key []byte, now time.Time) http.Header {
	return signer{
		auth: auth, host: "apitest.cybersource.com", merchant: "demo_merchant_1",
		keyID: "11112222-3333-4444-5555-666677778888", key: secret.New(string(key)),
		newID: func() string { return "0f0e0d0c-0b0a-4908-8706-050403020100" },
	}.header(method, path, body, now)
}
