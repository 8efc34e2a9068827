package standalone_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// keyedRequest sends a document of provider-a under an Idempotency-Key, and returns the response.
func keyedRequest(t *testing.T, client *http.Client, base, document, key string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/xml/v1/request.api",
		strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Idempotency-Key", key)
	got, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(got.Body)
	_ = got.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// furtherSale is a further payment of an order.
func furtherSale(p *process, order, invoice string) string {
	return legacyDocument(p, strings.Replace(legacyPayment("authCaptureTransaction", "23.27", invoice),
		"<order>", "<splitTenderId>"+order+"</splitTenderId><order>", 1))
}

// TestLegacyKeyOfAnotherOrder: an Idempotency-Key belongs to one payment of one order. Another
// order, and a payment of the same order with other fields, are refused.
func TestLegacyKeyOfAnotherOrder(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	client, m := patientClient(t), merchantOf(t, p)
	a, b := partlyPaid(t, p), partlyPaid(t, p)
	for _, tt := range []struct{ what, document, want string }{
		{"an order", furtherSale(p, a, "one"), "1/1"},
		{"again", furtherSale(p, a, "one"), "1/1"},
		{"another order", furtherSale(p, b, "one"), "E00013"},
		{"another invoice", furtherSale(p, a, "two"), "E00013"},
		{"another month", strings.Replace(furtherSale(p, a, "one"), "2031-04", "2030-01", 1), "E00013"},
		{"another card", strings.Replace(furtherSale(p, a, "one"), "4111111111111111", "4012010100001111", 1), "E00013"},
		{"the first again", furtherSale(p, a, "one"), "1/1"},
	} {
		wantResult(t, tt.what, parseLegacy(keyedRequest(t, client, p.HTTP, tt.document, "k")), tt.want)
	}
	if of, other := len(named(t, m, a)), len(named(t, m, b)); of != 1 || other != 0 {
		t.Errorf("further payments: got %d of the order and %d of the other, want 1 and none", of, other)
	}
}

// TestLegacyKeyOfAnotherVoid: an Idempotency-Key belongs to the void of one order. Another order,
// and one payment, are not voided under it.
func TestLegacyKeyOfAnotherVoid(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--log", "error")
	client, m := patientClient(t), merchantOf(t, p)
	a, b := partlyPaid(t, p), partlyPaid(t, p)
	single := mustPost(t, client, p.HTTP, legacyDocument(p, legacyPayment("authCaptureTransaction", "3.33", "single")))
	void := func(what string) string {
		return legacyDocument(p, "<transactionType>voidTransaction</transactionType>"+what)
	}
	for _, tt := range []struct{ what, document, want string }{
		{"an order", void("<splitTenderId>" + a + "</splitTenderId>"), "1/1"},
		{"again", void("<splitTenderId>" + a + "</splitTenderId>"), "1/1"},
		{"another order", void("<splitTenderId>" + b + "</splitTenderId>"), "E00013"},
		{"a payment", void("<refTransId>" + single.number + "</refTransId>"), "E00013"},
		{"the order's first payment", void("<refTransId>" + a + "</refTransId>"), "E00013"},
	} {
		wantResult(t, tt.what, parseLegacy(keyedRequest(t, client, p.HTTP, tt.document, "k")), tt.want)
	}
	voided := 0
	for _, made := range m.transactions(t) {
		if made.Status == "voided" {
			voided++
		}
	}
	if voided != 1 {
		t.Errorf("voided payments: got %d, want 1", voided)
	}
}
