package build

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
)

// trustTimeout is how long this program may take to tell what it knows.
const trustTimeout = 5 * time.Second

// challengePath is where an authority asks by HTTP-01.
const challengePath = "/.well-known/acme-challenge/"

// httpsRoutes has a route for every request: what is nobody's is answered here, so that nothing is decided by what is missing.
func (b *builder) httpsRoutes() *routev3.RouteConfiguration {
	c := b.Config
	trust, calendar := b.edgeRoute("trust", config.TrustPath), b.edgeRoute("calendar", c.CalendarPath())
	var own []*routev3.Route
	for _, r := range c.Routes {
		own = append(own, b.routes(r)...)
	}
	hosts := []*routev3.Route{trust}
	if slices.Contains(c.Hosts, c.TrustHost()) {
		hosts = append(hosts, calendar)
	}
	out := &routev3.RouteConfiguration{
		Name:                     RoutesHTTPS,
		TypedPerFilterConfig:     b.extProcOn(),
		IgnorePortInHostMatching: true, // rather than to strip it: the Host field is signed by some clients
		VirtualHosts:             []*routev3.VirtualHost{b.virtualHost("hosts", c.Hosts, append(hosts, own...))},
	}
	if !slices.Contains(c.Hosts, c.TrustHost()) {
		out.VirtualHosts = append(out.VirtualHosts, b.virtualHost("trust", []string{c.TrustHost()}, []*routev3.Route{trust, calendar}))
	}
	// A client that knows another name of ours by another certificate may have come by a connection of this one.
	elsewhere := &routev3.VirtualHost{Name: "elsewhere", Domains: []string{"*"}, Routes: []*routev3.Route{b.answer("elsewhere", 421)}}
	out.VirtualHosts = append(out.VirtualHosts, elsewhere)
	return out
}

func (b *builder) virtualHost(name string, domains []string, routes []*routev3.Route) *routev3.VirtualHost {
	return &routev3.VirtualHost{
		Name: name, Domains: domains, Routes: slices.Concat(b.unreadable(), routes, []*routev3.Route{b.answer("none", 404)}),
	}
}

// unreadable are requests that the services' own HTTP would refuse, in words that are not v1's: escapes in a path that say no character, and
// expectations but the one that Envoy has met by now.
func (b *builder) unreadable() []*routev3.Route {
	escape, expectation := b.answer("escape", 400), b.answer("expectation", 417)
	escape.Match.Headers = []*routev3.HeaderMatcher{matches(":path", "[^?]*%[0-9A-Fa-f]?([^0-9A-Fa-f].*)?")}
	expectation.Match.Headers = []*routev3.HeaderMatcher{matches("expect", ".+")}
	return []*routev3.Route{escape, expectation}
}

// matches is true of a field the whole of which an expression matches.
func matches(name, expression string) *routev3.HeaderMatcher {
	return &routev3.HeaderMatcher{Name: name, HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: &matcherv3.StringMatcher{
		MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: expression}},
	}}}
}

// refusedName is behind the name of a route, in that of the one which refuses who asks for encryption there.
const refusedName = " refused"

// routes are those of one in the configuration. Where no filter looks, nobody would take encryption off or put it on: who asks for any is refused,
// never served in the clear.
func (b *builder) routes(r config.Route) []*routev3.Route {
	route := b.route(r)
	if r.MLE != config.Off {
		return []*routev3.Route{route}
	}
	refusal := b.answer(r.Path+refusedName, 400)
	refusal.Match = b.match(r.Path)
	route.Match.Headers = inTheClear()
	return []*routev3.Route{route, refusal}
}

// inTheClear is true of a request that asks for no encryption, as mle-filter understands it.
func inTheClear() []*routev3.HeaderMatcher {
	var out []*routev3.HeaderMatcher
	for _, name := range []string{"x-svc-mle", "x-svc-mle-response", "x-svc-mle-response-kid"} {
		out = append(out, &routev3.HeaderMatcher{Name: name, HeaderMatchSpecifier: &routev3.HeaderMatcher_PresentMatch{PresentMatch: false}})
	}
	jose := &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: "application/jose"}, IgnoreCase: true}
	return append(out, &routev3.HeaderMatcher{
		Name: "content-type", HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: jose}, InvertMatch: true, TreatMissingHeaderAsEmpty: true,
	})
}

// route is one of the configuration. Its name is its path, which stays when others come and go.
func (b *builder) route(r config.Route) *routev3.Route {
	return &routev3.Route{
		Name:  r.Path,
		Match: b.match(r.Path),
		Action: &routev3.Route_Route{Route: &routev3.RouteAction{
			ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: r.Upstream},
			Timeout:          duration(b.Config.Limits.Timeout),
			RetryPolicy:      retries(),
		}},
		TypedPerFilterConfig: b.level(r.MLE),
	}
}

// edgeRoute leads to this program.
func (b *builder) edgeRoute(name, path string) *routev3.Route {
	return &routev3.Route{
		Name:  name,
		Match: b.match(path),
		Action: &routev3.Route_Route{Route: &routev3.RouteAction{
			ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: ClusterEdge}, Timeout: duration(trustTimeout),
		}},
		TypedPerFilterConfig: b.level(config.Off),
	}
}

// answer has Envoy answer itself; the body comes from the table of local replies.
func (b *builder) answer(name string, status uint32) *routev3.Route {
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
		return &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: expression(p)}}}
	case p.Rest && len(p.Segments) == 0:
		return &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}}
	case p.Rest:
		return &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_PathSeparatedPrefix{PathSeparatedPrefix: "/" + strings.Join(p.Segments, "/")}}
	}
	return &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Path{Path: "/" + strings.Join(p.Segments, "/")}}
}

// expression matches the whole of a path, without its query.
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

// httpRoutes redirect, and let an authority's challenge through.
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

// overwrite is a field of an answer, whatever was there.
func overwrite(name, value string) *corev3.HeaderValueOption {
	return &corev3.HeaderValueOption{
		Header: &corev3.HeaderValue{Key: name, Value: value}, AppendAction: corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
	}
}

func seconds(n int) string { return strconv.Itoa(n) }
