package core_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestClientsThatHangUp: a request whose client went away is no error of the service, at any point
// of the request.
func TestClientsThatHangUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, "").ID
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/v1/transactions", ""},
		{"GET", "/v1/transactions?reference=none", ""},
		{"GET", "/v1/transactions/" + txn, ""},
		{"GET", "/v1/events", ""},
		{"GET", "/v1/api_keys/current", ""},
		{"GET", "/v1/idempotency_keys/none", ""},
		{"GET", "/v1/health", ""},
		{"POST", "/v1/transactions", paid("tok_0000000000001", "")},
		{"POST", "/v1/refunds", `{"transaction":"` + txn + `"}`},
		{"PATCH", "/v1/customers/cus_0000000000001", `{"phone":"1"}`},
	} {
		r := httptest.NewRequestWithContext(ended, c.method, c.path, strings.NewReader(c.body))
		r.Header = http.Header{"Authorization": {"Bearer " + b.key}, "Content-Type": {"application/json"}, "Idempotency-Key": {c.path}}
		b.core.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}
	for line := range strings.Lines(b.logs.String()) {
		if strings.Contains(line, `"level":"ERROR"`) {
			t.Errorf("got an error line: %s", line)
		}
	}
	if !strings.Contains(b.logs.String(), `"status":499`) {
		t.Error("no request is logged with status 499")
	}
	b.wantSeries(t, `request_seconds_count{route="POST /v1/transactions",status="499"} 1`)
}
