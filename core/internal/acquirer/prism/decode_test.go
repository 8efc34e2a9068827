package prism_test

import (
	"cmp"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/secret"
)

// sample is a response of a provider. A body that is a string is no JSON. REF stands for the
// reference of the request.
type sample struct {
	Name     string         `json:"name"`
	Provider string         `json:"provider"`
	Command  string         `json:"command"`
	Status   int            `json:"status"`
	Body     jsontext.Value `json:"body"`
}

// TestResponses decodes 50 responses by both connectors and by the library, and compares the class,
// the amount, the ids and the result codes.
func TestResponses(t *testing.T) {
	t.Parallel()
	known := explained(t, "Responses")
	text, err := os.ReadFile("testdata/responses.json")
	if err != nil {
		t.Fatal(err)
	}
	var samples []sample
	if err := json.Unmarshal(text, &samples); err != nil {
		t.Fatal(err)
	}
	if len(samples) < 50 {
		t.Errorf("%d responses, want 50", len(samples))
	}
	var calls []call
	for _, s := range samples {
		c := s.payment().call(s.Provider)
		c.Response = &response{s.Status, s.text()}
		calls = append(calls, c)
	}
	results := run(t, calls)
	hosts := map[string]*host{"a": start(t, "a"), "b": start(t, "b")}
	for i, s := range samples {
		r := response{s.Status, s.text()}
		if s.Provider == "a" && s.Body.Kind() == '{' {
			r.Body = document(t, r.Body)
		}
		sent, got, err := hosts[s.Provider].send(t.Context(), s.payment(), r)
		if sent == nil {
			t.Errorf("%s: not sent: %v", s.Name, err)
		}
		known.compare(t, s.Name, s.Command, outcome(got, err), results[i].outcome(t))
	}
	known.checkUsed(t)
}

// payment returns the command that the response is of, over 10.00 US dollars.
func (s sample) payment() payment {
	p := payment{command: s.Command}
	switch s.Command {
	case authorize, sale:
		p.authorize = acquirer.Authorize{
			Reference: s.reference(), Amount: 1000, Currency: "usd", Capture: s.Command == sale, Partial: true,
			Source: acquirer.Source{Card: acquirer.Card{
				Number: secret.New("4111111111111111"), CVC: secret.New("900"), ExpMonth: 4, ExpYear: 2031,
			}},
			Billing: acquirer.Billing{
				FirstName: "Ana", LastName: "Ruiz", AddressLine: "1 Elm St", PostalCode: "98004", Country: "US",
				Email: "ana@example.org",
			},
		}
	default:
		p.follow = acquirer.Follow{
			Reference: s.reference(), Amount: 1000, Currency: "usd", Final: true, Last4: "1111",
			Original: acquirer.Sent{Kind: acquirer.Authorization, ID: original, Amount: 1000, Currency: "usd"},
		}
	}
	if s.Command == refund {
		p.follow.Original.Kind = acquirer.Sale
	}
	return p
}

func (s sample) reference() string { return s.Command[:3] + "_0000000000001" }

// text returns the body with the reference of the request.
func (s sample) text() string {
	var text string
	if s.Body.Kind() != '"' || json.Unmarshal(s.Body, &text) != nil {
		text = string(s.Body)
	}
	return strings.ReplaceAll(text, "REF", s.reference())
}

// outcome returns the fields of a connector's result.
func outcome(r acquirer.Response, err error) fields {
	out := fields{}
	switch {
	case errors.Is(err, acquirer.ErrUnavailable):
		out.set("class", "no effect")
	case err != nil:
		out.set("class", "unknown")
	case r.Approved:
		out.set("class", "approved")
		out.set("amount", strconv.FormatInt(r.Amount, 10))
	default:
		out.set("class", "declined")
	}
	out.set("id", r.ID)
	out.set("network id", r.NetworkTransactionID)
	out.set("approval code", r.Code)
	out.set("AVS", r.Checks.Codes.AVS)
	out.set("CVC", r.Checks.Codes.CVC)
	out.set("network decline", r.Network.Code)
	out.set("network advice", r.Network.Advice)
	return out
}

// set sets a field. The empty text stands for none.
func (f fields) set(path, text string) {
	if text != "" {
		f[path] = value{text: text}
	}
}

// classes are the classes of the library's statuses. Any other status is its own class.
var classes = map[string]string{
	"AUTHORIZED": "approved", "CHARGED": "approved", "PARTIALLY_AUTHORIZED": "approved", "VOIDED": "approved",
	"VOIDED_POST_CAPTURE": "approved", "REFUND_SUCCESS": "approved", "FAILURE": "declined",
	"AUTHORIZATION_FAILED": "declined", "CAPTURE_FAILED": "declined", "VOID_FAILED": "declined",
	"REFUND_FAILURE": "declined",
}

// outcome returns the fields of the library's result.
func (r result) outcome(t *testing.T) fields {
	t.Helper()
	out := fields{}
	class, known := classes[r.Status]
	if !known {
		class = r.Status + r.Error
	}
	d := r.Decoded
	out.set("class", class)
	out.set("id", cmp.Or(d.RefundID, d.ID, d.Failure.Connector.ID))
	if class == "approved" && d.Amount+d.Captured > 0 {
		out.set("amount", strconv.FormatInt(max(d.Amount, d.Captured), 10))
	}
	out.set("network id", d.NetworkID)
	out.set("approval code", d.Connector.Method.Card.Code)
	out.set("network decline", d.Failure.Issuer.Network.Decline)
	out.set("network advice", d.Failure.Issuer.Network.Advice)
	if checks := d.Connector.Method.Card.Checks; checks != "" {
		all := fields{}
		if err := all.addJSON(checks); err != nil {
			t.Fatalf("%v: %s", err, checks)
		}
		for _, path := range []string{"avs_result_code", "avs_response.code"} {
			out.set("AVS", all[path].text)
		}
		out.set("CVC", all["card_verification.resultCode"].text)
	}
	return out
}
