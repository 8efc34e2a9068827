package httpx_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// refuseAll refuses every request, as a handler does that finds no API key.
var refuseAll = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusUnauthorized)
})

// TestCrossOrigin: a page of any origin may call exactly the routes of publishable keys, and read
// their refusals.
func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	for path, method := range map[string]string{
		"/v1/tokens": "POST", "/v1/transactions/txn_1/confirm": "POST", "/v1/mle/keys/current": "GET",
		"/v1/mle/keys/current?alg=RSA-OAEP-256": "GET",

		"/v1/tokens/": "", "/v1/tokens/tok_1": "", "/v1/tokensx": "", "/v1/transactions": "", "/v1/transactions/": "",
		"/v1/transactions/confirm": "", "/v1/transactions//confirm": "", "/v1/transactions/txn_1": "",
		"/v1/transactions/txn_1/void": "", "/v1/transactions/a/b/confirm": "", "/v1/transactions/a%2Fb/confirm": "",
		"/v1/mle/keys": "", "/v1/mle/keys/rotate": "", "/v1/api_keys/current": "", "/compat/v1/tokens": "", "/": "",
	} {
		for _, asked := range []string{http.MethodOptions, http.MethodPost, http.MethodGet} {
			rec := httptest.NewRecorder()
			httpx.CrossOrigin(refuseAll).ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), asked, path, nil))
			want := map[string]string{
				"Access-Control-Allow-Origin": "", "Access-Control-Expose-Headers": "", "Access-Control-Allow-Methods": "",
				"Access-Control-Allow-Headers": "", "Access-Control-Max-Age": "", "Access-Control-Allow-Credentials": "",
				"Vary": "",
			}
			status := http.StatusUnauthorized
			switch {
			case method != "" && asked == http.MethodOptions:
				status = http.StatusNoContent
				want["Access-Control-Allow-Origin"], want["Access-Control-Allow-Methods"] = "*", method
				want["Access-Control-Allow-Headers"] = "Authorization, Content-Type, Idempotency-Key, " +
					"Causeway-Version, X-SVC-MLE, X-SVC-MLE-Response"
				want["Access-Control-Max-Age"] = "7200"
			case method != "":
				want["Access-Control-Allow-Origin"] = "*"
				want["Access-Control-Expose-Headers"] = "Request-Id, RateLimit, Retry-After, Causeway-Version"
			}
			if rec.Code != status {
				t.Errorf("%s %s: got %d, want %d", asked, path, rec.Code, status)
			}
			for name, value := range want {
				if got := strings.Join(rec.Header()[name], "|"); got != value {
					t.Errorf("%s %s: %s: got %q, want %q", asked, path, name, got, value)
				}
			}
		}
	}
}

// TestPreflightWithABody: a preflight request has no body. One that has a body gets the response
// before the body arrives, and its connection closes. The log has its route without the id.
func TestPreflightWithABody(t *testing.T) {
	t.Parallel()
	var log logbook
	r := httptest.NewRequestWithContext(t.Context(), http.MethodOptions, "/v1/transactions/"+planted+"/confirm",
		iotest.ErrReader(errors.New("the body was read")))
	rec := httptest.NewRecorder()
	httpx.LogRequests(log.logger(), clock.System(), httpx.CrossOrigin(refuseAll)).ServeHTTP(rec, r)
	if rec.Code != http.StatusNoContent || rec.Header().Get("Connection") != "close" {
		t.Errorf("got %d %v, want 204 and the connection closed", rec.Code, rec.Header())
	}
	const route = "OPTIONS /v1/transactions/{id}/confirm"
	if events := log.events(t, "request"); len(events) != 1 || events[0]["route"] != route ||
		strings.Contains(log.String(), planted) {
		t.Errorf("got the log %s, want one event with the route", log.String())
	}
}
