package serve

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/causeway-pay/causeway/deploy/edge/internal/snapshot"
)

// nodes has the open streams and their state. Its methods are go-control-plane's callbacks; the
// callbacks of one stream are sequential.
type nodes struct {
	cfg Config

	mu      sync.Mutex
	snap    *snapshot.Snapshot // guarded by mu: the snapshot for all nodes
	past    *snapshot.Snapshot // guarded by mu: the snapshot before it, which a node may still refuse
	streams map[int64]*stream  // guarded by mu
	changed chan struct{}      // guarded by mu: closed and replaced at each change of the state
	turns   int                // guarded by mu: number of connections and disconnections
	// Requests between their callback and their watch, which run in one goroutine; guarded by mu.
	requested map[*discoveryv3.DeltaDiscoveryRequest]*kind
}

// stream is a node's connection. It is guarded by the mutex of nodes.
type stream struct {
	allowed []string // the ids that its certificate names; nil if every id is allowed
	id      string   // "" before the first request
	kinds   map[string]*kind
}

// Node is a connected node.
type Node struct {
	ID      string
	Current bool   // it has acknowledged all its resources
	Refused string // the reason for a refusal of a present resource, or ""
}

func newNodes(cfg Config) *nodes {
	return &nodes{
		cfg: cfg, streams: map[int64]*stream{}, changed: make(chan struct{}),
		requested: map[*discoveryv3.DeltaDiscoveryRequest]*kind{},
	}
}

// want sets the snapshot before it can be sent, so that acknowledgements are recognised.
func (n *nodes) want(to *snapshot.Snapshot) *Change {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.change(to)
	n.past, n.snap = n.snap, to
	for _, s := range n.streams {
		for url, k := range s.kinds {
			k.forget(to.Resources(url))
		}
	}
	n.notify()
	return c
}

// restore returns to the previous snapshot after a failure.
func (n *nodes) restore(before *snapshot.Snapshot) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.past, n.snap = n.snap, before
	n.notify()
}

func (n *nodes) turnover() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.turns
}

func (n *nodes) wanted() *snapshot.Snapshot {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.snap
}

// notify wakes all waiting calls. The mutex is held.
func (n *nodes) notify() {
	close(n.changed)
	n.changed = make(chan struct{})
	current := 0
	for _, s := range n.streams {
		if s.current(n.snap) {
			current++
		}
	}
	n.cfg.Metrics.nodes.WithLabelValues("connected").Set(float64(len(n.streams)))
	n.cfg.Metrics.nodes.WithLabelValues("current").Set(float64(current))
}

func (n *nodes) refused(why string) { n.cfg.Metrics.refused.WithLabelValues(why).Inc() }

// OnDeltaStreamOpen accepts a stream if a snapshot exists.
func (n *nodes) OnDeltaStreamOpen(ctx context.Context, id int64, _ string) error {
	allowed := peerNames(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.snap == nil:
		n.refused("not_ready")
		return status.Error(codes.Unavailable, "edge: there is no configuration to serve yet")
	case len(n.streams) >= cmp.Or(n.cfg.Nodes, maxNodes):
		n.refused("too_many")
		return status.Error(codes.ResourceExhausted, "edge: too many nodes are connected")
	}
	n.streams[id] = &stream{allowed: allowed, kinds: map[string]*kind{}}
	n.notify()
	return nil
}

// OnDeltaStreamClosed removes a stream.
func (n *nodes) OnDeltaStreamClosed(id int64, _ *corev3.Node) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s, ok := n.streams[id]; ok && s.id != "" {
		n.turns++
		n.cfg.Log.Info("edge: a node disconnected", slog.String("node", s.id))
	}
	delete(n.streams, id)
	n.notify()
}

// OnStreamDeltaRequest checks the node and its subscription, and records an acknowledgement or a
// refusal.
func (n *nodes) OnStreamDeltaRequest(id int64, r *discoveryv3.DeltaDiscoveryRequest) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	s, ok := n.streams[id]
	if !ok {
		return status.Error(codes.Internal, "edge: the stream does not exist")
	}
	if err := n.identify(s, r.GetNode()); err != nil {
		n.refused("node")
		n.cfg.Log.Warn("edge: a node was rejected", slog.String("node", printable(r.GetNode().GetId())),
			slog.String("reason", status.Convert(err).Message()))
		return err
	}
	if !slices.Contains(snapshot.Types, r.GetTypeUrl()) {
		n.refused("type")
		return status.Error(codes.InvalidArgument, "edge: this resource type is not served")
	}
	k := s.kind(r)
	if !k.subscribe(r) {
		n.refused("too_many_names")
		return status.Error(codes.ResourceExhausted, "edge: too many resource names")
	}
	n.acknowledged(s, k, r)
	n.requested[r] = k
	n.notify()
	return nil
}

// acknowledged records a node's acknowledgement or refusal of a delivery.
func (n *nodes) acknowledged(s *stream, k *kind, r *discoveryv3.DeltaDiscoveryRequest) {
	if r.GetResponseNonce() == "" {
		return
	}
	short := shortType(r.GetTypeUrl())
	if e := r.GetErrorDetail(); e != nil {
		version, reason := k.sent[r.GetResponseNonce()].version, printable(n.scrub(e.GetMessage()))
		k.refuse(r.GetResponseNonce(), reason, n.snap.Resources(r.GetTypeUrl()))
		n.cfg.Metrics.responses.WithLabelValues(s.id, short, "nack").Inc()
		n.cfg.Log.Error("edge: a node rejected its configuration", slog.String("node", s.id), slog.String("type", short),
			slog.String("version", version), slog.String("reason", reason))
		return
	}
	if version, ok := k.acknowledge(r.GetResponseNonce()); ok {
		n.cfg.Metrics.responses.WithLabelValues(s.id, short, "ack").Inc()
		n.cfg.Log.Info("edge: a node has its configuration", slog.String("node", s.id), slog.String("type", short),
			slog.String("version", version))
	}
}

// scrub removes the secrets that a node quotes from its resources. The mutex is held.
func (n *nodes) scrub(text string) string {
	if n.past != nil {
		text = n.past.Scrub(text)
	}
	return n.snap.Scrub(text)
}

// OnStreamDeltaResponse records a delivery.
func (n *nodes) OnStreamDeltaResponse(id int64, _ *discoveryv3.DeltaDiscoveryRequest,
	r *discoveryv3.DeltaDiscoveryResponse,
) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s, ok := n.streams[id]; ok && s.kinds[r.GetTypeUrl()] != nil {
		s.kinds[r.GetTypeUrl()].deliver(r)
	}
}

// list returns the nodes, sorted by id.
func (n *nodes) list() []Node {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []Node
	for _, s := range n.streams {
		if s.id != "" {
			out = append(out, Node{ID: s.id, Current: s.current(n.snap), Refused: s.refusal()})
		}
	}
	slices.SortFunc(out, func(a, b Node) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// shortType returns the last word of a type's name.
func shortType(url string) string { return url[strings.LastIndexByte(url, '.')+1:] }
