package build

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
)

// trustTimeout is the limit of a request to this program.
const trustTimeout = 5 * time.Second

// challengePath is the path of HTTP-01 challenges.
const challengePath = "/.well-known/acme-challenge/"

// httpsRoutes has a route for every request. A default route rejects unknown ones, so no request
// falls through.
func (b *builder) httpsRoutes() *routev3.RouteConfiguration {
	c := b.Config
	trust, calendar := b.edgeRoutes("trust", config.TrustPath), b.edgeRoutes("calendar", c.CalendarPath())
	var own []*routev3.Route
	for _, r := range c.Routes {
		own = append(own, b.routes(r)...)
	}
	hosts := trust
	if slices.Contains(c.Hosts, c.TrustHost()) {
		hosts = slices.Concat(trust, calendar)
	}
	out := &routev3.RouteConfiguration{
		Name:                     RoutesHTTPS,
		TypedPerFilterConfig:     b.extProcOn(),
		IgnorePortInHostMatching: true, // without removing it: some clients sign the Host field
		VirtualHosts:             []*routev3.VirtualHost{b.virtualHost("hosts", c.Hosts, slices.Concat(hosts, own))},
	}
	if !slices.Contains(c.Hosts, c.TrustHost()) {
		out.VirtualHosts = append(out.VirtualHosts,
			b.virtualHost("trust", []string{c.TrustHost()}, slices.Concat(trust, calendar, []*routev3.Route{b.docsRoute()})))
	}
	// A client may send a request for another of our host names, with another certificate, on this
	// connection.
	elsewhere := &routev3.VirtualHost{
		Name: "elsewhere", Domains: []string{"*"}, Routes: append(b.legacyRoutes(), b.respond("elsewhere", 421)),
	}
	out.VirtualHosts = append(out.VirtualHosts, elsewhere)
	return out
}

func (b *builder) virtualHost(name string, domains []string, routes []*routev3.Route) *routev3.VirtualHost {
	return &routev3.VirtualHost{
		Name: name, Domains: domains, Routes: slices.Concat(b.unreadable(), routes, []*routev3.Route{b.respond("none", 404)}),
	}
}

// unreadable returns routes for requests that Envoy rejects by their heads. The HTTP of the
// services would reject some without v1's error body. These are invalid escapes in a path, and
// expectations other than the one that Envoy has already met. A longer body than max_body reaches
// no service if its length is announced. The service rejects the others.
func (b *builder) unreadable() []*routev3.Route {
	escape, expectation, large := b.respond("escape", 400), b.respond("expectation", 417), b.respond("large", 413)
	escape.Match.Headers = []*routev3.HeaderMatcher{matches(":path", "[^?]*%[0-9A-Fa-f]?([^0-9A-Fa-f].*)?")}
	expectation.Match.Headers = []*routev3.HeaderMatcher{matches("expect", ".+")}
	large.Match.Headers = []*routev3.HeaderMatcher{{
		Name: "content-length",
		HeaderMatchSpecifier: &routev3.HeaderMatcher_RangeMatch{RangeMatch: &typev3.Int64Range{
			Start: int64(b.Config.Limits.MaxBody) + 1, End: math.MaxInt64,
		}},
	}}
	return []*routev3.Route{escape, expectation, large}
}

// matches matches a header field whose whole value matches an expression.
func matches(name, expression string) *routev3.HeaderMatcher {
	return &routev3.HeaderMatcher{
		Name: name,
		HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: &matcherv3.StringMatcher{
			MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: expression}},
		}},
	}
}

// refusedName is the suffix of a route's name, for the route that rejects encryption there.
const refusedName = " refused"

// encryptedName is the suffix of a route's name, for the route that passes mle-filter on demand.
const encryptedName = " encrypted"

// routes returns the routes of one in the configuration. Without mle-filter, encryption cannot be
// removed or added. A request for it is rejected, and never gets a plain response. On demand,
// mle-filter handles such a request, and Envoy the others.
func (b *builder) routes(r config.Route) []*routev3.Route {
	if r.MLE != config.Off && r.MLE != config.OnDemand {
		return []*routev3.Route{b.route(r)}
	}
	if r.MLE == config.Off {
		return b.plain(b.route(r))
	}
	direct := r
	direct.MLE, r.MLE = config.Off, config.Optional
	route, other := b.route(direct), b.route(r)
	route.Match.Headers = inTheClear()
	other.Name = r.Path + encryptedName
	return []*routev3.Route{route, other}
}

// plain returns a route without encryption, and the one that rejects requests for it there.
func (b *builder) plain(route *routev3.Route) []*routev3.Route {
	other := b.respond(route.GetName()+refusedName, 400)
	other.Match = &routev3.RouteMatch{PathSpecifier: route.GetMatch().GetPathSpecifier()}
	route.Match.Headers = inTheClear()
	return []*routev3.Route{route, other}
}

// inTheClear matches a request that wants no encryption, by mle-filter's rules.
func inTheClear() []*routev3.HeaderMatcher {
	var out []*routev3.HeaderMatcher
	for _, name := range []string{"x-svc-mle", "x-svc-mle-response", "x-svc-mle-response-kid"} {
		out = append(out, &routev3.HeaderMatcher{
			Name: name, HeaderMatchSpecifier: &routev3.HeaderMatcher_PresentMatch{PresentMatch: false},
		})
	}
	jose := &matcherv3.StringMatcher{
		MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: "application/jose"}, IgnoreCase: true,
	}
	return append(out, &routev3.HeaderMatcher{
		Name: "content-type", HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: jose}, InvertMatch: true,
		TreatMissingHeaderAsEmpty: true,
	})
}

// route returns a route of the configuration. Its name is its path, which does not depend on the
// other routes.
func (b *builder) route(r config.Route) *routev3.Route {
	out := &routev3.Route{
		Name:  r.Path,
		Match: b.match(r.Path),
		Action: &routev3.Route_Route{Route: &routev3.RouteAction{
			ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: r.Upstream},
			Timeout:          duration(b.Config.Limits.Timeout),
			RetryPolicy:      retries(),
		}},
		TypedPerFilterConfig: b.level(r.MLE),
	}
	if b.Config.ExtProc.Address != "" && r.MLE != config.Off {
		// One limit bounds the request and its response. The router raises it to this value when the
		// request is complete.
		out.RequestBodyBufferLimit = wrapperspb.UInt64(responseLimit)
	}
	return out
}

// edgeRoutes returns the routes to this program, which responds by the head of a request and reads
// no body. It cannot encrypt.
func (b *builder) edgeRoutes(name, path string) []*routev3.Route {
	return b.plain(&routev3.Route{
		Name:  name,
		Match: b.match(path),
		Action: &routev3.Route_Route{Route: &routev3.RouteAction{
			ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: ClusterEdge}, Timeout: duration(trustTimeout),
		}},
		TypedPerFilterConfig: b.level(config.Off),
	})
}

// docsRoute redirects /docs on the trust host to another host. The doc_url of an error is relative,
// so a client can resolve it there.
func (b *builder) docsRoute() *routev3.Route {
	redirect := &routev3.RedirectAction{
		HostRedirect: b.Config.Hosts[0], ResponseCode: routev3.RedirectAction_TEMPORARY_REDIRECT,
	}
	if port := b.Config.TrustPort(); port != 443 {
		redirect.PortRedirect = uint32(port)
	}
	return &routev3.Route{
		Name: "docs", Match: b.match("/docs"), Action: &routev3.Route_Redirect{Redirect: redirect},
		TypedPerFilterConfig: b.level(config.Off),
	}
}

// respond returns a route to which Envoy responds itself. The table of local replies has the body.
func (b *builder) respond(name string, status uint32) *routev3.Route {
	return &routev3.Route{
		Name:                 name,
		Match:                &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}},
		Action:               &routev3.Route_DirectResponse{DirectResponse: &routev3.DirectResponseAction{Status: status}},
		TypedPerFilterConfig: b.level(config.Off),
	}
}

func (b *builder) match(path string) *routev3.RouteMatch {
	p, err := config.ParsePattern(path)
	if err != nil {
		b.fail(err)
	}
	switch {
	case slices.Contains(p.Segments, "{}"):
		return &routev3.RouteMatch{
			PathSpecifier: &routev3.RouteMatch_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: expression(p)}},
		}
	case p.Rest && len(p.Segments) == 0:
		return &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}}
	case p.Rest:
		return &routev3.RouteMatch{
			PathSpecifier: &routev3.RouteMatch_PathSeparatedPrefix{PathSeparatedPrefix: "/" + strings.Join(p.Segments, "/")},
		}
	}
	return &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Path{Path: "/" + strings.Join(p.Segments, "/")}}
}

// expression returns a regular expression for the whole path, without its query.
func expression(p config.Pattern) string {
	var out strings.Builder
	for _, s := range p.Segments {
		out.WriteString("/")
		if s == "{}" {
			out.WriteString("[^/]+")
			continue
		}
		out.WriteString(regexp.QuoteMeta(s))
	}
	if p.Rest {
		out.WriteString("(?:/.*)?")
	}
	return out.String()
}

// httpRoutes redirects all requests except for an authority's challenges.
func (b *builder) httpRoutes() *routev3.RouteConfiguration {
	redirect := &routev3.RedirectAction{
		SchemeRewriteSpecifier: &routev3.RedirectAction_HttpsRedirect{HttpsRedirect: true},
		ResponseCode:           routev3.RedirectAction_PERMANENT_REDIRECT,
	}
	if port := b.Config.TrustPort(); port != 443 {
		redirect.PortRedirect = uint32(port)
	}
	var routes []*routev3.Route
	if b.Config.Certificates.ACME.Uses(config.ChallengeHTTP) {
		routes = append(routes, &routev3.Route{
			Name:  "challenge",
			Match: &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: challengePath}},
			Action: &routev3.Route_Route{Route: &routev3.RouteAction{
				ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: ClusterEdge}, Timeout: duration(trustTimeout),
			}},
		})
	}
	routes = append(routes, &routev3.Route{
		Name: "redirect", Match: &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}},
		Action: &routev3.Route_Redirect{Redirect: redirect},
	})
	elsewhere := &routev3.Route{
		Name:   "elsewhere",
		Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}},
		Action: &routev3.Route_DirectResponse{DirectResponse: &routev3.DirectResponseAction{Status: 421}},
	}
	return &routev3.RouteConfiguration{
		Name: RoutesHTTP, IgnorePortInHostMatching: true,
		VirtualHosts: []*routev3.VirtualHost{
			{Name: "hosts", Domains: b.Config.Names(), Routes: routes},
			{Name: "elsewhere", Domains: []string{"*"}, Routes: []*routev3.Route{elsewhere}},
		},
	}
}

// overwrite returns a header field that replaces an existing one.
func overwrite(name, value string) *corev3.HeaderValueOption {
	return &corev3.HeaderValueOption{
		Header:       &corev3.HeaderValue{Key: name, Value: value},
		AppendAction: corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
	}
}

func seconds(n int) string { return strconv.Itoa(n) }
