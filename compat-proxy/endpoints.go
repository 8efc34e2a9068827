package compatproxy

import (
	"net/http"
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// IsDropIn reports whether a path is an original path of a legacy provider. Config.DropInPaths
// serves them.
func IsDropIn(path string) bool {
	return strings.TrimSuffix(path, "/") == dropInA || isDropInB(path)
}

// familiesB are the top-level paths of provider-b's APIs. The dialect responds to every path below
// them, because a client cannot read v1's errors. Few of the paths have an operation.
var familiesB = []string{
	"accountupdater", "bavs", "bin", "boarding", "dms", "flex", "icc", "invoicing", "ipl", "kms", "microform",
	"notification-subscriptions", "oauth2", "pts", "rbs", "reporting", "risk", "sfs", "tms", "tss", "uc", "ums", "up",
	"vas",
}

// isDropInB is IsDropIn for provider-b.
func isDropInB(path string) bool {
	family, _, below := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return below && slices.Contains(familiesB, family)
}

// dropInA is the only original path of provider-a. Some clients add a slash.
const dropInA = "/xml/v1/request.api"

// providerBRoutes serves the endpoints of provider-b and passes all other paths to next. It
// bypasses the mux, because the mux redirects some paths, and legacy clients do not follow
// redirects.
func (p *Proxy) providerBRoutes(next http.Handler) http.Handler {
	mounted, root := p.providerBEndpoint(catalogue.PrefixB), p.providerBEndpoint("")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case strings.HasPrefix(path, catalogue.PrefixB+"/"):
			mounted.ServeHTTP(w, r)
		case p.cfg.DropInPaths && isDropInB(path):
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
