package build

import (
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
)

// The names of the listener for operators, which cannot change Envoy.
const (
	listenerStats = "stats"
	clusterAdmin  = "admin"
)

// stats returns a listener that forwards two paths of Envoy's administration: the statistics and
// the readiness.
func (b *builder) stats(n Node) (*listenerv3.Listener, *clusterv3.Cluster) {
	to := &routev3.Route_Route{Route: &routev3.RouteAction{
		ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: clusterAdmin}, Timeout: duration(10 * time.Second),
	}}
	read := []*routev3.HeaderMatcher{methodIs("GET")}
	path := func(p string) *routev3.Route {
		return &routev3.Route{
			Match: &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Path{Path: p}, Headers: read}, Action: to,
		}
	}
	manager := &hcmv3.HttpConnectionManager{
		StatPrefix:            listenerStats,
		NormalizePath:         yes(),
		RequestHeadersTimeout: duration(5 * time.Second),
		RouteSpecifier: &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: &routev3.RouteConfiguration{
			Name: listenerStats,
			VirtualHosts: []*routev3.VirtualHost{
				{Name: listenerStats, Domains: []string{"*"}, Routes: []*routev3.Route{path("/stats/prometheus"), path("/ready")}},
			},
		}},
		HttpFilters: []*hcmv3.HttpFilter{{
			Name: "router", ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: b.pack(&routerv3.Router{})},
		}},
	}
	l := &listenerv3.Listener{
		Name: listenerStats, Address: b.tcp(n.Stats),
		// Also when Envoy refuses everything else, because that is when operators need the statistics.
		IgnoreGlobalConnLimit: true, BypassOverloadManager: true,
		FilterChains: []*listenerv3.FilterChain{{
			Filters: []*listenerv3.Filter{b.network("http", b.withoutControl(manager))},
		}},
	}
	c := b.cluster(clusterAdmin, n.admin(), 64, b.http1())
	c.LoadAssignment.Endpoints[0].LbEndpoints[0].GetEndpoint().Address = b.tcp(n.admin())
	return l, c
}

// admin returns the address of Envoy's administration.
func (n Node) admin() string {
	if n.Admin == "" {
		return "127.0.0.1:9901"
	}
	return n.Admin
}

// withStats adds the listener to the resources of a bootstrap, if it is configured.
func (b *builder) withStats(n Node, listeners []*listenerv3.Listener,
	clusters []*clusterv3.Cluster,
) ([]*listenerv3.Listener, []*clusterv3.Cluster) {
	if n.Stats == "" {
		return listeners, clusters
	}
	l, c := b.stats(n)
	return append(listeners, l), append(clusters, c)
}
