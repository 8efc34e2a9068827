package serve_test

import (
	"context"
	"crypto/tls"
	"net"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	statusv3 "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/causeway-pay/causeway/deploy/edge/internal/build"
	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/deploy/edge/internal/serve"
	"github.com/causeway-pay/causeway/deploy/edge/internal/snapshot"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

const cluster = "edge-test"

// made returns a snapshot with a certificate of this text.
func made(t *testing.T, chain string) *snapshot.Snapshot {
	t.Helper()
	return snapshotOf(t, least, chain)
}

const least = "hosts: [a.example]\ncertificates: {folder: c}\nextproc: {address: 'unix:m'}\n"

// snapshotOf returns the snapshot of a configuration.
func snapshotOf(t *testing.T, text, chain string) *snapshot.Snapshot {
	t.Helper()
	return snapshotWith(t, text, chain, "")
}

// snapshotWith is snapshotOf with a hop secret.
func snapshotWith(t *testing.T, text, chain, hop string) *snapshot.Snapshot {
	t.Helper()
	c, err := config.Decode("c", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c.HopSecret = secret.New(hop)
	pair := &certfile.Pair{Chain: []byte(chain), Key: secret.New("key")}
	r, err := build.Build(build.Input{Config: c, Certificates: []build.Certificate{build.FromPair(pair)}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// started returns a server on a free port.
func started(t *testing.T, policy *tls.Config, change func(*serve.Config)) (*serve.Server, string) {
	t.Helper()
	cfg := serve.Config{Cluster: cluster}
	if change != nil {
		change(&cfg)
	}
	s, err := serve.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Start(l, policy)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), programtest.Patience)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s, l.Addr().String()
}

func set(t *testing.T, s *serve.Server, snap *snapshot.Snapshot) {
	t.Helper()
	if _, err := s.Set(t.Context(), snap); err != nil {
		t.Fatal(err)
	}
}

// client is a raw ADS client, which the test controls.
type client struct {
	t      *testing.T
	stream discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesClient
	node   *corev3.Node
	close  func()
}

func dial(t *testing.T, at string, with *tls.Config) *grpc.ClientConn {
	t.Helper()
	creds := insecure.NewCredentials()
	if with != nil {
		creds = credentials.NewTLS(with)
	}
	conn, err := grpc.NewClient(at, grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func connect(t *testing.T, at, id string, with *tls.Config) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), programtest.Patience)
	t.Cleanup(cancel)
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(dial(t, at, with)).DeltaAggregatedResources(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return &client{t: t, stream: stream, node: &corev3.Node{Id: id, Cluster: cluster}, close: cancel}
}

// subscribe subscribes to names of a type; without names to all.
func (c *client) subscribe(url string, names ...string) {
	c.t.Helper()
	c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: url, ResourceNamesSubscribe: names})
}

func (c *client) send(r *discoveryv3.DeltaDiscoveryRequest) {
	c.t.Helper()
	r.Node, c.node = c.node, nil // only in the first request
	if err := c.stream.Send(r); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) receive() *discoveryv3.DeltaDiscoveryResponse {
	c.t.Helper()
	r, err := c.stream.Recv()
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

func (c *client) ack(r *discoveryv3.DeltaDiscoveryResponse) {
	c.t.Helper()
	c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: r.GetTypeUrl(), ResponseNonce: r.GetNonce()})
}

func (c *client) nack(r *discoveryv3.DeltaDiscoveryResponse, why string) {
	c.t.Helper()
	c.send(&discoveryv3.DeltaDiscoveryRequest{
		TypeUrl: r.GetTypeUrl(), ResponseNonce: r.GetNonce(),
		ErrorDetail: &statusv3.Status{Code: int32(codes.InvalidArgument), Message: why},
	})
}

// all subscribes to every kind like an Envoy, and acknowledges the responses.
func (c *client) all() {
	c.t.Helper()
	for _, url := range snapshot.Types {
		names := map[string][]string{
			snapshot.Types[0]: {"edge-cert"},
			snapshot.Types[2]: {"edge_routes", "edge_redirect"},
		}[url]
		c.subscribe(url, names...)
		c.ack(c.receive())
	}
}

// refused checks that the stream ends with a code.
func (c *client) refused(want codes.Code) {
	c.t.Helper()
	for {
		_, err := c.stream.Recv()
		if err == nil {
			continue
		}
		if status.Code(err) != want {
			c.t.Errorf("got %v, want %s", err, want)
		}
		return
	}
}

// connectMaybe returns nil if no stream can be opened.
func connectMaybe(t *testing.T, at string, with *tls.Config) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), programtest.Patience)
	t.Cleanup(cancel)
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(dial(t, at, with)).DeltaAggregatedResources(ctx)
	if err != nil {
		return nil
	}
	return &client{t: t, stream: stream, node: &corev3.Node{Id: "n1", Cluster: cluster}, close: cancel}
}

// waited calls Wait with a limit.
func waited(t *testing.T, s *serve.Server) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), programtest.Patience)
	defer cancel()
	return s.Wait(ctx, nil)
}
