package rollout

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"time"

	resourcev3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/causeway-pay/causeway/deploy/edge/internal/build"
	"github.com/causeway-pay/causeway/deploy/edge/internal/check"
	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/deploy/edge/internal/serve"
	"github.com/causeway-pay/causeway/deploy/edge/internal/snapshot"
	"github.com/causeway-pay/causeway/shared/certfile"
)

// Plane has the present configuration and certificates of all Envoys. It is safe for concurrent
// use.
type Plane struct {
	server *serve.Server
	log    *slog.Logger

	mu    sync.Mutex
	cfg   config.Config    // guarded by mu
	pairs []*certfile.Pair // guarded by mu; empty until a certificate exists
}

// NewPlane returns a plane that pushes its first resources after Certify, which may be called
// without certificates. log may be nil.
func NewPlane(server *serve.Server, cfg config.Config, log *slog.Logger) *Plane {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Plane{server: server, cfg: cfg, log: log}
}

// Config returns the present configuration.
func (p *Plane) Config() config.Config {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cfg
}

// Snapshot returns the checked resources of a configuration and certificates.
func Snapshot(cfg config.Config, pairs []*certfile.Pair) (*snapshot.Snapshot, error) {
	in := build.Input{Config: cfg}
	for _, p := range pairs {
		in.Certificates = append(in.Certificates, build.FromPair(p))
	}
	made, err := build.Build(in)
	if err != nil {
		return nil, err
	}
	if err := check.Resources(made); err != nil {
		return nil, err
	}
	return snapshot.New(made)
}

// Certified reports whether a certificate exists.
func (p *Plane) Certified() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pairs) > 0
}

// Certify pushes certificates, checked by their source. It returns the change that nodes must
// acknowledge. For the first certificates that is the certificates alone: other new resources have
// no effect on their acceptance. On an error the previous resources stay.
func (p *Plane) Certify(ctx context.Context, pairs []*certfile.Pair) (*serve.Change, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change, err := p.push(ctx, p.cfg, pairs)
	if err != nil {
		return nil, err
	}
	if len(p.pairs) == 0 {
		change = change.Only(resourcev3.SecretType)
	}
	p.pairs = pairs
	return change, nil
}

// Configure pushes a configuration. It returns the change that nodes must acknowledge, or nil
// before the first certificate. On an error the previous resources stay.
func (p *Plane) Configure(ctx context.Context, cfg config.Config) (change *serve.Change, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if fixed := startOnly(p.cfg, cfg); len(fixed) > 0 {
		return nil, fmt.Errorf("%s changed: restart this program to apply it", strings.Join(fixed, ", "))
	}
	if p.server.Current() != nil {
		if change, err = p.push(ctx, cfg, p.pairs); err != nil {
			return nil, err
		}
	}
	p.cfg = cfg
	return change, nil
}

// push is called with the mutex held.
func (p *Plane) push(ctx context.Context, cfg config.Config, pairs []*certfile.Pair) (*serve.Change, error) {
	snap, err := Snapshot(cfg, pairs)
	if err != nil {
		return nil, err
	}
	before := p.server.Current()
	change, err := p.server.Set(context.WithoutCancel(ctx), snap)
	if err != nil {
		return nil, err
	}
	if changed := snap.Changes(before); len(changed) > 0 {
		p.log.InfoContext(ctx, "edge: the configuration was applied", slog.Any("changed", short(changed)))
	}
	return change, nil
}

// Reload is Configure with a wait for the Envoys. If one refuses a changed resource, and had
// accepted the previous one, Reload restores the previous configuration. Its other refusals have no
// effect. Without an Envoy, or without a response in time, the configuration stays.
func (p *Plane) Reload(ctx context.Context, cfg config.Config, patience time.Duration) error {
	before := p.Config()
	change, err := p.Configure(ctx, cfg)
	if err != nil || change.Empty() {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var refused *serve.RefusedError
	if err := p.server.Wait(ctx, change); errors.As(err, &refused) && !refused.Before {
		_, back := p.Configure(context.WithoutCancel(ctx), before)
		return errors.Join(err, back)
	}
	return nil
}

// startOnly returns the keys that differ and that only a restart applies.
func startOnly(before, after config.Config) []string {
	var out []string
	for _, k := range []struct {
		key  string
		a, b any
	}{
		{"data", before.Data, after.Data},
		{"xds", before.XDS, after.XDS},
		{"http", before.HTTP, after.HTTP},
		{"admin", before.Admin, after.Admin},
		{"certificates", before.Certificates, after.Certificates},
		{"trust", before.Trust, after.Trust},
		{"operator", before.Operator, after.Operator},
		{"drain", before.Drain, after.Drain},
		{"hosts", before.Hosts, after.Hosts}, // with their order: the first one is in the calendar's titles
		{"tls.cipher_suites (kinds of keys)", keyKinds(before), keyKinds(after)},
	} {
		if !reflect.DeepEqual(k.a, k.b) {
			out = append(out, k.key)
		}
	}
	return out
}

// keyKinds reports whether the policy leaves cipher suites for RSA and for ECDSA keys. The source
// of the certificates checks new ones by the policy of the start.
func keyKinds(c config.Config) (kinds [2]bool) {
	policy, err := c.Policy()
	if err != nil { // Load has rejected it
		return kinds
	}
	return [2]bool{policy.Takes(&rsa.PublicKey{}) == nil, policy.Takes(&ecdsa.PublicKey{Curve: elliptic.P256()}) == nil}
}

func short(urls []string) []string {
	out := make([]string, 0, len(urls))
	for _, u := range urls {
		out = append(out, u[strings.LastIndexByte(u, '.')+1:])
	}
	return out
}
