package serve

import (
	"maps"
	"slices"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/causeway-pay/causeway/deploy/edge/internal/snapshot"
)

// refusal is what a node said no to. To a delivery of several it says one no, and takes those of them that are good: which these are it tells only
// when each is sent to it once more, alone.
type refusal struct {
	version string // "" of what it was to remove
	reason  string
	sure    bool // it was alone in its delivery
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

// doubt takes note of a refusal, unless the node is to have another version by now.
func (k *kind) doubt(name string, r refusal, wanted map[string]string) {
	if wanted[name] == r.version {
		k.refused[name] = r
	}
}

// forget drops refusals of what nodes are not to have any longer.
func (k *kind) forget(wanted map[string]string) {
	maps.DeleteFunc(k.refused, func(name string, r refusal) bool { return wanted[name] != r.version })
}

// suspect is what to send alone now, if anything is: not while an answer is awaited.
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

// refusal is why a node refused what it is to have, or "".
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

// refuses reports whether it is sure that a node refuses something.
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

// watcher has go-control-plane, which sends a node only what changed, send once more what the node may have refused.
type watcher struct {
	cachev3.SnapshotCache

	nodes *nodes
}

// CreateDeltaWatch is called with each request, after the callback for it.
func (w watcher) CreateDeltaWatch(r *cachev3.DeltaRequest, sub cachev3.Subscription, out chan cachev3.DeltaResponse) (func(), error) {
	if name, ok := w.nodes.again(r); ok {
		sub = forgetful{sub, name}
	}
	return w.SnapshotCache.CreateDeltaWatch(r, sub, out)
}

// forgetful is the subscription of a node to which one resource was never sent, or never taken back.
type forgetful struct {
	cachev3.Subscription

	name string
}

// ReturnedResources has no version for it: of what there is that sends it, of what there is not its removal.
func (f forgetful) ReturnedResources() map[string]string {
	out := maps.Clone(f.Subscription.ReturnedResources())
	if out == nil {
		out = map[string]string{}
	}
	out[f.name] = ""
	return out
}

// again is what to send once more in answer to a request.
func (n *nodes) again(r *discoveryv3.DeltaDiscoveryRequest) (name string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := n.asking[r]
	delete(n.asking, r)
	if k == nil {
		return "", false
	}
	return k.suspect()
}
