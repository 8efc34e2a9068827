package upstream_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/upstream"
	"github.com/causeway-pay/causeway/shared/admission"
)

// TestResponsesHoldMemory: a request holds memory for its last response of v1, and a GET for which
// none is left gets a 429. A change gets its response.
func TestResponsesHoldMemory(t *testing.T) {
	t.Parallel()
	const size = 100 << 10
	v1 := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, _ = io.WriteString(w, strings.Repeat("a", size))
	}))
	t.Cleanup(v1.Close)
	for name, transport := range map[string]http.RoundTripper{
		"Transport": newTransport(t, upstream.Config{}), "Counted": upstream.Counted(v1.Client().Transport),
	} {
		l := admission.New(admission.Config{Memory: 2*3*size - 1}) // a byte too short for two
		var serve func(depth int) http.Handler
		serve = func(depth int) http.Handler {
			return l.Handler(nil, http.HandlerFunc(func(_ http.ResponseWriter, in *http.Request) {
				for method, want := range map[string]int{http.MethodGet: 200, http.MethodPost: 200} {
					if depth == 1 && method == http.MethodGet {
						want = http.StatusTooManyRequests
					}
					r, err := http.NewRequestWithContext(in.Context(), method, v1.URL, nil)
					if err != nil {
						t.Fatal(err)
					}
					if status, _, err := do(transport, r); status != want {
						t.Errorf("%s, %s beside %d: got %d, %v, want %d", name, method, depth, status, err, want)
					}
				}
				if depth == 0 {
					serve(1).ServeHTTP(httptest.NewRecorder(), in)
				}
			}))
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		serve(0).ServeHTTP(httptest.NewRecorder(), r)
	}
}
