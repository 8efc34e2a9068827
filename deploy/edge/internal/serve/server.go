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
	// The hours after which a connection is made anew, so that nodes spread over control planes, and the minutes its streams have to end.
	connectionAge, connectionGrace = 10 * time.Hour, 2 * time.Minute
	// pingsApart is how often a node may ask whether the connection lives; pings and patience are ours.
	pingsApart, pings, patience = 5 * time.Second, 30 * time.Second, 5 * time.Second
	// maxRequest is the largest request: a list of names and, of a node that refuses, a reason.
	maxRequest = 4 << 20
	// maxNodes bounds the streams that are open at once.
	maxNodes = 1024
)

// Config is what a Server is made of. Cluster is required.
type Config struct {
	Cluster string        // node.cluster of those who may ask
	Metrics *Metrics      // nil for none
	Log     *slog.Logger  // nil for none
	MaxAge  time.Duration // of a connection; 0: 10 h
	Nodes   int           // how many streams at once; 0: 1024
}

// Server serves one snapshot to all nodes of a cluster. It is safe for concurrent use.
type Server struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer

	cfg   Config
	cache cachev3.SnapshotCache
	delta deltav3.Server
	end   context.CancelFunc // ends all streams
	nodes *nodes

	mu   sync.Mutex
	grpc *grpc.Server // nil until Start
	done chan error
}

// New returns a server that has nothing to serve yet: until Set it takes no streams. It lasts until Stop, whatever ends ctx.
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
		// Ordered, as one stream for all kinds needs it: clusters before routes that lead to them.
		cache: cachev3.NewSnapshotCache(true, oneForAll{}, nil),
	}
	s.nodes = newNodes(cfg)
	s.delta = deltav3.NewServer(ctx, watcher{s.cache, s.nodes}, s.nodes)
	return s, nil
}

// Set is what every node is to have from now on, and returns what is new in it. The one before stays where it fails.
func (s *Server) Set(ctx context.Context, snap *snapshot.Snapshot) (*Change, error) {
	before := s.nodes.wanted()
	change := s.nodes.want(snap)
	if err := s.cache.SetSnapshot(ctx, everybody, snap.Cache()); err != nil {
		s.nodes.unwant(before)
		return nil, fmt.Errorf("serve: %w", err)
	}
	return change, nil
}

// Current is what was set last, or nil.
func (s *Server) Current() *snapshot.Snapshot { return s.nodes.wanted() }

// Wait waits until there is a node, and every connected node has acknowledged a change, or all of what was set last where that is nil. A node that
// refuses a part of it ends the wait with a *RefusedError, at once or, of one that refused it before, when all others have it. What else a node may
// refuse makes no difference, and neither does a part that was changed again since. Where ctx ends first the error names who is missing.
func (s *Server) Wait(ctx context.Context, change *Change) error { return s.nodes.wait(ctx, change) }

// Turnover counts the nodes that came and went: while it stays the same, so do the nodes.
func (s *Server) Turnover() int { return s.nodes.turnover() }

// Nodes tells of the connected nodes, by their ids.
func (s *Server) Nodes() []Node { return s.nodes.list() }

// Start serves on a listener; policy is nil on a unix socket, else that of mutual TLS. See MutualTLS.
func (s *Server) Start(l net.Listener, policy *tls.Config) {
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(maxRequest),
		grpc.MaxConcurrentStreams(16), // of a connection: an Envoy has one
		grpc.ConnectionTimeout(10 * time.Second),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingsApart, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionAge: cmp.Or(s.cfg.MaxAge, connectionAge), MaxConnectionAgeGrace: connectionGrace, Time: pings, Timeout: patience,
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

// Stop ends all streams: nodes keep what they have, and come again. It is called once.
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
func (s *Server) DeltaAggregatedResources(stream discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	return s.delta.DeltaStreamHandler(stream, resourcev3.AnyType)
}

// StreamAggregatedResources refuses: see the package.
func (s *Server) StreamAggregatedResources(discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	s.nodes.refused("sotw")
	return status.Error(codes.Unimplemented, "edge: only Delta ADS is served: api_type DELTA_GRPC")
}

// everybody is the key of the one snapshot.
const everybody = "all"

type oneForAll struct{}

// ID is for the cache.
func (oneForAll) ID(*corev3.Node) string { return everybody }
