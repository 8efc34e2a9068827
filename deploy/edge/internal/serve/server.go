package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	resourcev3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	deltav3 "github.com/envoyproxy/go-control-plane/pkg/server/delta/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/causeway-pay/causeway/deploy/edge/internal/snapshot"
)

const (
	// A connection is renewed after connectionAge, so that nodes spread over control planes. Its
	// streams then have connectionGrace to end.
	connectionAge, connectionGrace = 10 * time.Hour, 2 * time.Minute
	// pingsApart is the least interval of a node's pings; pings and patience are ours.
	pingsApart, pings, patience = 5 * time.Second, 30 * time.Second, 5 * time.Second
	// maxRequest is the largest request: a list of names, and the reason of a refusal.
	maxRequest = 4 << 20
	// maxNodes is the limit of open streams.
	maxNodes = 1024
)

// Config has the settings of a Server. Cluster is required.
type Config struct {
	Cluster string        // node.cluster of accepted nodes
	Metrics *Metrics      // nil for none
	Log     *slog.Logger  // nil for none
	MaxAge  time.Duration // of a connection; 0: 10 h
	Nodes   int           // limit of concurrent streams; 0: 1024
}

// Server serves one snapshot to all nodes of a cluster. It is safe for concurrent use.
type Server struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer

	cfg   Config
	cache cachev3.SnapshotCache
	delta deltav3.Server
	end   context.CancelFunc // ends all streams
	nodes *nodes

	sets sync.Mutex // held while a snapshot goes to the cache
	mu   sync.Mutex
	grpc *grpc.Server // nil until Start
	done chan error
}

// New returns a server without a snapshot: it rejects streams until Set. It runs until Stop, even
// if ctx ends.
func New(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Cluster == "" {
		return nil, errors.New("serve: a cluster is needed")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics()
	}
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	s := &Server{
		cfg: cfg, end: end, done: make(chan error, 1),
		// Ordered, as one stream for all kinds requires: clusters before the routes to them.
		cache: cachev3.NewSnapshotCache(true, oneForAll{}, nil),
	}
	s.nodes = newNodes(cfg)
	s.delta = deltav3.NewServer(ctx, watcher{s.cache, s.nodes}, s.nodes)
	return s, nil
}

// Set sets the snapshot for every node, and returns the change. On an error the previous one stays.
func (s *Server) Set(ctx context.Context, snap *snapshot.Snapshot) (*Change, error) {
	s.sets.Lock()
	defer s.sets.Unlock()
	before := s.nodes.wanted()
	change := s.nodes.want(snap)
	if err := s.cache.SetSnapshot(ctx, everybody, snap.Cache()); err != nil {
		s.nodes.restore(before)
		return nil, fmt.Errorf("serve: %w", err)
	}
	return change, nil
}

// Retry sends each listener that a node refuses again and again, until ctx ends. The cause can end
// without a change of the snapshot: another program used the port. A refused resource of another
// kind has no such cause.
func (s *Server) Retry(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := s.repeat(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Log.ErrorContext(ctx, "edge: a refused listener was not sent again", slog.Any("error", err))
		}
	}
}

// repeat makes the cache look for resources to send.
func (s *Server) repeat(ctx context.Context) error {
	s.sets.Lock()
	defer s.sets.Unlock()
	if !s.nodes.retry() {
		return nil
	}
	return s.cache.SetSnapshot(ctx, everybody, s.nodes.wanted().Cache())
}

// Current returns the present snapshot, or nil.
func (s *Server) Current() *snapshot.Snapshot { return s.nodes.wanted() }

// Wait waits until at least one node is connected, and every connected node has acknowledged a
// change; with nil the whole snapshot. If a node refuses a part of the change, Wait returns a
// *RefusedError. It does so immediately, or after all other nodes if the node had refused the
// replaced version too. Other refusals, and parts that have changed again, have no effect. If ctx
// ends first, the error names the missing nodes.
func (s *Server) Wait(ctx context.Context, change *Change) error { return s.nodes.wait(ctx, change) }

// Turnover counts connections and disconnections of nodes: an equal number means the same nodes.
func (s *Server) Turnover() int { return s.nodes.turnover() }

// Nodes returns the connected nodes, sorted by id.
func (s *Server) Nodes() []Node { return s.nodes.list() }

// Start serves on a listener. policy is nil on a unix socket, otherwise that of mutual TLS. See
// MutualTLS.
func (s *Server) Start(l net.Listener, policy *tls.Config) {
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(maxRequest),
		grpc.MaxConcurrentStreams(16), // of a connection; an Envoy uses one
		grpc.ConnectionTimeout(10 * time.Second),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingsApart, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionAge: cmp.Or(s.cfg.MaxAge, connectionAge), MaxConnectionAgeGrace: connectionGrace, Time: pings,
			Timeout: patience,
		}),
	}
	if policy != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(policy)))
	}
	server := grpc.NewServer(options...)
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(server, s)
	s.mu.Lock()
	s.grpc = server
	s.mu.Unlock()
	go func() { s.done <- server.Serve(l) }()
}

// Stop ends all streams. The nodes keep their resources, and reconnect. Call it once.
func (s *Server) Stop(ctx context.Context) error {
	s.end()
	s.mu.Lock()
	server := s.grpc
	s.mu.Unlock()
	if server == nil {
		return nil
	}
	drained := make(chan struct{})
	go func() {
		server.GracefulStop()
		close(drained)
	}()
	select {
	case <-drained:
	case <-ctx.Done():
		server.Stop()
		<-drained
	}
	if err := <-s.done; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// DeltaAggregatedResources serves a node.
func (s *Server) DeltaAggregatedResources(
	stream discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesServer,
) error {
	return s.delta.DeltaStreamHandler(stream, resourcev3.AnyType)
}

// StreamAggregatedResources rejects the stream: see the package.
func (s *Server) StreamAggregatedResources(
	discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesServer,
) error {
	s.nodes.refused("sotw")
	return status.Error(codes.Unimplemented, "edge: want Delta ADS: api_type DELTA_GRPC")
}

// everybody is the key of the only snapshot.
const everybody = "all"

type oneForAll struct{}

// ID implements the cache's NodeHash.
func (oneForAll) ID(*corev3.Node) string { return everybody }
