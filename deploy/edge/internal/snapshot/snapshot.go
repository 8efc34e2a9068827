package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	resourcev3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/protobuf/proto"

	"github.com/causeway-pay/causeway/deploy/edge/internal/build"
)

// Types are the kinds of an Envoy's resources, in the order of their dependencies.
var Types = []string{resourcev3.SecretType, resourcev3.ClusterType, resourcev3.RouteType, resourcev3.ListenerType}

// Snapshot has all resources of a node. It is immutable.
type Snapshot struct {
	cache   *cachev3.Snapshot
	secrets []string // the lines of all sensitive values, for Scrub
}

// New makes a snapshot. The version of a kind is a hash of its content. So a restart with the same
// files changes no version, and a new certificate changes only secrets.
func New(r build.Resources) (*Snapshot, error) {
	kinds := map[string][]types.Resource{
		resourcev3.SecretType:   {},
		resourcev3.ClusterType:  {},
		resourcev3.RouteType:    {},
		resourcev3.ListenerType: {},
	}
	for _, m := range r.Secrets {
		kinds[resourcev3.SecretType] = append(kinds[resourcev3.SecretType], m)
	}
	for _, m := range r.Clusters {
		kinds[resourcev3.ClusterType] = append(kinds[resourcev3.ClusterType], m)
	}
	for _, m := range r.Routes {
		kinds[resourcev3.RouteType] = append(kinds[resourcev3.RouteType], m)
	}
	for _, m := range r.Listeners {
		kinds[resourcev3.ListenerType] = append(kinds[resourcev3.ListenerType], m)
	}
	out := &cachev3.Snapshot{}
	for url, items := range kinds {
		kind := cachev3.GetResponseType(url)
		if kind == types.UnknownType {
			return nil, errors.New("snapshot: unknown kind " + url)
		}
		version, err := version(items)
		if err != nil {
			return nil, err
		}
		out.Resources[kind] = cachev3.NewResources(version, items)
	}
	if err := out.ConstructVersionMap(); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	lines, err := secretLines(out)
	if err != nil {
		return nil, err
	}
	return &Snapshot{cache: out, secrets: lines}, nil
}

func version(items []types.Resource) (string, error) {
	sum := sha256.New()
	for _, m := range items {
		text, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			return "", fmt.Errorf("snapshot: %w", err)
		}
		_, _ = fmt.Fprintf(sum, "%d\n", len(text)) // a hash accepts every write
		_, _ = sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// Cache returns the form that go-control-plane serves.
func (s *Snapshot) Cache() *cachev3.Snapshot { return s.cache }

// Version returns the version of a kind.
func (s *Snapshot) Version(url string) string { return s.cache.GetVersion(url) }

// Resources returns the versions of a kind's resources, by name.
func (s *Snapshot) Resources(url string) map[string]string { return s.cache.GetVersionMap(url) }

// Changes returns the kinds in which two snapshots differ, or all kinds if before is nil.
func (s *Snapshot) Changes(before *Snapshot) []string {
	var out []string
	for _, url := range Types {
		if before == nil || s.Version(url) != before.Version(url) {
			out = append(out, url)
		}
	}
	return out
}
