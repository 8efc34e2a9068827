package mle_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// noon is when the requests of these tests are sent.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// send sends a request with a body in the clear for the transport to encrypt.
func send(t *testing.T, base string, cfg mle.Config, method, key string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, base+"/v1/transactions?a=b", strings.NewReader(sale))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer sk")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	response, err := (&http.Client{Transport: mle.New(cfg)}).Do(r)
	if err != nil || response.Body.Close() != nil {
		t.Fatal(err)
	}
	if got := r.Header.Get("Idempotency-Key"); got != key {
		t.Errorf("the caller's request: Idempotency-Key became %q", got)
	}
}

// TestBinding: the protected header has all values that an intermediary must not change.
func TestBinding(t *testing.T) {
	t.Parallel()
	s, base := open(t)
	own := newKey(t)
	s.response = func(w http.ResponseWriter, _ string) { jwe(w, seal(t, own, "{}")) }
	send(t, base, mle.Config{Private: &own, Clock: clock.NewFake(noon)}, http.MethodPost, "order 1")
	header, _ := opened(t, s.key, s.sent[0])
	for name, want := range map[string]any{
		"iat": float64(noon.Unix()), "htm": "POST", "htu": "/v1/transactions", "rsp": own.KeyID, "idk": "order 1",
	} {
		if got := header.ExtraHeaders[jose.HeaderKey(name)]; got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if got := s.fields.Get("Idempotency-Key"); got != "order 1" {
		t.Errorf("Idempotency-Key: got %q", got)
	}
}

// TestBindingWithoutDemand: a client that accepts responses in the clear does not bind a demand.
func TestBindingWithoutDemand(t *testing.T) {
	t.Parallel()
	s, base := open(t)
	s.response = func(w http.ResponseWriter, _ string) { _, _ = w.Write([]byte("{}")) }
	send(t, base, mle.Config{}, http.MethodPost, "order 1")
	header, _ := opened(t, s.key, s.sent[0])
	if got, present := header.ExtraHeaders["rsp"]; present {
		t.Errorf("rsp: got %v, want none", got)
	}
}

// TestBindingMakesIdempotencyKey: a POST or PATCH without a key gets one, the same for both
// attempts of a request and another one for the next request.
func TestBindingMakesIdempotencyKey(t *testing.T) {
	t.Parallel()
	for method, makes := range map[string]bool{http.MethodPost: true, http.MethodPatch: true, http.MethodPut: false} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			s, base := open(t)
			attempts, names := 0, map[string]bool{}
			s.response = func(w http.ResponseWriter, _ string) {
				if attempts++; attempts == 1 {
					w.WriteHeader(http.StatusBadRequest)
					_, _ = w.Write([]byte(`{"error":{"type":"mle_error","code":"mle_kid_unknown"}}`))
				}
				s.mu.Lock()
				names[s.fields.Get("Idempotency-Key")] = true
				s.mu.Unlock()
			}
			send(t, base, mle.Config{}, method, "")
			if attempts != 2 || len(names) != 1 || names[""] == makes {
				t.Fatalf("got %d attempts under %v, want 2 under one key", attempts, names)
			}
			for _, token := range s.sent {
				header, _ := opened(t, s.key, token)
				idk, _ := header.ExtraHeaders["idk"].(string)
				if !names[idk] || makes && len(idk) < 26 { // 128 bits
					t.Errorf("idk: got %q, want the key of the request", idk)
				}
			}
			send(t, base, mle.Config{}, method, "")
			if makes && len(names) != 2 {
				t.Errorf("two requests: got the keys %v, want two", names)
			}
		})
	}
}
