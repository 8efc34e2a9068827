package serve

import (
	"slices"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/causeway-pay/causeway/deploy/edge/internal/snapshot"
)

// maxNames is the largest number of names of a kind in a node's subscription; only a few exist.
const maxNames = 256

// kind is a node's state for one kind of resources.
type kind struct {
	all   bool              // wildcard subscription
	names map[string]bool   // or a subscription to these names
	has   map[string]string // the acknowledged versions, by name
	sent  map[string]delivery

	refused map[string]refusal // refused versions of the present resources, by name
	failed  bool               // the node has refused a resource, and not yet accepted all
	mended  int                // how often to send certificates again, because a failure ended
	repeat  map[string]bool    // names of acknowledged resources to send again
}

// delivery is a response without an acknowledgement yet.
type delivery struct {
	version   string
	resources map[string]string
	removed   []string
}

// kind returns the state of a request's kind, created with the first request.
func (s *stream) kind(r *discoveryv3.DeltaDiscoveryRequest) *kind {
	k, ok := s.kinds[r.GetTypeUrl()]
	if !ok {
		k = &kind{
			names:   map[string]bool{},
			has:     map[string]string{},
			sent:    map[string]delivery{},
			refused: map[string]refusal{},
			repeat:  map[string]bool{},
		}
		k.all = len(r.GetResourceNamesSubscribe()) == 0
		for name, version := range r.GetInitialResourceVersions() { // the node reconnects
			k.has[name] = version
		}
		s.kinds[r.GetTypeUrl()] = k
	}
	return k
}

// subscribe returns false if the request has too many names.
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
		delete(k.repeat, name)
	}
	return len(k.names) <= maxNames && len(k.has) <= maxNames
}

func (k *kind) deliver(r *discoveryv3.DeltaDiscoveryResponse) {
	d := delivery{version: r.GetSystemVersionInfo(), resources: map[string]string{}, removed: r.GetRemovedResources()}
	for _, resource := range r.GetResources() {
		d.resources[resource.GetName()] = resource.GetVersion()
		delete(k.repeat, resource.GetName())
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
	if k.failed && len(k.refused) == 0 {
		k.failed, k.mended = false, 2 // the node may subscribe to the certificate after the first
	}
	return d.version, true
}

// current reports whether a node has subscribed to every kind, and acknowledged all subscribed
// resources of a snapshot.
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
