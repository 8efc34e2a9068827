package mle_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// TestARequestWithoutAKeyIsSentOnce: a request whose key the transport made is not repeated after
// its connection broke, as http.Transport does with one that has a key.
func TestARequestWithoutAKeyIsSentOnce(t *testing.T) {
	t.Parallel()
	s, base := open(t)
	var posts atomic.Int64
	s.response = func(w http.ResponseWriter, _ string) {
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
	transport := mle.New(mle.Config{Next: &http.Transport{}})
	if _, _, err := payBy(t, base, transport); err != nil {
		t.Fatal(err)
	}
	if _, _, err := payBy(t, base, transport); err == nil {
		t.Error("a request whose connection broke got a response")
	}
	if got := posts.Load(); got != 2 {
		t.Errorf("two requests arrived %d times", got)
	}
}
