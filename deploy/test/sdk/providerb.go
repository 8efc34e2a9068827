package sdk

import (
	"cmp"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// WalkB runs all steps of provider-b's script with a client that is configured in one way, at a
// base URL. It compares each response with v1.
func WalkB(t *testing.T, s *System, c ClientB, way WayB, base string, logins LoginsB) {
	t.Helper()
	steps, as := readScript(t, "providerb/steps.json"), logins.own
	if way.portfolio {
		as = logins.portfolio
	}
	walk(t, s, c.configured(t, way, base, as, steps), steps, providerB{})
}

// providerB is the common part of all clients of provider-b.
type providerB struct{}

func (providerB) number() string { return "id" }

func (providerB) complete(_ *walker, step string, send values) (sent, want values) {
	send["step"], send["login"] = step, cmp.Or(send["login"], "own")
	return send, nil
}

// check checks that v1 has only the payments whose numbers the client read, and the data of one
// order.
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

// wantOrderB is the order in v1 that each program sends.
const wantOrderB = `{"line_items":[{"id":"mug","name":"a mug","quantity":"2","unit_price":"20.00"},` +
	`{"id":"lid","name":"a lid","quantity":"1","unit_price":"5.00"}],"purchase_order_number":"po-7731"}`

func checkOrderB(t *testing.T, x v1.Transaction) {
	t.Helper()
	if got := encoded(t, x.Order); got != wantOrderB {
		t.Errorf("order = %s, want %s", got, wantOrderB)
	}
	for field, want := range map[string]string{
		"field_1": "gift <&> wrap", "client_ip": "192.0.2.7",
		"customer_reference": "c-7",
	} {
		if got := x.Metadata[field]; got != want {
			t.Errorf("metadata %s = %q, want %q", field, got, want)
		}
	}
	if x.Shipping == nil || x.Shipping.LastName == nil || *x.Shipping.LastName != "Diaz" {
		t.Errorf("shipping = %+v, want to Diaz", x.Shipping)
	}
}
