package build

import (
	"errors"
	"fmt"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// The names of resources. They never change while an Envoy runs: with a renamed secret Envoy would
// replace the listener and close its connections.
const (
	ListenerHTTPS    = "edge_https"
	ListenerHTTP     = "edge_http"
	RoutesHTTPS      = "edge_routes"
	RoutesHTTP       = "edge_redirect"
	SecretName       = "edge-cert"
	SecondSecretName = "edge-cert-rsa" //nolint:gosec // it is a name
	ClusterExtProc   = "mle-extproc"
	ClusterEdge      = "edge"
	ClusterACME      = "acme"
	ClusterXDS       = "xds"
)

// Input is the input of Build.
type Input struct {
	Config config.Config
	// Certificates has one certificate, or one with ECDSA and then one with RSA. It is empty until an
	// authority has issued the first one. The resources then pass its challenges and no other request
	// over HTTPS.
	Certificates []Certificate
	// Static omits the control plane: the listeners contain their routes.
	Static bool
}

// Resources are all resources of an Envoy.
type Resources struct {
	Listeners []*listenerv3.Listener
	Routes    []*routev3.RouteConfiguration // nil if static
	Clusters  []*clusterv3.Cluster
	Secrets   []*tlsv3.Secret
}

// Build returns the resources. They are equal for equal input.
func Build(in Input) (Resources, error) {
	policy, err := in.Config.Policy()
	if err != nil {
		return Resources{}, fmt.Errorf("build: tls: %w", err)
	}
	bare := len(in.Certificates) == 0
	if bare && (in.Static || in.Config.Certificates.ACME == nil) || len(in.Certificates) > 2 {
		return Resources{}, errors.New("build: want one certificate, or one of ECDSA and one of RSA")
	}
	b := &builder{Input: in, policy: policy}
	out := Resources{Secrets: b.secrets(), Clusters: b.clusters()}
	https, redirect := b.httpsRoutes(), b.httpRoutes()
	if !bare || in.Config.Certificates.ACME.Uses(config.ChallengeTLSALPN) {
		out.Listeners = append(out.Listeners, b.httpsListener(https))
	}
	if in.Config.Listen.HTTP != "" {
		out.Listeners = append(out.Listeners, b.httpListener(redirect))
	}
	if !in.Static {
		if !bare {
			out.Routes = append(out.Routes, https)
		}
		if in.Config.Listen.HTTP != "" {
			out.Routes = append(out.Routes, redirect)
		}
	}
	if b.err != nil {
		return Resources{}, fmt.Errorf("build: %w", b.err)
	}
	return out, nil
}

// builder records the first error.
type builder struct {
	Input
	policy tlspolicy.Policy
	err    error
}

func (b *builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// pack validates a message and puts it into an Any. Later checks do not look into an Any.
func (b *builder) pack(m proto.Message) *anypb.Any {
	if v, ok := m.(interface{ ValidateAll() error }); ok {
		if err := v.ValidateAll(); err != nil {
			b.fail(fmt.Errorf("%s: %w", m.ProtoReflect().Descriptor().FullName(), err))
		}
	}
	packed := &anypb.Any{}
	if err := anypb.MarshalFrom(packed, m, proto.MarshalOptions{Deterministic: true}); err != nil {
		b.fail(err)
	}
	return packed
}

// address converts an address of the configuration into Envoy's form.
func (b *builder) address(text string) (*corev3.Address, config.Address) {
	a, err := config.ParseAddress(text)
	if err != nil {
		b.fail(fmt.Errorf("%s: %w", text, err))
	}
	if a.IsUnix() {
		return &corev3.Address{Address: &corev3.Address_Pipe{Pipe: &corev3.Pipe{Path: a.Path}}}, a
	}
	return &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
		Address: a.Host, PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: uint32(a.Port)},
	}}}, a
}

// ads makes Envoy request resources from the control plane and wait for them: a listener must not
// serve without a certificate.
func ads() *corev3.ConfigSource {
	return &corev3.ConfigSource{
		ResourceApiVersion:    corev3.ApiVersion_V3,
		InitialFetchTimeout:   durationpb.New(0),
		ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}},
	}
}

func u32(n uint32) *wrapperspb.UInt32Value          { return wrapperspb.UInt32(n) }
func yes() *wrapperspb.BoolValue                    { return wrapperspb.Bool(true) }
func duration(d time.Duration) *durationpb.Duration { return durationpb.New(d) }
