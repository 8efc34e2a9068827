package build

import (
	"cmp"
	"maps"
	"slices"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
)

const (
	// connectTimeout is short because the upstreams are near.
	connectTimeout = time.Second
	// keptIdle is less than the two minutes after which our servers close an idle connection.
	// Otherwise a request could be sent on a closing connection.
	keptIdle = time.Minute
	// underWay is the limit of concurrent requests, and of connections, of an upstream. Envoy returns
	// 503 above it. Our servers shed load earlier: they have 16,384 unfinished bodies and 1,024 slots.
	underWay = 20_000
	// upstreamBuffer is how much of a body Envoy reads ahead of a peer that is slower.
	upstreamBuffer = 256 << 10
	// streams is the limit of concurrent requests at the external processor, which sheds load itself
	// with a better response.
	streams = 1 << 16
	// httpOptions is the key of a cluster's protocol options.
	httpOptions = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
)

// clusters returns the clusters of the configuration, sorted, then our own.
func (b *builder) clusters() []*clusterv3.Cluster {
	var out []*clusterv3.Cluster
	for _, name := range slices.Sorted(maps.Keys(b.Config.Upstreams)) {
		u := b.Config.Upstreams[name]
		c := b.cluster(name, u.Address, underWay, b.http1())
		if u.CA != "" {
			at, _ := config.ParseAddress(u.Address) // the first of several addresses
			c.TransportSocket = b.upstream(u.Authority, cmp.Or(u.ServerName, at.Host))
		}
		if u.Health != "" {
			c.HealthChecks = healthChecks(c, httpHealth(u.Health, b.Config.Hosts[0]))
		}
		out = append(out, c)
	}
	out = append(out, b.cluster(ClusterEdge, b.Config.HTTP, underWay, b.http1()))
	if b.Config.ExtProc.Address != "" {
		c := b.cluster(ClusterExtProc, b.Config.ExtProc.Address, streams, b.http2())
		if several(c) {
			c.HealthChecks = healthChecks(c, grpcHealth())
		}
		out = append(out, c)
	}
	if acme := b.Config.Certificates.ACME; acme.Uses(config.ChallengeTLSALPN) {
		out = append(out, b.cluster(ClusterACME, acme.Listen, underWay, nil))
	}
	return out
}

func (b *builder) cluster(name, addresses string, most uint32, options *anypb.Any) *clusterv3.Cluster {
	c := &clusterv3.Cluster{
		Name:                          name,
		ClusterDiscoveryType:          &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC},
		ConnectTimeout:                duration(connectTimeout),
		PerConnectionBufferLimitBytes: u32(upstreamBuffer),
		CircuitBreakers: &clusterv3.CircuitBreakers{Thresholds: []*clusterv3.CircuitBreakers_Thresholds{{
			MaxConnections: u32(most), MaxPendingRequests: u32(most), MaxRequests: u32(most), TrackRemaining: true,
		}}},
	}
	var endpoints []*endpointv3.LbEndpoint
	for _, address := range config.Addresses(addresses) {
		at, parsed := b.address(address)
		if !parsed.IsUnix() && !parsed.IsIP() {
			c.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STRICT_DNS}
		}
		endpoints = append(endpoints, &endpointv3.LbEndpoint{
			HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{Address: at}},
		})
	}
	c.UpstreamBindConfig = resetOnClose()
	c.LoadAssignment = &endpointv3.ClusterLoadAssignment{
		ClusterName: name, Endpoints: []*endpointv3.LocalityLbEndpoints{{LbEndpoints: endpoints}},
	}
	if several(c) {
		balance(c)
	}
	if options != nil {
		c.TypedExtensionProtocolOptions = map[string]*anypb.Any{httpOptions: options}
	}
	return c
}

// resetOnClose frees the local port of a connection that Envoy closes. Envoy closes one if a
// program responds to a request whose body is unfinished. With TIME_WAIT one client could so use up
// the ports of all. The values are of Linux.
func resetOnClose() *corev3.BindConfig {
	const solSocket, soLinger = 1, 13
	return &corev3.BindConfig{SocketOptions: []*corev3.SocketOption{{
		Description: "SO_LINGER of 0 s", Level: solSocket, Name: soLinger,
		Value: &corev3.SocketOption_BufValue{BufValue: []byte{1, 0, 0, 0, 0, 0, 0, 0}}, // on, for 0 s
	}}}
}

func (b *builder) http1() *anypb.Any {
	return b.pack(&httpv3.HttpProtocolOptions{
		CommonHttpProtocolOptions: &corev3.HttpProtocolOptions{IdleTimeout: duration(keptIdle)},
		UpstreamProtocolOptions: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_{
			ExplicitHttpConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig{
				ProtocolConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_HttpProtocolOptions{
					HttpProtocolOptions: &corev3.Http1ProtocolOptions{},
				},
			},
		},
	})
}

func (b *builder) http2() *anypb.Any {
	return b.pack(http2Options())
}

// http2Options makes Envoy detect a dead peer within seconds.
func http2Options() *httpv3.HttpProtocolOptions {
	return &httpv3.HttpProtocolOptions{
		UpstreamProtocolOptions: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_{
			ExplicitHttpConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig{
				ProtocolConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_Http2ProtocolOptions{
					Http2ProtocolOptions: &corev3.Http2ProtocolOptions{
						ConnectionKeepalive: &corev3.KeepaliveSettings{
							Interval: duration(30 * time.Second), Timeout: duration(5 * time.Second),
						},
					},
				},
			},
		},
	}
}
