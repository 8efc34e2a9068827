package providera_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/beevik/etree"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera"
	"github.com/causeway-pay/causeway/compat-proxy/internal/safexml"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// FuzzNotations requires a response to every XML request, and the same response to its JSON form.
// It covers the whole path, from the bytes to the commands and back, by the contract's mapping
// rules.
func FuzzNotations(f *testing.F) {
	requests, err := filepath.Glob("testdata/*/request.xml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range requests {
		body, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	sale := goldentest.MustRead(f, filepath.Join("testdata", "x1-sale", "request.xml"))
	// The two notations escape these characters differently.
	f.Add(bytes.Replace(sale, []byte("ord-1001"), []byte("a\u2028\u0085\"\\&lt;&#13;"), 1))
	h := mustHandler(f, content{})
	f.Fuzz(func(t *testing.T, body []byte) {
		response := respond(t, h, body)
		root, reason := safexml.Parse(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), 0)
		if reason != "" || bytes.Contains(response, []byte("<ErrorResponse ")) || oneSided(root) {
			return
		}
		want := requoted(t, []byte(mapped(mustElement(t, response))))
		if got := requoted(t, bytes.TrimPrefix(respond(t, h, asJSON(t, body)), []byte("\xef\xbb\xbf"))); got != want {
			t.Errorf("responses:\n  got %s\n want %s\nto %q", got, want, body)
		}
	})
}

// requoted returns a document with all strings escaped in one way, because the escapes may differ.
func requoted(t *testing.T, document jsontext.Value) string {
	t.Helper()
	if err := document.Format(); err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	return string(document)
}

func respond(t *testing.T, h *providera.Handler, body []byte) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(body)))
	if w.Code != http.StatusOK {
		t.Fatalf("got %d for %q", w.Code, body)
	}
	return w.Body.Bytes()
}

// oneSided reports whether JSON cannot represent the XML. It cannot represent attributes, text
// between children, equal names that are not adjacent, and names that are not ASCII.
func oneSided(el *etree.Element) bool {
	undeclared := func(a etree.Attr) bool { return a.Space != "xmlns" && a.FullKey() != "xmlns" }
	children := el.ChildElements()
	if slices.ContainsFunc(el.Attr, undeclared) || len(children) > 0 && len(el.Child) > len(children) ||
		strings.ContainsFunc(el.Tag, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return true
	}
	seen := map[string]int{}
	for i, c := range children {
		if last, ok := seen[c.Tag]; ok && last != i-1 || oneSided(c) {
			return true
		}
		seen[c.Tag] = i
	}
	return false
}

// content is an Executor that approves everything.
type content struct{}

func (content) Identify(context.Context, secret.String) (v1.APIKey, command.Result) {
	return v1.APIKey{Merchant: "mer_1", Scopes: everyScope}, command.Result{Outcome: command.Done}
}

func (content) Execute(context.Context, secret.String, command.Command) command.Result {
	card := &v1.Card{Brand: v1.CardBrandVisa, Last4: "1111"}
	return command.Result{
		Outcome: command.Done,
		Transaction: &v1.Transaction{
			ID: id.Format(id.Transaction, 60410000123), Mode: v1.ModeTest, Status: v1.TransactionStatusCaptured, Currency: "usd",
			Amount: 100, AmountAuthorized: 60, Card: card,
		},
		Customer: &v1.Customer{ID: id.Format(id.Customer, 905512340)},
		Methods:  []v1.PaymentMethod{{ID: id.Format(id.PaymentMethod, 906650021), Card: card}},
		Address:  &v1.ShippingAddress{ID: id.Format(id.ShippingAddress, 907000001)},
	}
}

// Bind implements dialect.Executor.
func (content) Bind(context.Context, secret.String, command.Binding, []string) command.Result {
	return command.Result{Outcome: command.Done}
}
