package serve

import (
	"slices"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/causeway-pay/causeway/deploy/edge/internal/snapshot"
)

// maxNames is how many resources of a kind a node may ask for by name; there are a handful.
const maxNames = 256

// kind is what a node knows of one kind of resources.
type kind struct {
	all   bool              // it asked for all there are
	names map[string]bool   // or for these
	has   map[string]string // the versions that it has acknowledged, by name
	sent  map[string]delivery

	refused map[string]refusal // by name, of what it is to have
}

// delivery is an answer that is on its way.
type delivery struct {
	version   string
	resources map[string]string
	removed   []string
}

// kind is that of a request, made at its first.
func (s *stream) kind(r *discoveryv3.DeltaDiscoveryRequest) *kind {
	k, ok := s.kinds[r.GetTypeUrl()]
	if !ok {
		k = &kind{names: map[string]bool{}, has: map[string]string{}, sent: map[string]delivery{}, refused: map[string]refusal{}}
		k.all = len(r.GetResourceNamesSubscribe()) == 0
		for name, version := range r.GetInitialResourceVersions() { // it comes again
			k.has[name] = version
		}
		s.kinds[r.GetTypeUrl()] = k
	}
	return k
}

// subscribe reports false for more names than there can be.
func (k *kind) subscribe(r *discoveryv3.DeltaDiscoveryRequest) bool {
	for _, name := range r.GetResourceNamesSubscribe() {
		if name == "*" {
			k.all = true
			continue
		}
		k.names[name] = true
	}
	for _, name := range r.GetResourceNamesUnsubscribe() {
		if name == "*" {
			k.all = false
		}
		delete(k.names, name)
		delete(k.has, name)
		delete(k.refused, name)
	}
	return len(k.names) <= maxNames && len(k.has) <= maxNames
}

func (k *kind) deliver(r *discoveryv3.DeltaDiscoveryResponse) {
	d := delivery{version: r.GetSystemVersionInfo(), resources: map[string]string{}, removed: r.GetRemovedResources()}
	for _, resource := range r.GetResources() {
		d.resources[resource.GetName()] = resource.GetVersion()
	}
	k.sent[r.GetNonce()] = d
}

func (k *kind) acknowledge(nonce string) (version string, ok bool) {
	d, ok := k.sent[nonce]
	if !ok {
		return "", false
	}
	delete(k.sent, nonce)
	for name, version := range d.resources {
		k.has[name] = version
		delete(k.refused, name)
	}
	for _, name := range d.removed {
		delete(k.has, name)
		delete(k.refused, name)
	}
	return d.version, true
}

// current reports whether a node has acknowledged all that it asked for of a snapshot, and asked for every kind.
func (s *stream) current(snap *snapshot.Snapshot) bool {
	if snap == nil || s.id == "" {
		return false
	}
	for _, url := range snapshot.Types {
		wanted, k := snap.Resources(url), s.kinds[url]
		if k == nil && len(wanted) > 0 || k != nil && !k.current(wanted) {
			return false
		}
	}
	return true
}

func (k *kind) current(wanted map[string]string) bool {
	for name, version := range wanted {
		if (k.all || k.names[name]) && k.has[name] != version {
			return false
		}
	}
	for name := range k.has {
		if _, ok := wanted[name]; !ok && k.all {
			return false
		}
	}
	return k.all || slices.ContainsFunc(keys(wanted), func(name string) bool { return k.names[name] }) || len(wanted) == 0
}

func keys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}
