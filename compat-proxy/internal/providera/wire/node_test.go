package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

func mustParse(tb testing.TB, body string) *wire.Request {
	tb.Helper()
	req, fault := wire.Parse([]byte(body), wire.Options{})
	if fault != nil {
		tb.Fatal(fault.Text)
	}
	return req
}

func TestNodeAccess(t *testing.T) {
	t.Parallel()
	n := mustParse(t, sale("<refTransId> 42 </refTransId><order><invoiceNumber/><description> </description></order>"+
		"<userFields><userField><name>a</name></userField><userField><name>b</name></userField></userFields>")).
		Root.Child("transactionRequest")
	gets := map[string][]string{
		"42": {"refTransId"}, "a": {"userFields", "userField", "name"}, "": {"order", "description"},
	}
	for want, path := range gets {
		if got := n.Get(path...); got != want {
			t.Errorf("Get(%v): got %q, want %q", path, got, want)
		}
	}
	has := map[string]bool{"refTransId": true, "order": false, "userFields": true, "billTo": false}
	for name, want := range has {
		if got := n.Has(name); got != want {
			t.Errorf("Has(%s): got %v, want %v", name, got, want)
		}
	}
	if got, want := len(n.Child("userFields").All("userField")), 2; got != want {
		t.Errorf("got %d, want %d", got, want)
	}
	if !n.Child("order").Child("invoiceNumber").Present() {
		t.Error("an empty element is present")
	}
}

func TestAbsentNode(t *testing.T) {
	t.Parallel()
	var n wire.Node
	if n.Present() || n.Child("a").Present() || n.Text() != "" || n.All("a") != nil ||
		n.Get("a", "b") != "" || n.Get() != "" || n.Has() || n.Has("a") {
		t.Error("an absent node has content")
	}
	if got, want := n.String(), "<absent>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNothingPrints plants secrets and searches for them in everything that a caller could print by
// mistake.
func TestNothingPrints(t *testing.T) {
	t.Parallel()
	req := mustParse(t, card(dated+"<cardCode>907</cardCode>"))
	_, fault := wire.Parse([]byte(card("<cardNumber>41111111111111111</cardNumber>")), wire.Options{})
	leaf := req.Root.Child("transactionRequest").Child("payment").Child("creditCard").Child("cardNumber")
	var absent wire.Node
	var out bytes.Buffer
	// The digits of the time could equal the card code.
	timeless := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	logs := []*slog.Logger{
		slog.New(slog.NewJSONHandler(&out, timeless)), slog.New(slog.NewTextHandler(&out, timeless)),
	}
	for _, v := range []any{
		req, *req, req.Root, &req.Root, req.Root.All("transactionRequest"), leaf, &leaf, absent, fault,
		struct{ hidden wire.Node }{leaf},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		for _, log := range logs {
			log.Info("request", "value", v)
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(b)
	}
	out.Write(fault.Bytes())
	hex := fmt.Sprintf("%x", "411111111111")
	for _, s := range []string{"411111111111", "907", hex} {
		if strings.Contains(out.String(), s) {
			t.Errorf("%q printed in %s", s, out.String())
		}
	}
}
