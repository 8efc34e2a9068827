package httphop_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestRequestLineHasTheIDsOfCore checks that the request line has the API key and the objects from
// core's response, and that the client does not receive these fields.
func TestRequestLineHasTheIDsOfCore(t *testing.T) {
	t.Parallel()
	sent := map[string]string{
		"Api-Key": id.Format(id.APIKey, 7), "Addressed": id.Format(id.Transaction, 8), "Object": id.Format(id.Refund, 9),
	}
	d := open(t, form{remote: true}, func(c *httphop.Config, _ *engine.Config) {
		c.Upstream, c.Transport = remote(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for name, text := range sent {
				w.Header().Set("X-Svc-Int-"+name, text)
			}
			w.WriteHeader(http.StatusOK)
		}), false)
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.URL+"/v1/transactions", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Body.Close(); err != nil {
		t.Fatal(err)
	}
	d.Close() // waits for the request line
	for name, word := range map[string]string{"Api-Key": "api_key", "Addressed": "addressed", "Object": "object"} {
		if want := `"` + word + `":"` + sent[name] + `"`; !strings.Contains(d.log.String(), want) {
			t.Errorf("no %s in the log: %s", want, d.log)
		}
		if field := got.Header.Get("X-Svc-Int-" + name); field != "" {
			t.Errorf("the client got the field %s: %s", name, field)
		}
	}
}

// TestNoClientGetsTheFieldsOfAHop checks that core in the same process gets the client's address,
// and sends the client no field for a hop.
func TestNoClientGetsTheFieldsOfAHop(t *testing.T) {
	t.Parallel()
	hop := secret.New(strings.Repeat("h", 43))
	addresses := make(chan string, 1)
	d := open(t, form{}, func(c *httphop.Config, e *engine.Config) {
		c.Hop, e.Hop = hop, hop
		c.Core = httpx.RequestID(httpx.ClientAddress(hop, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			addresses <- httpx.ClientAddressFrom(r.Context())
			httpx.SetID(w, r, httpx.WordAPIKey, id.Format(id.APIKey, 7))
		})))
	})
	for _, c := range []struct {
		hop  secret.String
		want string
	}{{want: "127.0.0.1"}, {secret.New("guessed"), "127.0.0.1"}, {hop, "203.0.113.7"}} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.URL+"/v1/transactions", nil)
		if err != nil {
			t.Fatal(err)
		}
		if !c.hop.IsZero() {
			r.Header.Set(httpx.HopField, c.hop.Reveal())
			r.Header.Set(httpx.ClientAddressField, "203.0.113.7")
		}
		got, err := d.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if address := <-addresses; address != c.want {
			t.Errorf("client address: got %q, want %q", address, c.want)
		}
		if field := got.Header.Get("X-Svc-Int-Api-Key"); field != "" {
			t.Errorf("the client got the API key %s", field)
		}
	}
}
