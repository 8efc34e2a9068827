package build

import (
	"fmt"
	"time"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	mutationv3 "github.com/envoyproxy/go-control-plane/envoy/config/common/mutation_rules/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	streamv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/stream/v3"
	headerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_mutation/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	inspectorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/tls_inspector/v3"
	limitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/connection_limit/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// The names of the HTTP filters, in their order.
const (
	filterHeaders = "headers"
	filterRate    = "rate"
	filterExtProc = "mle"
	filterRouter  = "router"
)

const (
	// responseLimit is the longest response that Envoy holds for mle-filter: an encrypted one of a
	// megabyte, in base64, and a margin.
	responseLimit = 2 << 20
	// leastWindow is the least window of an HTTP/2 stream.
	leastWindow = 64 << 10
	// windows is the number of stream windows that fit into the window of their connection.
	windows = 4
	// flushTimeout is how long a client may take to read the rest of a response. Envoy holds the rest
	// in memory until then.
	flushTimeout = 15 * time.Second
	// drainTimeout is how long Envoy takes new requests of a connection that it ends. HTTP/2 needs the
	// time for the GOAWAY frame to arrive. A connection of HTTP/1.1 is open for as long.
	drainTimeout = time.Second
	// plainConnections is the most connections to the port of plain HTTP, which redirects and serves
	// challenges. They must not use up the connections of the port of HTTPS. plainIdle and
	// plainDuration bound them in time.
	plainConnections = 2000
	plainIdle        = 3 * time.Second
	plainDuration    = 10 * time.Second
	// plainHeadersKb is the longest header of a request to that port, in kilobytes.
	plainHeadersKb = 4
	// acmeProtocol is the protocol of TLS-ALPN-01 (RFC 8737).
	acmeProtocol = "acme-tls/1"
	// InternalPrefix is the prefix of header fields that our services exchange. Envoy removes the
	// client's, and sends none to the client.
	InternalPrefix = "x-svc-int-"
)

func (b *builder) httpsListener(routes *routev3.RouteConfiguration) *listenerv3.Listener {
	at, _ := b.address(b.Config.Listen.HTTPS)
	l := &listenerv3.Listener{
		Name: ListenerHTTPS, Address: at, PerConnectionBufferLimitBytes: u32(b.requestLimit()),
		SocketOptions: []*corev3.SocketOption{unreadTimeout()},
	}
	if len(b.Certificates) > 0 {
		l.FilterChains = []*listenerv3.FilterChain{{
			Name: "https", TransportSocket: b.downstream(), TransportSocketConnectTimeout: duration(10 * time.Second),
			Filters: []*listenerv3.Filter{b.network("http", b.manager(routes, "edge", true))},
		}}
	}
	if b.Config.Certificates.ACME.Uses(config.ChallengeTLSALPN) {
		l.ListenerFilters = []*listenerv3.ListenerFilter{{
			Name: "tls_inspector", ConfigType: &listenerv3.ListenerFilter_TypedConfig{
				TypedConfig: b.pack(&inspectorv3.TlsInspector{}),
			},
		}}
		// Unchanged, because the ACME source makes the certificate for a challenge.
		challenge := &listenerv3.FilterChain{
			Name: "challenge", FilterChainMatch: &listenerv3.FilterChainMatch{ApplicationProtocols: []string{acmeProtocol}},
			Filters: []*listenerv3.Filter{b.network("tcp", &tcpv3.TcpProxy{
				StatPrefix: "acme", ClusterSpecifier: &tcpv3.TcpProxy_Cluster{Cluster: ClusterACME},
				IdleTimeout: duration(30 * time.Second),
			})},
		}
		l.FilterChains = append([]*listenerv3.FilterChain{challenge}, l.FilterChains...)
	}
	return l
}

// unreadTimeout ends a connection whose client reads nothing of a response for flushTimeout. Its
// connections get the option of the listener. Envoy's timeout of a flush is for HTTP/2 only: it
// holds a response of HTTP/1.1 until the connection has been idle for too long.
func unreadTimeout() *corev3.SocketOption {
	const levelTCP, userTimeout = 6, 18 // IPPROTO_TCP and TCP_USER_TIMEOUT of Linux
	return &corev3.SocketOption{
		Description: "TCP_USER_TIMEOUT in milliseconds", Level: levelTCP, Name: userTimeout,
		Value: &corev3.SocketOption_IntValue{IntValue: flushTimeout.Milliseconds()},
	}
}

// requestLimit is how many bytes of a request Envoy holds: a body that mle-filter decrypts.
func (b *builder) requestLimit() uint32 {
	return uint32(max(b.Config.Limits.MaxBody, leastWindow)) //nolint:gosec // config bounds it
}

func (b *builder) httpListener(routes *routev3.RouteConfiguration) *listenerv3.Listener {
	at, _ := b.address(b.Config.Listen.HTTP)
	return &listenerv3.Listener{
		Name: ListenerHTTP, Address: at, PerConnectionBufferLimitBytes: u32(64 << 10),
		FilterChains: []*listenerv3.FilterChain{{
			Name: "http", Filters: []*listenerv3.Filter{
				b.network("connections", &limitv3.ConnectionLimit{
					StatPrefix: "edge_http", MaxConnections: wrapperspb.UInt64(plainConnections),
				}),
				b.network("http", b.manager(routes, "edge_http", false)),
			},
		}},
	}
}

func (b *builder) network(name string, m proto.Message) *listenerv3.Filter {
	return &listenerv3.Filter{Name: name, ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: b.pack(m)}}
}

// manager returns the connection manager. With https, it adds HSTS and forwards requests to
// services.
func (b *builder) manager(routes *routev3.RouteConfiguration, prefix string, https bool) *hcmv3.HttpConnectionManager {
	m := &hcmv3.HttpConnectionManager{
		StatPrefix: prefix,
		CodecType:  hcmv3.HttpConnectionManager_AUTO,
		// Each path has one spelling: the normalised one, or the request is rejected.
		NormalizePath:                yes(),
		MergeSlashes:                 true,
		PathWithEscapedSlashesAction: hcmv3.HttpConnectionManager_REJECT_REQUEST,
		CommonHttpProtocolOptions: &corev3.HttpProtocolOptions{
			HeadersWithUnderscoresAction: corev3.HttpProtocolOptions_REJECT_REQUEST,
			MaxConnectionDuration:        duration(time.Hour), // a connection keeps its first certificate
			IdleTimeout:                  duration(2 * time.Minute),
			MaxHeadersCount:              u32(100),
		},
		Http2ProtocolOptions: &corev3.Http2ProtocolOptions{
			// The stream's window also limits the request that a filter may hold.
			MaxConcurrentStreams: u32(100), InitialStreamWindowSize: u32(b.requestLimit()),
			InitialConnectionWindowSize: u32(windows * b.requestLimit()),
			// A malformed request ends its stream alone. The connection's other requests can be payments.
			OverrideStreamErrorOnInvalidHttpMessage: yes(),
		},
		MaxRequestHeadersKb:        u32(16),
		RequestHeadersTimeout:      duration(10 * time.Second),
		RequestTimeout:             duration(30 * time.Second),
		StreamIdleTimeout:          duration(b.Config.Limits.Timeout + 30*time.Second),
		StreamFlushTimeout:         duration(flushTimeout),
		DelayedCloseTimeout:        duration(time.Second),
		DrainTimeout:               duration(drainTimeout),
		ServerHeaderTransformation: hcmv3.HttpConnectionManager_PASS_THROUGH,
		GenerateRequestId:          yes(),
		LocalReplyConfig:           b.localReplies(https),
		HttpFilters:                b.filters(https),
		AccessLog:                  b.accessLog(prefix),
		RouteSpecifier: &hcmv3.HttpConnectionManager_Rds{Rds: &hcmv3.Rds{
			RouteConfigName: routes.GetName(), ConfigSource: ads(),
		}},
	}
	if b.Static {
		m.RouteSpecifier = &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: routes}
	}
	if https {
		// WordPress and its shops send HTTP/1.0. Envoy ends the connection after the response, unless the
		// client keeps it.
		m.HttpProtocolOptions = &corev3.Http1ProtocolOptions{AcceptHttp_10: true}
	} else {
		limitPlain(m)
	}
	return b.withoutControl(m)
}

// limitPlain gives the port of plain HTTP its limits. A connection of HTTP/1.1 holds one request at
// a time. One of HTTP/2 would hold the header fields of a hundred, which its client sends once. A
// connection ends after its first response, so no client keeps one by further requests.
func limitPlain(m *hcmv3.HttpConnectionManager) {
	m.CodecType, m.Http2ProtocolOptions = hcmv3.HttpConnectionManager_HTTP1, nil
	m.MaxRequestHeadersKb = u32(plainHeadersKb)
	// The port of the Host field is never needed: no service behind Envoy reads it.
	m.StripPortMode = &hcmv3.HttpConnectionManager_StripAnyHostPort{StripAnyHostPort: true}
	common := m.GetCommonHttpProtocolOptions()
	common.IdleTimeout, common.MaxConnectionDuration = duration(plainIdle), duration(plainDuration)
	common.MaxRequestsPerConnection = u32(1)
	m.RequestHeadersTimeout = duration(plainIdle)
}

func (b *builder) filters(https bool) []*hcmv3.HttpFilter {
	var out []*hcmv3.HttpFilter
	add := func(name string, m proto.Message) {
		out = append(out, &hcmv3.HttpFilter{Name: name, ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: b.pack(m)}})
	}
	add(filterHeaders, b.headers(https))
	if b.Config.Limits.Rate > 0 {
		add(filterRate, b.rateLimit(https))
	}
	if https && b.Config.ExtProc.Address != "" {
		add(filterExtProc, b.extProc())
		out[len(out)-1].Disabled = true // here, and enabled by routes; see extProcOn
	}
	add(filterRouter, &routerv3.Router{SuppressEnvoyHeaders: true})
	return out
}

// forwardAddress forwards the address of Envoy's peer as the client address, with the hop secret
// that authenticates it. A static configuration reads the secret from Envoy's environment. Without
// a secret it forwards nothing.
func (b *builder) forwardAddress() []*mutationv3.HeaderMutation {
	hop := b.Config.HopSecret.Reveal()
	if b.Static {
		hop = "%ENVIRONMENT(CAUSEWAY_HOP_SECRET)%"
	}
	if hop == "" {
		return nil
	}
	var out []*mutationv3.HeaderMutation
	for _, field := range [][2]string{
		{httpx.ClientAddressField, "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%"},
		{httpx.HopField, hop},
	} {
		out = append(out, &mutationv3.HeaderMutation{
			Action: &mutationv3.HeaderMutation_Append{Append: overwrite(field[0], field[1])},
		})
	}
	return out
}

// headers is the first filter: it sees every request before all other filters, and every response
// after them.
func (b *builder) headers(https bool) *headerv3.HeaderMutation {
	m := &headerv3.HeaderMutation{Mutations: &headerv3.Mutations{
		// Envoy has added its own fields to the request by now, such as the client's address. No service
		// behind it reads them.
		RequestMutations: []*mutationv3.HeaderMutation{remove(InternalPrefix), remove(steeringPrefix)},
	}}
	if https {
		m.Mutations.RequestMutations = append(m.Mutations.RequestMutations, b.forwardAddress()...)
		m.Mutations.ResponseMutations = []*mutationv3.HeaderMutation{remove(InternalPrefix), {
			Action: &mutationv3.HeaderMutation_Append{Append: overwrite(tlspolicy.HSTSHeader, tlspolicy.HSTS)},
		}}
	}
	return m
}

// knownMethod is a request's method for the log. It replaces a text that is no method, as our
// programs do: a card number could stand there.
const knownMethod = "request.method in " +
	"['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE'] ? request.method : 'OTHER'"

// accessLog writes a line of JSON for each request, without possible secrets: no query, no header
// field of the client.
func (b *builder) accessLog(prefix string) []*accesslogv3.AccessLog {
	fields := map[string]any{
		"listener":    prefix,
		"start":       "%START_TIME%",
		"method":      "%CEL(" + knownMethod + ")%",
		"route":       "%ROUTE_NAME%",
		"status":      "%RESPONSE_CODE%",
		"details":     "%RESPONSE_CODE_DETAILS%",
		"flags":       "%RESPONSE_FLAGS%",
		"duration_ms": "%DURATION%",
		"upstream_ms": "%RESPONSE_DURATION%",
		"received":    "%BYTES_RECEIVED%",
		"sent":        "%BYTES_SENT%",
		"protocol":    "%PROTOCOL%",
		"tls":         "%DOWNSTREAM_TLS_VERSION%",
		"cipher":      "%DOWNSTREAM_TLS_CIPHER%",
		"cluster":     "%UPSTREAM_CLUSTER%",
		"request_id":  "%RESP(REQUEST-ID)%",
		"edge_id":     "%REQ(X-REQUEST-ID)%",
		"client":      "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%",
	}
	return []*accesslogv3.AccessLog{{
		Name: "stdout", ConfigType: &accesslogv3.AccessLog_TypedConfig{TypedConfig: b.pack(&streamv3.StdoutAccessLog{
			AccessLogFormat: &streamv3.StdoutAccessLog_LogFormat{LogFormat: b.json(fields)},
		})},
	}}
}

// json returns a JSON log format.
func (b *builder) json(fields map[string]any) *corev3.SubstitutionFormatString {
	s, err := structpb.NewStruct(fields)
	if err != nil {
		b.fail(fmt.Errorf("format: %w", err))
	}
	return &corev3.SubstitutionFormatString{Format: &corev3.SubstitutionFormatString_JsonFormat{JsonFormat: s}}
}
