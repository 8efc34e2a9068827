package providerb_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
)

// TestPaths: a path must match exactly, except for one slash at its end and a second one after the
// mount path.
func TestPaths(t *testing.T) {
	t.Parallel()
	const none = http.StatusNotFound
	for path, want := range map[string]int{
		"/pts/v2/payments":                  http.StatusCreated,
		"/pts/v2/payments/":                 http.StatusCreated,
		"//pts/v2/payments":                 http.StatusCreated,
		"/pts/v2/payments/%35/captures":     http.StatusCreated,
		"///pts/v2/payments":                none,
		"/pts/v2/payments//":                none,
		"/pts//v2/payments":                 none,
		"/pts%2Fv2/payments":                none,
		"/pts/v2/payment%73":                none,
		"/./pts/v2/payments":                none,
		"/pts/v2/payments/5%2Fcaptures":     none,
		"/pts/v2/payments/5/6%2Fcaptures":   none,
		"/pts/v2/payments/5%2F6/captures":   none,
		"/pts/v2/payments//captures":        none,
		"/pts/v2/payments/./captures":       none,
		"/pts/v2/payments/../captures":      none,
		"/pts/v2/payments/%2e%2e/captures":  none,
		"/pts/v2/payments/%2E/captures":     none,
		"/compat/provider-bpts/v2/payments": none,
		"/":                                 none,
		"":                                  none,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			const mount = "/compat/provider-b"
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, mount+path, strings.NewReader(signedBody))
			r.Header.Set("Authorization", "Bearer "+goldentest.APIKey)
			mustHandler(t, &signer{}).At(mount).ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("got %d %s, want %d", w.Code, w.Body, want)
			}
		})
	}
}

// TestMountPathTwice: a client joins its base URL with a link, and so sends the mount path twice.
// It signs the link or the whole path.
func TestMountPathTwice(t *testing.T) {
	t.Parallel()
	const mount = "/compat/provider-b"
	const link, whole = mount + "/pts/v2/payments/5/captures", mount + mount + "/pts/v2/payments/5/captures"
	for _, signed := range []string{link, whole} {
		s := mustSigner(t)
		s.handler = s.handler.At(mount)
		r := s.requestTo(t.Context(), signed, followBody)
		r.URL.Path = whole
		s.take(t, r)
		s.take(t, tokened(t, whole, followBody, s.token(t, followBody, "")))
		if got := s.distinct(); got != 2 {
			t.Errorf("signed %s: got %d captures, want 2: %q", signed, got, s.names)
		}
	}
}

// TestOperationsThatAreNotServed checks the table of DIVERGENCES.md.
func TestOperationsThatAreNotServed(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]int{
		"PATCH /pts/v2/payments/5":               http.StatusMethodNotAllowed,
		"POST /pts/v2/refresh-payment-status/5":  http.StatusNotFound,
		"POST /tss/v2/searches":                  http.StatusNotFound,
		"POST /risk/v1/authentication-setups":    http.StatusNotFound,
		"DELETE /tms/v1/paymentinstruments/pm_1": http.StatusNotFound,
	} {
		s := &signer{}
		method, path, _ := strings.Cut(request, " ")
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(signedBody))
		r.Header.Set("Authorization", "Bearer "+goldentest.APIKey)
		mustHandler(t, s).ServeHTTP(w, r)
		if w.Code != want || !strings.HasPrefix(w.Body.String(), `{"message":"`) || s.distinct() != 0 {
			t.Errorf("%s: got %d %s and %d effects, want %d with a message", request, w.Code, w.Body, s.distinct(), want)
		}
	}
}
