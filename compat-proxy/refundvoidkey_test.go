package compatproxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
)

// refunding is a v1 that has a refund of each number, and no transaction.
type refunding struct{ keeping }

func (f *refunding) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	re, ofRefund := strings.CutPrefix(r.URL.Path, "/v1/refunds/")
	switch {
	case r.Method == http.MethodGet && ofRefund:
		_, _ = io.WriteString(w, `{"id":"`+re+`","status":"succeeded","currency":"usd","amount":2450}`)
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v1/transactions/"):
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"code":"not_found"}}`)
	default:
		f.keeping.ServeHTTP(w, r)
	}
}

// TestIdempotencyKey_voidOfRefund: a refused void of a refund has its key too, although it had no
// effect.
func TestIdempotencyKey_voidOfRefund(t *testing.T) {
	t.Parallel()
	f := &refunding{keeping{kept: map[string]keptResponse{}, customers: map[string]map[string]any{}}}
	proxy := mustProxyOf(t, goldentest.Identified(f), nil)
	for _, family := range []string{"refunds", "credits"} {
		post := func(number, body, key string) string {
			_, got := send(t, http.MethodPost, proxy.URL+"/compat/provider-b/pts/v2/"+family+"/"+number+"/voids",
				strings.NewReader(body), keyed(key+family))
			return got
		}
		const body, other = `{"clientReferenceInformation":{"code":"1"}}`, `{"clientReferenceInformation":{"code":"2"}}`
		for _, c := range []struct{ number, body, key, want string }{
			{"60410000123", body, "k", "NOT_VOIDABLE"},
			{"60410000123", body, "k", "NOT_VOIDABLE"},
			{"60410000123", other, "k", `"field":"Idempotency-Key"`},
			{"60410000124", body, "k", `"field":"Idempotency-Key"`},
			{"60410000123", other, "l", "NOT_VOIDABLE"},
		} {
			if got := post(c.number, c.body, c.key); !strings.Contains(got, c.want) {
				t.Errorf("%s %+v: got %s", family, c, got)
			}
		}
	}
	if f.done() != 0 {
		t.Errorf("got %d effects, want none", f.done())
	}
}
