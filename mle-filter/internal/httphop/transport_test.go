package httphop_test

import (
	"net/http"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
	"github.com/causeway-pay/causeway/shared/tlspolicy/tlspolicytest"
)

func TestCallsToCoreKeepTheTLSPolicy(t *testing.T) {
	t.Parallel()
	tlspolicytest.Calls(t, tlspolicy.Policy{}, func(url string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		transport := httphop.NewTransport(nil)
		defer transport.CloseIdleConnections()
		if resp, err := transport.RoundTrip(r); err == nil {
			_ = resp.Body.Close()
			t.Error("got a response")
		}
	})
}
