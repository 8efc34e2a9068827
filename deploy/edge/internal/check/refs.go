package check

import (
	"fmt"
	"maps"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/causeway-pay/causeway/deploy/edge/internal/build"
)

// references collects the names of resources, and the references to them.
type references struct {
	clusters, routes, secrets map[string]bool
	turnedOn                  map[string]string // the external processors that a route configuration must enable
	errs                      []error
}

// refs returns missing, duplicate and unused names.
func refs(r build.Resources) []error {
	x := &references{
		clusters: map[string]bool{}, routes: map[string]bool{}, secrets: map[string]bool{}, turnedOn: map[string]string{},
	}
	for _, c := range r.Clusters {
		x.define(x.clusters, "cluster", c.GetName())
	}
	for _, c := range r.Routes {
		x.define(x.routes, "route configuration", c.GetName())
	}
	for _, s := range r.Secrets {
		x.define(x.secrets, "secret", s.GetName())
	}
	listeners := map[string]bool{}
	for _, l := range r.Listeners {
		x.define(listeners, "listener", l.GetName())
		x.inside("listener "+l.GetName(), l)
	}
	for _, c := range r.Clusters {
		x.inside("cluster "+c.GetName(), c)
	}
	for _, c := range r.Routes {
		x.routeConfiguration(c)
	}
	x.unused("route configuration", x.routes)
	x.unused("secret", x.secrets)
	return x.errs
}

func (x *references) fail(format string, args ...any) {
	x.errs = append(x.errs, fmt.Errorf(format, args...))
}

func (x *references) define(in map[string]bool, kind, name string) {
	if name == "" {
		x.fail("a %s has no name", kind)
	}
	if _, there := in[name]; there {
		x.fail("%s %q is defined twice", kind, name)
	}
	in[name] = false // not used yet
}

func (x *references) use(in map[string]bool, kind, name, where string) {
	if _, there := in[name]; !there {
		x.fail("%s names %s %q, which is not defined", where, kind, name)
		return
	}
	in[name] = true
}

func (x *references) unused(kind string, in map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if !in[name] {
			x.fail("%s %q is not used", kind, name)
		}
	}
}

// inside checks the messages packed in a message.
func (x *references) inside(where string, m proto.Message) {
	Walk(m, func(inner proto.Message) { x.message(where, inner) }, func(error) {}) // Message has reported these
}

func (x *references) message(where string, m proto.Message) {
	switch m := m.(type) {
	case *hcmv3.HttpConnectionManager:
		x.manager(where, m)
	case *tcpv3.TcpProxy:
		x.use(x.clusters, "cluster", m.GetCluster(), where)
	case *tlsv3.DownstreamTlsContext:
		if common := m.GetCommonTlsContext(); len(common.GetTlsCertificateSdsSecretConfigs())+len(
			common.GetTlsCertificates()) == 0 {
			x.fail("%s has TLS without a certificate", where)
		} else {
			x.secretsOf(where, common)
		}
	case *tlsv3.UpstreamTlsContext:
		x.secretsOf(where, m.GetCommonTlsContext())
		if v := m.GetCommonTlsContext().GetValidationContext(); v.GetTrustedCa() == nil ||
			len(v.GetMatchTypedSubjectAltNames()) == 0 {
			x.fail("%s does not verify the certificate of its upstream", where)
		}
	case *extprocv3.ExternalProcessor:
		x.extProc(where, m)
	}
}

func (x *references) secretsOf(where string, common *tlsv3.CommonTlsContext) {
	for _, s := range common.GetTlsCertificateSdsSecretConfigs() {
		x.use(x.secrets, "secret", s.GetName(), where)
	}
}

// manager checks an HTTP connection manager. The router must be last, and each route needs its
// cluster.
func (x *references) manager(where string, m *hcmv3.HttpConnectionManager) {
	for _, f := range m.GetHttpFilters() {
		if f.GetDisabled() && f.GetTypedConfig().GetTypeUrl() == extProcURL {
			x.turnedOn[m.GetRds().GetRouteConfigName()+m.GetRouteConfig().GetName()] = f.GetName()
		}
	}
	if rds := m.GetRds(); rds != nil {
		x.use(x.routes, "route configuration", rds.GetRouteConfigName(), where)
	} else if m.GetRouteConfig() != nil {
		x.routeConfiguration(m.GetRouteConfig())
	} else {
		x.fail("%s has no routes", where)
	}
	filters := m.GetHttpFilters()
	if len(filters) == 0 || filters[len(filters)-1].GetTypedConfig().GetTypeUrl() != routerURL {
		x.fail("%s does not end with the router", where)
	}
	if len(m.GetInternalAddressConfig().GetCidrRanges()) == 0 || len(m.GetEarlyHeaderMutationExtensions()) == 0 ||
		!m.GetUseRemoteAddress().GetValue() {
		x.fail("%s accepts header fields by which clients control Envoy, so it can send a payment twice", where)
	}
}

const (
	extProcURL  = "type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor"
	routerURL   = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"
	perRouteURL = "type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute"
)

// extProc checks rules across fields, which the generated validation lacks.
func (x *references) extProc(where string, m *extprocv3.ExternalProcessor) {
	x.service(where, m.GetGrpcService())
	mode := m.GetProcessingMode()
	buffered := mode.GetRequestBodyMode() == extprocv3.ProcessingMode_BUFFERED &&
		mode.GetResponseBodyMode() == extprocv3.ProcessingMode_BUFFERED
	if !buffered || m.GetFailureModeAllow() || !m.GetAllowModeOverride() || m.GetObservabilityMode() {
		x.fail("%s has an external processor that can miss a body, or makes Envoy hold every body: "+
			"set both body modes to BUFFERED, allow_mode_override to true, and failure_mode_allow and "+
			"observability_mode to false", where)
	}
}

func (x *references) service(where string, s *corev3.GrpcService) {
	if s.GetEnvoyGrpc() == nil {
		x.fail("%s has an external processor without grpc_service.envoy_grpc", where)
		return
	}
	x.use(x.clusters, "cluster", s.GetEnvoyGrpc().GetClusterName(), where+", external processor")
}

func (x *references) routeConfiguration(c *routev3.RouteConfiguration) {
	if filter := x.turnedOn[c.GetName()]; filter != "" && c.GetTypedPerFilterConfig()[filter].GetTypeUrl() != perRouteURL {
		x.fail("%s does not enable the external processor", c.GetName())
	}
	for _, host := range c.GetVirtualHosts() {
		names := map[string]bool{}
		for _, r := range host.GetRoutes() {
			where := fmt.Sprintf("route %q of %s/%s", r.GetName(), c.GetName(), host.GetName())
			x.define(names, "name of a route", r.GetName())
			if to := r.GetRoute(); to != nil {
				x.use(x.clusters, "cluster", to.GetCluster(), where)
				if p := to.GetRetryPolicy(); p != nil && len(p.GetRetriableRequestHeaders()) == 0 {
					x.fail("%s repeats requests of every method: want retriable_request_headers", where)
				}
			}
			for _, per := range r.GetTypedPerFilterConfig() {
				x.perRoute(where, per)
			}
		}
		if n := len(host.GetRoutes()); n == 0 || host.GetRoutes()[n-1].GetMatch().GetPrefix() != "/" {
			x.fail("%s/%s needs a last route with the prefix /", c.GetName(), host.GetName())
		}
	}
}

func (x *references) perRoute(where string, a *anypb.Any) {
	if a.GetTypeUrl() != perRouteURL {
		return
	}
	per := &extprocv3.ExtProcPerRoute{}
	if err := a.UnmarshalTo(per); err != nil {
		x.fail("%s: %w", where, err)
		return
	}
	o := per.GetOverrides()
	if o == nil {
		return
	}
	if o.GetGrpcService() != nil {
		x.service(where, o.GetGrpcService())
	}
	if o.GetFailureModeAllow().GetValue() || o.GetProcessingMode() != nil {
		x.fail("%s overrides failure_mode_allow or processing_mode of the external processor", where)
	}
}
