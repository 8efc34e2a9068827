package serve

import (
	"maps"
	"slices"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/causeway-pay/causeway/deploy/edge/internal/snapshot"
)

// refusal is the refusal of a resource by a node. A node refuses a delivery of several as a whole,
// but applies the valid ones. Which ones these are shows only when each is sent again, alone.
type refusal struct {
	version string // "" for a removal
	reason  string
	sure    bool // the delivery had no other resource
}

func (k *kind) refuse(nonce, reason string, wanted map[string]string) {
	d := k.sent[nonce]
	delete(k.sent, nonce)
	sure := len(d.resources)+len(d.removed) == 1
	for name, version := range d.resources {
		k.doubt(name, refusal{version, reason, sure}, wanted)
	}
	for _, name := range d.removed {
		k.doubt(name, refusal{"", reason, sure}, wanted)
	}
}

// doubt records a refusal, unless the snapshot has another version by now.
func (k *kind) doubt(name string, r refusal, wanted map[string]string) {
	if wanted[name] == r.version {
		k.refused[name] = r
	}
}

// forget drops refusals of versions that are not in the snapshot.
func (k *kind) forget(wanted map[string]string) {
	maps.DeleteFunc(k.refused, func(name string, r refusal) bool { return wanted[name] != r.version })
}

// suspect returns the next resource to send alone, if no response is pending.
func (k *kind) suspect() (name string, ok bool) {
	if len(k.sent) > 0 {
		return "", false
	}
	for _, name := range slices.Sorted(maps.Keys(k.refused)) {
		if !k.refused[name].sure {
			return name, true
		}
	}
	return "", false
}

// refusal returns the reason why a node refuses a present resource, or "".
func (s *stream) refusal() string {
	for _, url := range snapshot.Types {
		k := s.kinds[url]
		if k == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(k.refused)) {
			return shortType(url) + ": " + k.refused[name].reason
		}
	}
	return ""
}

// refuses reports whether the node certainly refuses a resource.
func (s *stream) refuses() bool {
	for _, k := range s.kinds {
		for _, r := range k.refused {
			if r.sure {
				return true
			}
		}
	}
	return false
}

// watcher makes go-control-plane, which sends only changes to a node, repeat a resource that the
// node may have refused.
type watcher struct {
	cachev3.SnapshotCache

	nodes *nodes
}

// CreateDeltaWatch is called for each request, after its callback.
func (w watcher) CreateDeltaWatch(r *cachev3.DeltaRequest, sub cachev3.Subscription,
	out chan cachev3.DeltaResponse,
) (func(), error) {
	if name, ok := w.nodes.again(r); ok {
		sub = forgetful{sub, name}
	}
	return w.SnapshotCache.CreateDeltaWatch(r, sub, out)
}

// forgetful is a node's subscription without the record of one resource.
type forgetful struct {
	cachev3.Subscription

	name string
}

// ReturnedResources omits the resource. The cache then sends it, or its removal if it does not
// exist.
func (f forgetful) ReturnedResources() map[string]string {
	out := maps.Clone(f.Subscription.ReturnedResources())
	if out == nil {
		out = map[string]string{}
	}
	out[f.name] = ""
	return out
}

// again returns the resource to repeat in the response to a request.
func (n *nodes) again(r *discoveryv3.DeltaDiscoveryRequest) (name string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := n.requested[r]
	delete(n.requested, r)
	if k == nil {
		return "", false
	}
	return k.suspect()
}
