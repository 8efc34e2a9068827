package providerb_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
)

// TestKeyRefused checks the response if v1, or a program in front of it, does not return the API
// key. Only a 401 means that the login is wrong.
func TestKeyRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		v1     int
		code   string
		status int
		want   string
	}{
		{401, "invalid_api_key", 401, `"rmsg":"Authentication Failed"`},
		{403, "merchant_disabled", 400, `"reason":"INVALID_MERCHANT_CONFIGURATION"`},
		{403, "address_not_allowed", 403, "from the address"},
		{400, "mle_required", 400, "The merchant requires message-level encryption."},
		{404, "", 502, `"reason":"SYSTEM_ERROR"`},
	} {
		t.Run(strconv.Itoa(tt.v1)+" "+tt.code, func(t *testing.T) {
			t.Parallel()
			h := mustHandler(t, goldentest.MustExecutor(t, refusing(tt.v1, tt.code)))
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/pts/v2/payments", strings.NewReader(signedBody))
			r.Header.Set("Authorization", "Bearer "+goldentest.APIKey)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("got %d %s, want %d with %s", w.Code, w.Body, tt.status, tt.want)
			}
		})
	}
}

// refusing refuses every request with that status and code.
func refusing(status int, code string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":{"type":"api_error","code":"`+code+`","message":"","request_id":""}}`)
	})
}
