package serve

import (
	"maps"
	"slices"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	resourcev3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/causeway-pay/causeway/deploy/edge/internal/snapshot"
)

// refusal is the refusal of a resource by a node. A node refuses a delivery of several as a whole,
// but applies the valid ones. Which ones these are shows only when each is sent again, alone.
type refusal struct {
	version string // "" for a removal
	reason  string
	sure    bool // the delivery had no other resource
	retry   bool // the resource is sent again, alone
}

func (k *kind) refuse(nonce, reason string, wanted map[string]string) {
	d := k.sent[nonce]
	delete(k.sent, nonce)
	k.failed = true
	sure := len(d.resources)+len(d.removed) == 1
	for name, version := range d.resources {
		k.doubt(name, refusal{version: version, reason: reason, sure: sure}, wanted)
	}
	for _, name := range d.removed {
		k.doubt(name, refusal{reason: reason, sure: sure}, wanted)
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

// suspect returns the next resource to send again, if no response is pending.
func (k *kind) suspect() (name string, ok bool) {
	if len(k.sent) > 0 {
		return "", false
	}
	for _, name := range slices.Sorted(maps.Keys(k.refused)) {
		if r := k.refused[name]; !r.sure || r.retry {
			return name, true
		}
	}
	for name := range k.repeat {
		return name, true
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
	if k := w.nodes.kindOf(r); k != nil {
		sub = forgetful{sub, w.nodes, k}
	}
	return w.SnapshotCache.CreateDeltaWatch(r, sub, out)
}

// kindOf returns the state of a request's kind, once.
func (n *nodes) kindOf(r *discoveryv3.DeltaDiscoveryRequest) *kind {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := n.requested[r]
	delete(n.requested, r)
	return k
}

// forgetful is a node's subscription without the record of the resource to send alone.
type forgetful struct {
	cachev3.Subscription

	nodes *nodes
	kind  *kind
}

// ReturnedResources omits the resource. The cache then sends it, or its removal if it does not
// exist.
func (f forgetful) ReturnedResources() map[string]string {
	f.nodes.mu.Lock()
	name, ok := f.kind.suspect()
	f.nodes.mu.Unlock()
	if !ok {
		return f.Subscription.ReturnedResources()
	}
	out := maps.Clone(f.Subscription.ReturnedResources())
	if out == nil {
		out = map[string]string{}
	}
	out[name] = ""
	return out
}

// retry marks the refused listeners to be sent again, and the certificates of accepted ones. It
// returns false if there are none.
func (n *nodes) retry() (found bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.streams {
		listeners, secrets := s.kinds[resourcev3.ListenerType], s.kinds[resourcev3.SecretType]
		if listeners == nil {
			continue
		}
		for name, r := range listeners.refused {
			r.retry = true
			listeners.refused[name] = r
			found = true
		}
		if listeners.mended > 0 && secrets != nil {
			// Envoy 1.40 does not give the first certificate to such a listener, which then never serves.
			listeners.mended--
			maps.Copy(secrets.repeat, secrets.names)
			found = true
		}
	}
	return found
}
