package build

import (
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/shared/dropin"
)

// mount is the path below which compat-proxy serves the dialects.
const mount = "/compat"

// isLegacy reports whether compat-proxy's clients request a route: it is below the mount, or has a
// provider's own path.
func isLegacy(r config.Route) bool {
	path := strings.TrimSuffix(r.Path, "/**")
	return path == mount || strings.HasPrefix(path, mount+"/") || dropin.IsA(path) || dropin.IsB(path)
}

// legacyRoutes returns the routes of legacy clients for every other host. Their SDKs send, and
// sign, the provider's host name to another address. No check of a request depends on the name:
// only the signature covers it, as sent.
func (b *builder) legacyRoutes() []*routev3.Route {
	var routes []*routev3.Route
	for _, r := range b.Config.Routes {
		if isLegacy(r) {
			routes = append(routes, b.routes(r)...)
		}
	}
	if routes == nil {
		return nil
	}
	return append(b.unreadable(), routes...)
}
