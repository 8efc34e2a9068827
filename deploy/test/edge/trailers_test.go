package edge_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/sdk"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// trailing sends the bodies of requests without their length, and trailers after them. If empty, it
// sends only the trailers.
type trailing struct {
	next  http.RoundTripper
	empty bool
}

func (tr *trailing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Trailer, r.ContentLength = http.Header{"X-Trailer": {"1"}}, -1
	if tr.empty {
		r.Body = io.NopCloser(strings.NewReader(""))
	}
	return tr.next.RoundTrip(r)
}

// testTrailers sends encrypted requests with trailers over HTTP/2. A payment has the same result as
// without trailers. If only trailers follow the head, the request does not reach core.
func testTrailers(t *testing.T, r *deployment) {
	t.Helper()
	s := r.system()
	s.V1, s.HTTP = "https://"+host, r.client(t, nil)
	private := sdk.RegisterKey(t, s)
	h2 := r.client(t, onlyHTTP2).Transport
	client := &http.Client{
		Transport: mle.New(mle.Config{Private: private, Next: &trailing{next: h2}}), Timeout: patience,
	}
	got := r.api(t, client, http.MethodPost, "/v1/transactions", strings.Replace(sale, "%s", "", 1))
	if got.status != http.StatusCreated || !strings.Contains(got.body, `"status":"captured"`) {
		t.Errorf("got %d %s, want a payment", got.status, got.body)
	}
	client = &http.Client{Transport: &trailing{next: h2, empty: true}, Timeout: patience}
	got = send(t, client, http.MethodPost, "https://"+host+"/v1/transactions", "a.b.c.d.e",
		"Authorization", "Bearer "+r.key, "Content-Type", "application/jose", "X-SVC-MLE", "v1")
	if got.status != http.StatusBadRequest || !strings.Contains(got.body, "mle_decrypt_failed") {
		t.Errorf("without a body: got %d %s, want mle_decrypt_failed", got.status, got.body)
	}
}
