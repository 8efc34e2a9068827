package sdk

import (
	"cmp"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// WalkB has a client of provider-b do all of its script in one way, at a base URL, and looks at each step from both sides.
func WalkB(t *testing.T, s *System, c ClientB, way WayB, base string, logins LoginsB) {
	t.Helper()
	steps, as := readScript(t, "providerb/steps.json"), logins.own
	if way.portfolio {
		as = logins.portfolio
	}
	walk(t, s, c.configured(t, way, base, as, steps), steps, providerB{})
}

// providerB is what clients of provider-b have in common.
type providerB struct{}

func (providerB) number() string { return "id" }

func (providerB) complete(_ *walker, step string, send values) (sent, want values) {
	send["step"], send["login"] = step, cmp.Or(send["login"], "own")
	return send, nil
}

// check wants no payments of the client's in v1 beside those whose numbers it read, and what it said of one order.
func (providerB) check(t *testing.T, w *walker, payments map[string]v1.Transaction) {
	t.Helper()
	known := map[string]bool{}
	for number := range w.ids {
		known[transaction(t, number)] = true
	}
	for _, x := range payments {
		if x.Reference != nil && strings.HasPrefix(*x.Reference, w.name+"-") && !known[x.ID] {
			t.Errorf("%s: v1 has a payment %s, %s, of which the client does not know", *x.Reference, x.ID, x.Status)
		}
	}
	if number := w.read["order"]["id"]; number != "" {
		checkOrderB(t, payments[transaction(t, number)])
	}
}

// wantOrderB is what v1 has of the order that each program sends.
const wantOrderB = `{"line_items":[{"id":"mug","name":"a mug","quantity":"2","unit_price":"20.00"},` +
	`{"id":"lid","name":"a lid","quantity":"1","unit_price":"5.00"}],"purchase_order_number":"po-7731"}`

func checkOrderB(t *testing.T, x v1.Transaction) {
	t.Helper()
	if got := encoded(t, x.Order); got != wantOrderB {
		t.Errorf("order = %s, want %s", got, wantOrderB)
	}
	for field, want := range map[string]string{"field_1": "gift <&> wrap", "client_ip": "192.0.2.7", "customer_reference": "c-7"} {
		if got := x.Metadata[field]; got != want {
			t.Errorf("metadata %s = %q, want %q", field, got, want)
		}
	}
	if x.Shipping == nil || x.Shipping.LastName == nil || *x.Shipping.LastName != "Diaz" {
		t.Errorf("shipping = %+v, want to Diaz", x.Shipping)
	}
}
