package keyapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestClientsThatHangUp checks that no error is logged for a request whose client has disconnected.
func TestClientsThatHangUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct{ method, path, body string }{
		{"GET", current, ""}, {"GET", all, ""}, {"POST", rotate, "{}"},
	} {
		r := httptest.NewRequestWithContext(ended, c.method, c.path, strings.NewReader(c.body))
		r.Header = http.Header{"Authorization": {"Bearer sk"}, "Content-Type": {"application/json"}}
		w := httptest.NewRecorder()
		b.server.Config.Handler.ServeHTTP(w, r)
		if w.Code != 499 {
			t.Errorf("%s %s: got %d, want 499", c.method, c.path, w.Code)
		}
	}
	if got := b.log.String(); strings.Contains(got, "level=ERROR") {
		t.Errorf("got %s", got)
	}
}

// TestReplayWhateverChanged checks that a retry with the same Idempotency-Key gets the first
// response, even after its object has changed or ended.
func TestReplayWhateverChanged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := MustDecode[key](t, b.do(t, "sk", "GET", current, ""), 200)
	calls := []struct{ path, body string }{
		{rotate, `{"kid":"` + first.Kid + `","expires_in":60}`},
		{rotate, ``},
	}
	var done []reply
	for _, c := range calls {
		done = append(done, b.do(t, "sk", "POST", c.path, c.body, "Idempotency-Key", c.path+c.body))
		if got := done[len(done)-1]; got.status != 200 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
	}
	b.clock.Advance(23 * time.Hour)
	for i, c := range calls {
		again := b.do(t, "sk", "POST", c.path, c.body, "Idempotency-Key", c.path+c.body)
		if again.status != done[i].status || again.body != done[i].body || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s %s: got %d %s, want %s", c.path, c.body, again.status, again.body, done[i].body)
		}
	}
}
