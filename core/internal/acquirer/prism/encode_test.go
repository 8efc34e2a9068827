package prism_test

import (
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

// least is the least number of requests to compare: the library does not support all payments at
// both providers.
const least = 300

// TestRequests encodes 200 payments by both connectors and by the library, and compares all fields.
func TestRequests(t *testing.T) {
	t.Parallel()
	known := explained(t, "Requests")
	drawn := payments()
	var calls []call
	for _, p := range drawn {
		calls = append(calls, p.call("a"), p.call("b"))
	}
	results := run(t, calls)
	hosts := map[string]*host{"a": start(t, "a"), "b": start(t, "b")}
	both := 0
	for i, p := range drawn {
		for j, provider := range []string{"a", "b"} {
			sent, _, err := hosts[provider].send(t.Context(), p, response{}) // most outcomes are unknown
			if errors.Is(err, acquirer.ErrUnavailable) {
				t.Errorf("%s %s: not sent: %v", provider, p.name(), err)
			}
			ours, theirs := requestOf(t, sent, provider == "a"), encoded(t, results[2*i+j])
			if len(ours) > 1 && len(theirs) > 1 {
				both++
			} else { // without one of the requests there are no fields to compare
				ours, theirs = fields{"request": ours["request"]}, fields{"request": theirs["request"]}
			}
			known.compare(t, provider+" "+p.command+" "+p.sourceName(), p.name(), ours, theirs)
		}
	}
	t.Logf("%d of %d requests compared field by field", both, 2*many)
	if both < least {
		t.Errorf("%d requests compared, want %d at least", both, least)
	}
	known.checkUsed(t)
}

// name returns the reference of a payment's command.
func (p payment) name() string { return p.authorize.Reference + p.follow.Reference }

// sourceName names the payment source. An agreement is a later payment with the network's id of the
// first one.
func (p payment) sourceName() string {
	switch r := p.authorize; {
	case !r.NetworkToken.Number.IsZero():
		return "token"
	case !r.BankAccount.Number.IsZero() || p.bank:
		return "bank"
	case r.Initiator.PreviousNetworkTransactionID != "":
		return "agreement"
	}
	return "card"
}

// requestOf returns the fields of a connector's request, nil for a command that was not sent.
func requestOf(t *testing.T, r *request, document bool) fields {
	t.Helper()
	if r == nil {
		return fields{"request": {text: "not sent"}}
	}
	out := fieldsOf(t, *r, document)
	out["request"] = value{text: "sent"}
	return out
}

// encoded returns the fields of the library's request.
func encoded(t *testing.T, r result) fields {
	t.Helper()
	if r.Error != "" {
		return fields{"request": {text: r.Error + ": " + r.Message}}
	}
	at, err := url.Parse(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	made := request{method: r.Method, path: at.Path, header: http.Header{}, body: r.Body}
	for name, text := range r.Headers {
		made.header.Set(name, text)
	}
	out := fieldsOf(t, made, false)
	out["request"] = value{text: "sent"}
	return out
}
