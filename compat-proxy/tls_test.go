package compatproxy_test

import (
	"net/http"
	"strings"
	"testing"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
	"github.com/causeway-pay/causeway/shared/tlspolicy/tlspolicytest"
)

func TestCallsToV1KeepTheTLSPolicy(t *testing.T) {
	t.Parallel()
	tlspolicytest.Calls(t, tlspolicy.Policy{}, func(url string) {
		proxy := mustProxy(t, &v1{}, func(cfg *compatproxy.Config) { cfg.V1 = url })
		send(t, http.MethodPost, proxy.URL+path, strings.NewReader(sale), nil)
	})
}
