package compatproxy

import (
	"net/http"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb"
	"github.com/causeway-pay/causeway/shared/dropin"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// providerBRoutes serves the endpoints of provider-b and passes all other paths to next. It
// bypasses the mux, because the mux redirects some paths, and legacy clients do not follow
// redirects.
func (p *Proxy) providerBRoutes(next http.Handler) http.Handler {
	mounted, root := p.providerBEndpoint(catalogue.PrefixB), p.providerBEndpoint("")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case strings.HasPrefix(path, catalogue.PrefixB+"/"):
			mounted.ServeHTTP(w, r)
		case p.cfg.DropInPaths && dropin.IsB(path):
			root.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// providerBEndpoint returns the endpoint of the provider-b dialect at a mount path.
func (p *Proxy) providerBEndpoint(prefix string) http.Handler {
	served := p.limited(providerb.Busy(p.cfg.Clock), p.providerB.At(prefix))
	return httpx.Recover(providerb.Broken(p.cfg.Clock), p.cfg.Log, served)
}
