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

// nodes are the streams that are open, and what is known of them. Its methods are go-control-plane's callbacks; those of a stream are called one
// after the other.
type nodes struct {
	cfg Config

	mu      sync.Mutex
	snap    *snapshot.Snapshot // guarded by mu: what all are to have
	streams map[int64]*stream  // guarded by mu
	changed chan struct{}      // guarded by mu: closed and replaced when anything did
	turns   int                // guarded by mu: how often a node came or went
	// The requests between their callback and their watch, which both belong to one goroutine, guarded by mu.
	asking map[*discoveryv3.DeltaDiscoveryRequest]*kind
}

// stream is a node's connection. It is guarded by the mutex of nodes.
type stream struct {
	allowed []string // the ids that its certificate names; nil where anybody may have any
	id      string   // "" before the first request
	kinds   map[string]*kind
}

// Node is a connected one.
type Node struct {
	ID      string
	Current bool   // it has acknowledged all that it is to have
	Refused string // why it refused what it is to have, or ""
}

func newNodes(cfg Config) *nodes {
	return &nodes{
		cfg: cfg, streams: map[int64]*stream{}, changed: make(chan struct{}), asking: map[*discoveryv3.DeltaDiscoveryRequest]*kind{},
	}
}

// want is called before what is wanted can be sent: answers to it must be known as such.
func (n *nodes) want(to *snapshot.Snapshot) *Change {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.change(to)
	n.snap = to
	for _, s := range n.streams {
		for url, k := range s.kinds {
			k.forget(to.Resources(url))
		}
	}
	n.tell()
	return c
}

// unwant goes back to what could not be replaced.
func (n *nodes) unwant(before *snapshot.Snapshot) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.snap = before
	n.tell()
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

// tell wakes all who wait. The mutex is held.
func (n *nodes) tell() {
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

// OnDeltaStreamOpen takes a stream once there is something to serve.
func (n *nodes) OnDeltaStreamOpen(ctx context.Context, id int64, _ string) error {
	allowed := peerNames(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.snap == nil:
		n.refused("not_ready")
		return status.Error(codes.Unavailable, "edge: there is nothing to serve yet")
	case len(n.streams) >= cmp.Or(n.cfg.Nodes, maxNodes):
		n.refused("too_many")
		return status.Error(codes.ResourceExhausted, "edge: too many nodes are connected")
	}
	n.streams[id] = &stream{allowed: allowed, kinds: map[string]*kind{}}
	n.tell()
	return nil
}

// OnDeltaStreamClosed forgets a stream.
func (n *nodes) OnDeltaStreamClosed(id int64, _ *corev3.Node) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s, ok := n.streams[id]; ok && s.id != "" {
		n.turns++
		n.cfg.Log.Info("edge: node disconnected", slog.String("node", s.id))
	}
	delete(n.streams, id)
	n.tell()
}

// OnStreamDeltaRequest looks who asks, and for what, and takes note of answers.
func (n *nodes) OnStreamDeltaRequest(id int64, r *discoveryv3.DeltaDiscoveryRequest) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	s, ok := n.streams[id]
	if !ok {
		return status.Error(codes.Internal, "edge: no such stream")
	}
	if err := n.identify(s, r.GetNode()); err != nil {
		n.refused("node")
		n.cfg.Log.Warn("edge: node refused", slog.String("node", printable(r.GetNode().GetId())), slog.String("reason", status.Convert(err).Message()))
		return err
	}
	if !slices.Contains(snapshot.Types, r.GetTypeUrl()) {
		n.refused("type")
		return status.Error(codes.InvalidArgument, "edge: this type is not served")
	}
	k := s.kind(r)
	if !k.subscribe(r) {
		n.refused("too_many_names")
		return status.Error(codes.ResourceExhausted, "edge: too many names")
	}
	n.answered(s, k, r)
	n.asking[r] = k
	n.tell()
	return nil
}

// answered takes note of what a node says to what it was sent.
func (n *nodes) answered(s *stream, k *kind, r *discoveryv3.DeltaDiscoveryRequest) {
	if r.GetResponseNonce() == "" {
		return
	}
	short := shortType(r.GetTypeUrl())
	if e := r.GetErrorDetail(); e != nil {
		version, reason := k.sent[r.GetResponseNonce()].version, printable(e.GetMessage())
		k.refuse(r.GetResponseNonce(), reason, n.snap.Resources(r.GetTypeUrl()))
		n.cfg.Metrics.answers.WithLabelValues(s.id, short, "nack").Inc()
		n.cfg.Log.Error("edge: node refused configuration", slog.String("node", s.id), slog.String("type", short),
			slog.String("version", version), slog.String("reason", reason))
		return
	}
	if version, ok := k.acknowledge(r.GetResponseNonce()); ok {
		n.cfg.Metrics.answers.WithLabelValues(s.id, short, "ack").Inc()
		n.cfg.Log.Info("edge: node has configuration", slog.String("node", s.id), slog.String("type", short), slog.String("version", version))
	}
}

// OnStreamDeltaResponse remembers what is sent.
func (n *nodes) OnStreamDeltaResponse(id int64, _ *discoveryv3.DeltaDiscoveryRequest, r *discoveryv3.DeltaDiscoveryResponse) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s, ok := n.streams[id]; ok && s.kinds[r.GetTypeUrl()] != nil {
		s.kinds[r.GetTypeUrl()].deliver(r)
	}
}

// list is sorted.
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

// shortType is the last word of a type's name.
func shortType(url string) string { return url[strings.LastIndexByte(url, '.')+1:] }
