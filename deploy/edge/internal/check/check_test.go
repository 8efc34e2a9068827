package check_test

import (
	"strings"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/causeway-pay/causeway/deploy/edge/internal/build"
	"github.com/causeway-pay/causeway/deploy/edge/internal/check"
	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
)

func made(t *testing.T) build.Resources {
	t.Helper()
	c, err := config.Decode("c", []byte("hosts: [a.example]\ncertificates: {folder: c}\nextproc: {address: 'unix:m'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := build.Build(build.Input{Config: c, Certificates: []build.Certificate{build.FromFiles("a", "b")}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// repack changes the message in an Any.
func repack[M proto.Message](t *testing.T, a *anypb.Any, into M, change func(M)) {
	t.Helper()
	if err := a.UnmarshalTo(into); err != nil {
		t.Fatal(err)
	}
	change(into)
	if err := a.MarshalFrom(into); err != nil {
		t.Fatal(err)
	}
}

func manager(t *testing.T, r build.Resources, change func(*hcmv3.HttpConnectionManager)) {
	t.Helper()
	repack(t, r.Listeners[0].GetFilterChains()[0].GetFilters()[0].GetTypedConfig(), &hcmv3.HttpConnectionManager{}, change)
}

func extProc(t *testing.T, r build.Resources, change func(*extprocv3.ExternalProcessor)) {
	t.Helper()
	manager(t, r, func(m *hcmv3.HttpConnectionManager) {
		for _, f := range m.GetHttpFilters() {
			if f.GetName() == "mle" {
				repack(t, f.GetTypedConfig(), &extprocv3.ExternalProcessor{}, change)
			}
		}
	})
}

// forwarding returns the action of the first route with one.
func forwarding(r *build.Resources) *routev3.RouteAction {
	for _, route := range r.Routes[0].GetVirtualHosts()[0].GetRoutes() {
		if to := route.GetRoute(); to != nil {
			return to
		}
	}
	return nil
}

func TestResources(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*testing.T, *build.Resources)
		want   string // "" for no fault
	}{
		"OK": {func(*testing.T, *build.Resources) {}, ""},
		"InvalidInAny": {func(t *testing.T, r *build.Resources) {
			t.Helper()
			manager(t, *r, func(m *hcmv3.HttpConnectionManager) { m.StatPrefix = "" })
		}, "StatPrefix"},
		"InvalidInAnyInAny": {func(t *testing.T, r *build.Resources) {
			t.Helper()
			extProc(t, *r, func(m *extprocv3.ExternalProcessor) { m.StatusOnError.Code = 99 })
		}, "ExternalProcessor"},
		"UnknownAny": {func(_ *testing.T, r *build.Resources) {
			r.Listeners[0].GetFilterChains()[0].GetFilters()[0].GetTypedConfig().TypeUrl = "type.googleapis.com/none"
		}, "type.googleapis.com/none"},
		"Secret": {func(_ *testing.T, r *build.Resources) {
			r.Secrets[0].Name = "other"
		}, `secret "edge-cert", which is not defined`},
		"Unnamed": {func(_ *testing.T, r *build.Resources) {
			r.Secrets = append(r.Secrets, &tlsv3.Secret{Name: "x"})
		}, `secret "x" is not used`},
		"Cluster": {func(_ *testing.T, r *build.Resources) {
			forwarding(r).ClusterSpecifier = &routev3.RouteAction_Cluster{Cluster: "gone"}
		}, `cluster "gone", which is not defined`},
		"ClusterTwice": {func(_ *testing.T, r *build.Resources) {
			r.Clusters = append(r.Clusters, proto.Clone(r.Clusters[0]).(*clusterv3.Cluster))
		}, "is defined twice"},
		"Routes": {func(_ *testing.T, r *build.Resources) {
			r.Routes = r.Routes[1:]
		}, `route configuration "edge_routes", which is not defined`},
		"NoLastRoute": {func(_ *testing.T, r *build.Resources) {
			h := r.Routes[0].GetVirtualHosts()[0]
			h.Routes = h.GetRoutes()[:len(h.GetRoutes())-1]
		}, "needs a last route"},
		"SameRoute": {func(_ *testing.T, r *build.Resources) {
			h := r.Routes[0].GetVirtualHosts()[0]
			h.Routes[1].Name = h.GetRoutes()[2].GetName()
		}, "is defined twice"},
		"NoService": {func(t *testing.T, r *build.Resources) {
			t.Helper()
			extProc(t, *r, func(m *extprocv3.ExternalProcessor) { m.GrpcService = nil })
		}, "without grpc_service.envoy_grpc"},
		"FailureMode": {func(t *testing.T, r *build.Resources) {
			t.Helper()
			extProc(t, *r, func(m *extprocv3.ExternalProcessor) { m.FailureModeAllow = true })
		}, "can miss a body"},
		"NoModeOverride": {func(t *testing.T, r *build.Resources) {
			t.Helper()
			extProc(t, *r, func(m *extprocv3.ExternalProcessor) { m.AllowModeOverride = false })
		}, "makes Envoy hold every"},
		"NoExtProcCluster": {func(_ *testing.T, r *build.Resources) {
			for i, c := range r.Clusters {
				if c.GetName() == build.ClusterExtProc {
					r.Clusters = append(r.Clusters[:i], r.Clusters[i+1:]...)
					return
				}
			}
		}, `cluster "mle-extproc", which is not defined`},
		"LooseRoute": {func(t *testing.T, r *build.Resources) {
			t.Helper()
			for _, route := range r.Routes[0].GetVirtualHosts()[0].GetRoutes() {
				if a := route.GetTypedPerFilterConfig()["mle"]; route.GetName() == "/v1/**" {
					repack(t, a, &extprocv3.ExtProcPerRoute{}, func(p *extprocv3.ExtProcPerRoute) {
						p.GetOverrides().FailureModeAllow = wrapperspb.Bool(true)
					})
				}
			}
		}, "overrides failure_mode_allow"},
		"NotTurnedOn": {func(_ *testing.T, r *build.Resources) {
			r.Routes[0].TypedPerFilterConfig = nil
		}, "does not enable the external processor"},
		"Steered": {func(t *testing.T, r *build.Resources) {
			t.Helper()
			manager(t, *r, func(m *hcmv3.HttpConnectionManager) { m.InternalAddressConfig.CidrRanges = nil })
		}, "control Envoy"},
		"SteeredEarly": {func(t *testing.T, r *build.Resources) {
			t.Helper()
			manager(t, *r, func(m *hcmv3.HttpConnectionManager) { m.EarlyHeaderMutationExtensions = nil })
		}, "control Envoy"},
		"SentAgain": {func(_ *testing.T, r *build.Resources) {
			forwarding(r).RetryPolicy = &routev3.RetryPolicy{RetryOn: "5xx"}
		}, "repeats requests"},
		"NoRouter": {func(t *testing.T, r *build.Resources) {
			t.Helper()
			manager(t, *r, func(m *hcmv3.HttpConnectionManager) { m.HttpFilters = m.GetHttpFilters()[:1] })
		}, "router"},
		"TLSWithoutCertificate": {func(t *testing.T, r *build.Resources) {
			t.Helper()
			repack(t, r.Listeners[0].GetFilterChains()[0].GetTransportSocket().GetTypedConfig(), &tlsv3.DownstreamTlsContext{},
				func(c *tlsv3.DownstreamTlsContext) { c.CommonTlsContext.TlsCertificateSdsSecretConfigs = nil })
		}, "TLS without a certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := made(t)
			tt.change(t, &r)
			err := check.Resources(r)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
