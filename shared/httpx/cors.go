package httpx

import (
	"net/http"
	"slices"
	"strings"
)

// PageRoute is a route that web pages can call.
type PageRoute struct {
	Method string
	Path   string // as in the contract: {id} stands for any one segment
}

// pageRoutes are all that a publishable key can do.
var pageRoutes = [...]PageRoute{
	{http.MethodPost, "/v1/tokens"},
	{http.MethodPost, "/v1/transactions/{id}/confirm"},
	{http.MethodGet, "/v1/mle/keys/current"},
}

// PageRoutes returns the routes that a web page of any origin can call with a publishable key.
func PageRoutes() []PageRoute { return slices.Clone(pageRoutes[:]) }

func (p PageRoute) matches(path string) bool {
	prefix, suffix, hasID := strings.Cut(p.Path, "{id}")
	if !hasID {
		return path == p.Path
	}
	rest, begins := strings.CutPrefix(path, prefix)
	id, ends := strings.CutSuffix(rest, suffix)
	return begins && ends && id != "" && !strings.Contains(id, "/")
}

// The header fields by which a browser shows a response to a page of another origin, and their
// values.
const (
	AllowOriginField   = "Access-Control-Allow-Origin"
	AllowOrigin        = "*"
	ExposeHeadersField = "Access-Control-Expose-Headers"
	ExposeHeaders      = "Request-Id, RateLimit, Retry-After, Causeway-Version"
)

var (
	anyOrigin      = []string{AllowOrigin}
	exposedHeaders = []string{ExposeHeaders}
	allowedHeaders = []string{
		"Authorization, Content-Type, Idempotency-Key, Causeway-Version, X-SVC-MLE, X-SVC-MLE-Response",
	}
	// preflightAge is how long a browser keeps the response to a preflight request: 2 hours, the most
	// that Chromium accepts.
	preflightAge = []string{"7200"}
)

// CrossOrigin lets web pages of any origin read the responses of PageRoutes, refusals included. The
// fields are the same for every origin, so a cache needs no Vary. Pages cannot send cookies.
//
// It responds to OPTIONS on these routes with 204. A browser sends such a preflight request without
// the API key. The response therefore needs neither the key, nor the store, nor a slot among the
// concurrent requests.
func CrossOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions {
			if route := pageRoute(r.URL.Path); route != nil {
				preflight(w, r, *route)
				return
			}
		}
		exposeToPages(w, r)
		next.ServeHTTP(w, r)
	})
}

// exposeToPages lets web pages read the response if its route is one of pageRoutes.
func exposeToPages(w http.ResponseWriter, r *http.Request) {
	if pageRoute(r.URL.Path) != nil {
		w.Header()[AllowOriginField] = anyOrigin
		w.Header()[ExposeHeadersField] = exposedHeaders
	}
}

// pageRoute returns the route of web pages with this path, or nil.
func pageRoute(path string) *PageRoute {
	i := slices.IndexFunc(pageRoutes[:], func(p PageRoute) bool { return p.matches(path) })
	if i < 0 {
		return nil
	}
	return &pageRoutes[i]
}

// Allow returns the Allow field of a 405 for a path whose handlers accept these methods. A route of
// web pages accepts OPTIONS too.
func Allow(path string, methods ...string) string {
	if pageRoute(path) != nil {
		methods = append(slices.Clone(methods), http.MethodOptions)
	}
	return strings.Join(slices.Sorted(slices.Values(methods)), ", ")
}

func preflight(w http.ResponseWriter, r *http.Request, route PageRoute) {
	EventFrom(r.Context()).SetRoute(http.MethodOptions + " " + route.Path)
	CloseUnread(w, r)
	h := w.Header()
	h[AllowOriginField] = anyOrigin
	h["Access-Control-Allow-Methods"] = []string{route.Method}
	h["Access-Control-Allow-Headers"] = allowedHeaders
	h["Access-Control-Max-Age"] = preflightAge
	w.WriteHeader(http.StatusNoContent)
}
