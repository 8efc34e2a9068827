package httpx_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestIDsReachTrustedHops: a service sends the ids of its request line to a hop that shows the hop
// secret, and to no other client. The hop's line then has the same words.
func TestIDsReachTrustedHops(t *testing.T) {
	t.Parallel()
	hop := secret.New("c2VjcmV0IG9mIDMyIGJ5dGVzIGZvciB0aGUgdGVzdHM=")
	key, object := id.Format(id.APIKey, 7), id.Format(id.Transaction, 8)
	var book logbook
	service := httpx.ClientAddress(hop,
		httpx.LogRequests(book.logger(), clock.System(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			httpx.SetID(w, r, httpx.WordAPIKey, key)
			httpx.SetID(w, r, httpx.WordObject, object)
		})))
	for shown, want := range map[string]bool{"": false, "another": false, hop.Reveal(): true} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		if shown != "" {
			r.Header.Set(httpx.HopField, shown)
		}
		got := call(service, r)
		if (len(got.Header()) > 0) != want {
			t.Errorf("the service sends %v, want the fields: %v", got.Header(), want)
		}
		var front logbook
		call(httpx.LogRequests(front.logger(), clock.System(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			httpx.EventFrom(r.Context()).SetWord(httpx.WordAPIKey, "known before")
			httpx.AdoptIDs(r.Context(), got.Header())
		})), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		line := one(t, front.events(t, "request"))
		if adopted := line["api_key"] == key && line["object"] == object; adopted != want {
			t.Errorf("the hop logs %v, want the ids: %v", line, want)
		}
	}
	for _, line := range book.events(t, "request") {
		if line["api_key"] != key || line["object"] != object {
			t.Errorf("the service logs %v", line)
		}
	}
}

// TestAdoptIDsTakesIDsAlone: no other text gets into a line.
func TestAdoptIDsTakesIDsAlone(t *testing.T) {
	t.Parallel()
	object := id.Format(id.Refund, 8)
	for _, values := range [][]string{
		{},
		{""},
		{"4242424242424242"},
		{"tok_0000000000008_secret"},
		{object, object},
		{object + "," + object},
		{"prefix_0000000000008"},
		{"re_0000000000000"},
	} {
		var book logbook
		call(httpx.LogRequests(book.logger(), clock.System(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			httpx.AdoptIDs(r.Context(), http.Header{"X-Svc-Int-Object": values})
		})), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		if got, has := one(t, book.events(t, "request"))["object"]; has {
			t.Errorf("%q: got the word %v", values, got)
		}
	}
}

// TestAddWord: a word with several values has each of them once.
func TestAddWord(t *testing.T) {
	t.Parallel()
	var book logbook
	call(httpx.LogRequests(book.logger(), clock.System(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		event := httpx.EventFrom(r.Context())
		for _, value := range []string{"a", "ab", "a", "b", "ab"} {
			event.AddWord("object", value)
		}
		event.SetWord("kid", "old")
		event.SetWord("kid", "new")
	})), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	if got := one(t, book.events(t, "request")); got["object"] != "a,ab,b" || got["kid"] != "new" {
		t.Errorf("got %v", got)
	}
}
