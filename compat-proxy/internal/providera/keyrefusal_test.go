package providera_test

import (
	"io"
	"net/http"
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
		v1         int
		code, want string
	}{
		{401, "invalid_api_key", `"code":"E00007"`},
		{403, "merchant_disabled", `"code":"E00008"`},
		{403, "address_not_allowed", `"code":"E00011"`},
		{400, "mle_required", `"code":"E00011","text":"Access denied. The merchant requires message-level encryption.`},
		{404, "", `"code":"E00001"`},
	} {
		for _, request := range requests {
			t.Run(strconv.Itoa(tt.v1)+" "+tt.code+" "+request.name, func(t *testing.T) {
				t.Parallel()
				refusing := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(tt.v1)
					_, _ = io.WriteString(w, `{"error":{"type":"api_error","code":"`+tt.code+`","message":"","request_id":""}}`)
				})
				got := sendWith(t, refusing, "Bearer "+goldentest.APIKey, document(request.method, request.members))
				if !strings.Contains(got, tt.want) {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			})
		}
	}
}
