package rollout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
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

// Plane is what all Envoys are to have: the configuration and the certificates of the moment. It is safe for concurrent use.
type Plane struct {
	server *serve.Server
	log    *slog.Logger

	mu    sync.Mutex
	cfg   config.Config    // guarded by mu
	pairs []*certfile.Pair // guarded by mu; none until there is a certificate
}

// NewPlane pushes nothing until there is a certificate, or Certify is called with none. log may be nil.
func NewPlane(server *serve.Server, cfg config.Config, log *slog.Logger) *Plane {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Plane{server: server, cfg: cfg, log: log}
}

// Config is the configuration of the moment.
func (p *Plane) Config() config.Config {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cfg
}

// Snapshot is what a configuration and certificates come to, checked.
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

// Certified reports whether there is a certificate to serve by.
func (p *Plane) Certified() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pairs) > 0
}

// Certify pushes certificates, checked by their source, and returns what nodes are to say to. Of the first certificates that is these alone: the rest
// is new to nodes too, but whether they like it is no matter of the certificate's. On an error what was there stays.
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

// Configure pushes a configuration, and returns what nodes are to say to, which is nil before there is anything to serve. On an error what was there
// stays.
func (p *Plane) Configure(ctx context.Context, cfg config.Config) (change *serve.Change, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if fixed := startOnly(p.cfg, cfg); len(fixed) > 0 {
		return nil, fmt.Errorf("%s changed: that takes a restart of this program", strings.Join(fixed, ", "))
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
		p.log.InfoContext(ctx, "edge: configuration set", slog.Any("changed", short(changed)))
	}
	return change, nil
}

// Reload is Configure that waits for what Envoys say: one that refuses what changed, and had what was there, has that come back. What an Envoy
// refuses besides, or refused before, makes no difference. Without an Envoy, or without an answer in time, the configuration stays.
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

// startOnly are the keys of a configuration that are read at the start alone, and differ.
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
		{"hosts", sorted(before.Names()), sorted(after.Names())},
	} {
		if !reflect.DeepEqual(k.a, k.b) {
			out = append(out, k.key)
		}
	}
	return out
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }

func short(urls []string) []string {
	out := make([]string, 0, len(urls))
	for _, u := range urls {
		out = append(out, u[strings.LastIndexByte(u, '.')+1:])
	}
	return out
}
