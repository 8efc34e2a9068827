package build

import (
	"fmt"
	"net"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	overloadv3 "github.com/envoyproxy/go-control-plane/envoy/config/overload/v3"
	monitorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/resource_monitors/downstream_connections/v3"
	heapv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/resource_monitors/fixed_heap/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

const (
	// The administration shows secrets and ends Envoy: only Envoy's own user may connect to it.
	adminMode   = 0o600
	heap        = 1 << 30
	connections = 20_000
	// The files of Envoy's certificate for a control plane on another machine. Envoy watches them.
	nodeCertificate, nodeKey, nodeAuthority = "certificate.pem", "private_key.pem", "xds_ca.pem"
	// The resource monitors.
	monitorHeap        = "envoy.resource_monitors.fixed_heap"
	monitorConnections = "envoy.resource_monitors.global_downstream_max_connections"
)

// Node is an Envoy that will be started.
type Node struct {
	ID    string
	Admin string // unix:PATH or host:port of its administration; "" for 127.0.0.1:9901
	Stats string // host:port of its statistics and its readiness, for operators; "" for none
	// TLS is the folder of certificate.pem, private_key.pem and xds_ca.pem, for a control plane on
	// another machine.
	TLS string
}

// Bootstrap returns the configuration with which an Envoy connects to the control plane. Envoy
// waits for the resources that it needs from there.
func Bootstrap(c config.Config, n Node) (*bootstrapv3.Bootstrap, error) {
	b := &builder{Input: Input{Config: c}}
	out := b.bootstrap(n)
	out.DynamicResources = &bootstrapv3.Bootstrap_DynamicResources{
		AdsConfig: &corev3.ApiConfigSource{
			ApiType: corev3.ApiConfigSource_DELTA_GRPC, TransportApiVersion: corev3.ApiVersion_V3,
			SetNodeOnFirstMessageOnly: true,
			GrpcServices: []*corev3.GrpcService{{TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{
				EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: ClusterXDS},
			}}},
		},
		LdsConfig: ads(), CdsConfig: ads(),
	}
	listeners, clusters := b.withStats(n, nil, []*clusterv3.Cluster{b.xdsCluster(n)})
	out.StaticResources = &bootstrapv3.Bootstrap_StaticResources{Listeners: listeners, Clusters: clusters}
	if b.err != nil {
		return nil, fmt.Errorf("bootstrap: %w", b.err)
	}
	return out, out.ValidateAll()
}

// Static returns a configuration without a control plane: all resources, with certificates in
// files.
func Static(c config.Config, n Node, certificates []Certificate) (*bootstrapv3.Bootstrap, error) {
	made, err := Build(Input{Config: c, Certificates: certificates, Static: true})
	if err != nil {
		return nil, err
	}
	b := &builder{Input: Input{Config: c}}
	out := b.bootstrap(n)
	listeners, clusters := b.withStats(n, made.Listeners, made.Clusters)
	out.StaticResources = &bootstrapv3.Bootstrap_StaticResources{
		Listeners: listeners, Clusters: clusters, Secrets: made.Secrets,
	}
	if b.err != nil {
		return nil, fmt.Errorf("static: %w", b.err)
	}
	return out, out.ValidateAll()
}

// bootstrap returns the common part of both.
func (b *builder) bootstrap(n Node) *bootstrapv3.Bootstrap {
	admin := b.tcp(n.admin())
	if pipe := admin.GetPipe(); pipe != nil {
		pipe.Mode = adminMode
	}
	return &bootstrapv3.Bootstrap{
		Node:            &corev3.Node{Id: n.ID, Cluster: b.Config.XDS.Cluster},
		Admin:           &bootstrapv3.Admin{Address: admin, IgnoreGlobalConnLimit: true},
		LayeredRuntime:  b.runtime(),
		OverloadManager: b.overload(),
	}
}

// runtime makes Envoy end a connection with GOAWAY whose client resets most of its streams early.
func (b *builder) runtime() *bootstrapv3.LayeredRuntime {
	layer, err := structpb.NewStruct(map[string]any{
		"overload.premature_reset_total_stream_count":          prematureResets,
		"overload.premature_reset_min_stream_lifetime_seconds": 1,
	})
	if err != nil {
		b.fail(fmt.Errorf("runtime: %w", err))
	}
	return &bootstrapv3.LayeredRuntime{Layers: []*bootstrapv3.RuntimeLayer{{
		Name: "edge", LayerSpecifier: &bootstrapv3.RuntimeLayer_StaticLayer{StaticLayer: layer},
	}}}
}

// prematureResets is the number of streams of a connection after which Envoy ends it if more than
// half of them were reset within a second.
const prematureResets = 200

// tcp parses an address whose port may be 0, for a free one.
func (b *builder) tcp(text string) *corev3.Address {
	if host, ok := cutZeroPort(text); ok {
		return &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
			Address: host, PortSpecifier: &corev3.SocketAddress_PortValue{},
		}}}
	}
	at, _ := b.address(text)
	return at
}

func (b *builder) xdsCluster(n Node) *clusterv3.Cluster {
	out := b.cluster(ClusterXDS, b.Config.XDS.Listen, 1024, b.http2())
	at, _ := config.ParseAddress(b.Config.XDS.Listen)
	if at.IsUnix() {
		return out
	}
	// Files, which Envoy watches: a static cluster cannot get its certificate from the control plane
	// that it connects to.
	in := func(name string) string { return n.TLS + "/" + name }
	sni := at.Host
	if at.IsIP() {
		sni = "" // an address has no SNI
	}
	folder := &corev3.WatchedDirectory{Path: n.TLS}
	out.TransportSocket = b.socket(&tlsv3.UpstreamTlsContext{
		Sni: sni,
		CommonTlsContext: &tlsv3.CommonTlsContext{
			TlsParams: &tlsv3.TlsParameters{
				TlsMinimumProtocolVersion: tlsv3.TlsParameters_TLSv1_3, TlsMaximumProtocolVersion: tlsv3.TlsParameters_TLSv1_3,
				SignatureAlgorithms: tlspolicy.Policy{}.Envoy().SignatureAlgorithms,
			},
			TlsCertificates: []*tlsv3.TlsCertificate{{
				CertificateChain: fromFile(in(nodeCertificate)), PrivateKey: fromFile(in(nodeKey)), WatchedDirectory: folder,
			}},
			ValidationContextType: &tlsv3.CommonTlsContext_ValidationContext{
				ValidationContext: &tlsv3.CertificateValidationContext{
					TrustedCa: fromFile(in(nodeAuthority)), WatchedDirectory: folder,
					MatchTypedSubjectAltNames: []*tlsv3.SubjectAltNameMatcher{{
						SanType: sanType(at), Matcher: &matcherv3.StringMatcher{
							MatchPattern: &matcherv3.StringMatcher_Exact{Exact: at.Host},
						},
					}},
				},
			},
		},
	})
	return out
}

func sanType(a config.Address) tlsv3.SubjectAltNameMatcher_SanType {
	if a.IsIP() {
		return tlsv3.SubjectAltNameMatcher_IP_ADDRESS
	}
	return tlsv3.SubjectAltNameMatcher_DNS
}

// overload makes Envoy reject requests before it runs out of memory or descriptors.
func (b *builder) overload() *overloadv3.OverloadManager {
	monitor := func(name string, m proto.Message) *overloadv3.ResourceMonitor {
		return &overloadv3.ResourceMonitor{
			Name: name, ConfigType: &overloadv3.ResourceMonitor_TypedConfig{TypedConfig: b.pack(m)},
		}
	}
	at := func(action string, share float64) *overloadv3.OverloadAction {
		return &overloadv3.OverloadAction{Name: action, Triggers: []*overloadv3.Trigger{{
			Name:         monitorHeap,
			TriggerOneof: &overloadv3.Trigger_Threshold{Threshold: &overloadv3.ThresholdTrigger{Value: share}},
		}}}
	}
	return &overloadv3.OverloadManager{
		RefreshInterval: duration(250 * time.Millisecond),
		ResourceMonitors: []*overloadv3.ResourceMonitor{
			monitor(monitorHeap, &heapv3.FixedHeapConfig{MaxHeapSizeBytes: heap}),
			monitor(monitorConnections,
				&monitorv3.DownstreamConnectionsConfig{MaxActiveDownstreamConnections: connections}),
		},
		Actions: []*overloadv3.OverloadAction{
			b.hurry(),
			at("envoy.overload_actions.shrink_heap", 0.90),
			at("envoy.overload_actions.disable_http_keepalive", 0.92),
			at("envoy.overload_actions.stop_accepting_requests", 0.95),
		},
	}
}

// hurry makes Envoy wait less for slow clients the more of its heap or of its connections are in
// use. It waits for a handshake, for the rest of a response to be read, and for the next request of
// a connection. So responses that a client does not read cannot fill the heap, and connections that
// send nothing make room for others.
func (b *builder) hurry() *overloadv3.OverloadAction {
	from := func(monitor string, share float64) *overloadv3.Trigger {
		return &overloadv3.Trigger{Name: monitor, TriggerOneof: &overloadv3.Trigger_Scaled{Scaled: &overloadv3.ScaledTrigger{
			ScalingThreshold: share, SaturationThreshold: 0.8,
		}}}
	}
	least := func(
		timer overloadv3.ScaleTimersOverloadActionConfig_TimerType, timeout time.Duration,
	) *overloadv3.ScaleTimersOverloadActionConfig_ScaleTimer {
		return &overloadv3.ScaleTimersOverloadActionConfig_ScaleTimer{
			Timer: timer,
			OverloadAdjust: &overloadv3.ScaleTimersOverloadActionConfig_ScaleTimer_MinTimeout{
				MinTimeout: duration(timeout),
			},
		}
	}
	return &overloadv3.OverloadAction{
		Name:     "envoy.overload_actions.reduce_timeouts",
		Triggers: []*overloadv3.Trigger{from(monitorHeap, 0.4), from(monitorConnections, 0.5)},
		TypedConfig: b.pack(&overloadv3.ScaleTimersOverloadActionConfig{
			TimerScaleFactors: []*overloadv3.ScaleTimersOverloadActionConfig_ScaleTimer{
				least(overloadv3.ScaleTimersOverloadActionConfig_HTTP_DOWNSTREAM_STREAM_FLUSH, time.Second),
				least(overloadv3.ScaleTimersOverloadActionConfig_HTTP_DOWNSTREAM_CONNECTION_IDLE, time.Second),
				least(overloadv3.ScaleTimersOverloadActionConfig_TRANSPORT_SOCKET_CONNECT, 2*time.Second),
			},
		}),
	}
}

func cutZeroPort(text string) (host string, zero bool) {
	host, port, err := net.SplitHostPort(text)
	return host, err == nil && port == "0"
}
