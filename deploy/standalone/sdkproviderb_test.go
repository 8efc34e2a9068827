package main_test

import (
	"cmp"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestClients_providerB sends unmodified clients of provider-b through the days of a merchant, side by side, over HTTPS by the development
// authority: by every way that each has to log in, and to be pointed here.
func TestClients_providerB(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	issued := issueB(t, p, filepath.Join(data, "compat-credentials.yaml"))
	steps := script(t, "sdktest/providerb/steps.json")
	clients := map[string]func(*testing.T, *process, string) clientB{
		"node/walk.js": nodeClientB, "python/walk.py": pythonClientB, "java/Walk.java": javaClientB,
	}
	for _, way := range []wayB{
		{name: "signature", settings: signatureB, at: dropInB},
		{name: "prefix", settings: signatureB, at: prefixB, brief: true},
		{name: "secret", settings: secretB, at: dropInB, without: "java"},
		{name: "certificate", settings: certificateB, at: unawareB},
		{name: "encryption", settings: encryptionB, at: prefixB, encrypted: true, without: "java"},
		{name: "portfolio-signature", settings: signatureB, at: dropInB, portfolio: true, brief: true},
		{name: "portfolio-p12", settings: certificateB, at: dropInB, portfolio: true, brief: true},
	} {
		for program, install := range clients {
			name := filepath.Dir(program)
			if name == way.without {
				continue
			}
			t.Run(name+"-"+way.name, func(t *testing.T) {
				t.Parallel()
				client := install(t, p, "sdktest/providerb/"+program)
				base := p.HTTPS
				if way.encrypted {
					wire := watch(t, p, data)
					defer wire.check(t)
					base = wire.URL
				}
				as := issued.logins
				if way.portfolio {
					as = issued.portfolio
				}
				walk(t, p, client.configured(t, way, base, as, steps), steps, providerB{})
			})
		}
	}
}

// providerB is what clients of provider-b have in common.
type providerB struct{}

func (providerB) number() string { return "id" }

func (providerB) complete(_ *sdkWalk, step string, send values) (sent, want values) {
	send["step"], send["login"] = step, cmp.Or(send["login"], "own")
	return send, nil
}

// check wants no payments of the client's in v1 beside those whose numbers it read, and what it said of one order.
func (providerB) check(t *testing.T, w *sdkWalk, payments map[string]v1.Transaction) {
	t.Helper()
	known := map[string]bool{}
	for number := range w.ids {
		known[txn(t, number)] = true
	}
	for _, x := range payments {
		if x.Reference != nil && strings.HasPrefix(*x.Reference, w.name+"-") && !known[x.ID] {
			t.Errorf("%s: v1 has a payment %s, %s, of which the client does not know", *x.Reference, x.ID, x.Status)
		}
	}
	if number := w.read["order"]["id"]; number != "" {
		checkOrderB(t, payments[txn(t, number)])
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
