package serve_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	resourcev3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/causeway-pay/causeway/deploy/edge/internal/serve"
)

func names(r *discoveryv3.DeltaDiscoveryResponse) []string {
	var out []string
	for _, resource := range r.GetResources() {
		out = append(out, resource.GetName())
	}
	slices.Sort(out)
	return out
}

// TestServes checks that a node gets the resources of its subscription, and a new certificate as a
// single resource under the same name.
func TestServes(t *testing.T) {
	t.Parallel()
	s, at := started(t, nil, nil)
	set(t, s, made(t, "one"))
	c := connect(t, at, "n1", nil)
	c.subscribe(resourcev3.ClusterType)
	r := c.receive()
	if got := names(r); !slices.Equal(got, []string{"compat", "core", "edge", "mle", "mle-extproc"}) {
		t.Errorf("got %q", got)
	}
	c.ack(r)
	c.subscribe(resourcev3.ListenerType)
	r = c.receive()
	c.ack(r)
	c.subscribe(resourcev3.SecretType, "edge-cert")
	r = c.receive()
	c.ack(r)
	set(t, s, made(t, "two"))
	r = c.receive()
	if r.GetTypeUrl() != resourcev3.SecretType || !slices.Equal(names(r), []string{"edge-cert"}) ||
		!strings.Contains(r.String(), "two") {
		t.Errorf("got %v", r)
	}
}

// TestNothingNew checks that a node that reconnects with the present versions gets no resource, and
// counts as current.
func TestNothingNew(t *testing.T) {
	t.Parallel()
	s, at := started(t, nil, nil)
	snap := made(t, "one")
	set(t, s, snap)
	first := connect(t, at, "n1", nil)
	first.all()
	if err := waited(t, s); err != nil {
		t.Fatal(err)
	}
	first.close()
	first.refused(codes.Canceled)

	again, at := started(t, nil, nil) // the control plane was restarted
	set(t, again, made(t, "one"))
	c := connect(t, at, "n1", nil)
	for _, url := range []string{resourcev3.SecretType, resourcev3.RouteType} {
		c.send(&discoveryv3.DeltaDiscoveryRequest{
			TypeUrl: url, InitialResourceVersions: snap.Resources(url),
			ResourceNamesSubscribe: slices.Sorted(maps.Keys(snap.Resources(url))),
		})
	}
	for _, url := range []string{resourcev3.ClusterType, resourcev3.ListenerType} {
		c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: url, InitialResourceVersions: snap.Resources(url)})
		r := c.receive()
		if r.GetTypeUrl() != url || len(r.GetResources())+len(r.GetRemovedResources()) != 0 {
			t.Errorf("got %v, want nothing", r)
		}
		c.ack(r)
	}
	if err := waited(t, again); err != nil {
		t.Error(err)
	}
}

// TestWait checks that Wait returns after the last acknowledgement, and names the missing nodes.
func TestWait(t *testing.T) {
	t.Parallel()
	s, at := started(t, nil, nil)
	set(t, s, made(t, "one"))
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(done, nil); !errors.Is(err, context.Canceled) ||
		!strings.Contains(err.Error(), "no node is connected") {
		t.Errorf("got %v", err)
	}
	one, two := connect(t, at, "n1", nil), connect(t, at, "n2", nil)
	one.all()
	two.all()
	if err := waited(t, s); err != nil {
		t.Fatal(err)
	}
	set(t, s, made(t, "two"))
	one.ack(one.receive())
	r := two.receive()
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // it ends: n2 has sent nothing
	defer cancel()
	if err := s.Wait(short, nil); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "n2") {
		t.Errorf("got %v", err)
	}
	result := make(chan error)
	go func() { result <- waited(t, s) }()
	two.ack(r)
	if err := <-result; err != nil {
		t.Error(err)
	}
	// Wait ignores a node that disconnects.
	set(t, s, made(t, "three"))
	one.ack(one.receive())
	two.close()
	if err := waited(t, s); err != nil {
		t.Error(err)
	}
}

// TestNack checks that a refusal ends Wait with its reason, and is counted.
func TestNack(t *testing.T) {
	t.Parallel()
	metrics := serve.NewMetrics()
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	s, at := started(t, nil, func(c *serve.Config) { c.Metrics = metrics })
	set(t, s, made(t, "one"))
	c := connect(t, at, "n1", nil)
	c.all()
	if err := waited(t, s); err != nil {
		t.Fatal(err)
	}
	set(t, s, made(t, "two"))
	c.nack(c.receive(), "no such thing\nas this")
	var refused *serve.RefusedError
	if err := waited(t, s); !errors.As(err, &refused) || refused.Node != "n1" ||
		refused.Reason != "Secret: no such thing?as this" {
		t.Errorf("got %v", err)
	}
	if got := counted(t, registry, "causeway_edge_xds_acknowledgements_total", "nack"); got != 1 {
		t.Errorf("got %v, want 1", got)
	}
	set(t, s, made(t, "one")) // rolled back
	c.ack(c.receive())
	if err := waited(t, s); err != nil {
		t.Error(err)
	}
}

func counted(t *testing.T, registry *prometheus.Registry, name, label string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == name && l.GetValue() == label {
					sum += m.GetCounter().GetValue()
				}
			}
		}
	}
	return sum
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	s, at := started(t, nil, func(c *serve.Config) { c.Nodes = 1 })
	early := connect(t, at, "n1", nil)
	early.refused(codes.Unavailable) // no snapshot yet
	set(t, s, made(t, "one"))
	for name, tt := range map[string]struct {
		node *corev3.Node
		url  string
		want codes.Code
	}{
		"NoID":     {&corev3.Node{Cluster: cluster}, resourcev3.ClusterType, codes.PermissionDenied},
		"NoNode":   {nil, resourcev3.ClusterType, codes.PermissionDenied},
		"OtherOne": {&corev3.Node{Id: "n1", Cluster: "other"}, resourcev3.ClusterType, codes.PermissionDenied},
		"LongID": {
			&corev3.Node{Id: strings.Repeat("n", 129), Cluster: cluster}, resourcev3.ClusterType,
			codes.PermissionDenied,
		},
		"StrangeID":   {&corev3.Node{Id: "a\nb", Cluster: cluster}, resourcev3.ClusterType, codes.PermissionDenied},
		"UnknownType": {&corev3.Node{Id: "n1", Cluster: cluster}, resourcev3.EndpointType, codes.InvalidArgument},
		"NoType":      {&corev3.Node{Id: "n1", Cluster: cluster}, "", codes.InvalidArgument},
	} {
		c := connect(t, at, "", nil)
		c.node = tt.node
		c.subscribe(tt.url)
		if _, err := c.stream.Recv(); status.Code(err) != tt.want {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
	c := connect(t, at, "n1", nil)
	c.subscribe(resourcev3.ClusterType)
	c.ack(c.receive())
	connect(t, at, "n2", nil).refused(codes.ResourceExhausted) // the limit here is one node
	c.node = &corev3.Node{Id: "n2", Cluster: cluster}
	c.subscribe(resourcev3.ListenerType)
	c.refused(codes.PermissionDenied) // another node id on the same stream
}

// TestRefusesStateOfTheWorld: see the package.
func TestRefusesStateOfTheWorld(t *testing.T) {
	t.Parallel()
	s, at := started(t, nil, nil)
	set(t, s, made(t, "one"))
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(dial(t, at, nil)).StreamAggregatedResources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.Unimplemented || !strings.Contains(err.Error(), "DELTA_GRPC") {
		t.Errorf("got %v", err)
	}
}

// TestBoundedNames checks the limit of names in a subscription.
func TestBoundedNames(t *testing.T) {
	t.Parallel()
	s, at := started(t, nil, nil)
	set(t, s, made(t, "one"))
	c := connect(t, at, "n1", nil)
	many := make([]string, 1000)
	for i := range many {
		many[i] = strings.Repeat("x", i+1)
	}
	c.subscribe(resourcev3.SecretType, many...)
	c.refused(codes.ResourceExhausted)
}
