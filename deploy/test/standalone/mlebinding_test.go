package standalone_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/sdk"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// intermediary changes the encrypted requests of a client after TLS, like a proxy that terminates
// TLS. It cannot decrypt them.
type intermediary func(r *http.Request)

func (change intermediary) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		change(r)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestIntermediary checks that an intermediary cannot remove the demand for an encrypted response
// or choose its key. It also cannot repeat a recorded body under another Idempotency-Key.
func TestIntermediary(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	m := merchantOf(t, p)
	sdk.WaitForKeys(t, system(t, p))
	other := sdk.RegisterKey(t, system(t, p)) // registered with the API key, which the intermediary sees
	own := sdk.RegisterKey(t, system(t, p))
	var recorded *http.Request
	var body []byte
	changes := map[string]intermediary{
		"no demand": func(r *http.Request) {
			r.Header.Del("X-SVC-MLE-Response")
			r.Header.Del("X-SVC-MLE-Response-Kid")
		},
		"another response key": func(r *http.Request) { r.Header.Set("X-SVC-MLE-Response-Kid", other.KeyID) },
		"another key":          func(r *http.Request) { r.Header.Set("Idempotency-Key", "another") },
		"no key":               func(r *http.Request) { r.Header.Del("Idempotency-Key") },
		"another method":       func(r *http.Request) { r.Method = http.MethodPatch },
	}
	for _, alg := range sdk.Algs {
		for name, change := range changes {
			transport := mle.New(mle.Config{Alg: alg, Private: own, Next: change})
			client := &merchant{base: p.HTTP, key: p.Keys.SKTest, http: &http.Client{Transport: transport, Timeout: patience}}
			got := client.must(t, http.MethodPost, "/v1/transactions", alg+name, encryptedSale)
			if got.status != http.StatusBadRequest || !strings.Contains(got.body, "mle_decrypt_failed") {
				t.Errorf("%s, %s: got %d %s, want mle_decrypt_failed", alg, name, got.status, got.body)
			}
		}
	}
	if got := m.transactions(t); len(got) != 0 {
		t.Fatalf("payments: got %d, want none", len(got))
	}
	honest := mle.New(mle.Config{Private: own, Next: intermediary(func(r *http.Request) {
		recorded = r.Clone(t.Context())
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
	})})
	client := &merchant{base: p.HTTP, key: p.Keys.SKTest, http: &http.Client{Transport: honest, Timeout: patience}}
	if got := client.must(t, http.MethodPost, "/v1/transactions", "", encryptedSale); got.status != http.StatusCreated {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	for name, want := range map[string]int{"": http.StatusCreated, "another": http.StatusBadRequest} {
		again := recorded.Clone(t.Context())
		if name != "" {
			again.Header.Set("Idempotency-Key", name)
		}
		again.Body = io.NopCloser(strings.NewReader(string(body)))
		response, err := http.DefaultTransport.RoundTrip(again)
		if err != nil || response.Body.Close() != nil {
			t.Fatal(err)
		}
		if response.StatusCode != want {
			t.Errorf("sent again under %q: got %d, want %d", name, response.StatusCode, want)
		}
	}
	if got := m.transactions(t); len(got) != 1 {
		t.Errorf("payments: got %d, want 1", len(got))
	}
}
