package sdk

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// WalkB runs all steps of provider-b's script once for each way of configuring the client, and
// compares each response with v1. The walks are subtests and share one process of the client. If
// that ends, all later subtests fail.
func WalkB(t *testing.T, s *System, c ClientB, logins LoginsB, ways []RouteB) {
	t.Helper()
	steps := readScript(t, "providerb/steps.json")
	settings := map[string]settingsB{}
	for _, way := range ways {
		maps.Copy(settings, c.configured(way, logins))
	}
	p := c.Client
	p.Env = append(slices.Clone(p.Env), "SDK_LOGINS="+encoded(t, settings), "SDK_READS="+encoded(t, steps.Reads))
	execute := p.open(t, s)
	for _, way := range ways {
		t.Run(way.Name, func(t *testing.T) { walk(t, s, c.walking(way.WayB), execute, steps, providerB{way.WayB}) })
	}
}

// providerB is the common part of all clients of provider-b that are configured in one way.
type providerB struct{ way WayB }

func (providerB) number() string { return "id" }

func (p providerB) complete(_ *walker, step string, send values) (sent, want values) {
	send["step"], send["login"] = step, p.way.login(cmp.Or(send["login"], "own"))
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
			t.Errorf("%s: v1 has a payment %s, %s, whose number the client did not read", *x.Reference, x.ID, x.Status)
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
