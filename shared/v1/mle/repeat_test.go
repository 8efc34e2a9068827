package mle_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// TestARequestWithoutAKeyIsSentOnce: a request whose key the transport made is not repeated after its connection broke. One
// with the caller's own key may be: http.Transport does so.
func TestARequestWithoutAKeyIsSentOnce(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]int64{"": 2, "order-1": 3} {
		s, base := open(t)
		var posts atomic.Int64
		s.answer = func(w http.ResponseWriter, _ string) {
			if posts.Add(1) != 2 {
				return
			}
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.Close()
		}
		client := &http.Client{Transport: mle.New(mle.Config{Next: &http.Transport{}})}
		for range 2 {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/transactions", strings.NewReader(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			if key != "" {
				r.Header.Set("Idempotency-Key", key)
			}
			if response, err := client.Do(r); err == nil {
				_ = response.Body.Close()
			}
		}
		if got := posts.Load(); got != want {
			t.Errorf("key %q: the requests arrived %d times, want %d", key, got, want)
		}
	}
}
