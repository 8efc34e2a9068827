package rollout

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/deploy/edge/internal/rotation"
	"github.com/causeway-pay/causeway/deploy/edge/internal/serve"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
)

// Config has the settings of a rotation at Envoys. All but Probe, Clock, Log, Metrics and Look are
// required.
type Config struct {
	Plane     *Plane
	Server    *serve.Server
	Publisher rotation.Publisher
	Alarm     rotation.Alarm
	Folder    string        // of the state for a restart
	Ahead     time.Duration // how long a new certificate is published before it is served
	// Probe makes a handshake with an Envoy, and fails unless it presents one of the pairs. Nil if no
	// Envoy is reachable from here.
	Probe   func(ctx context.Context, pairs []*certfile.Pair) error
	Clock   clock.Clock
	Log     *slog.Logger
	Metrics *Metrics
	Look    time.Duration // interval of the checks of the clock; 0: a second
}

// New returns a rotation of the certificates of all Envoys. It pushes the certificates of the
// previous run.
func New(ctx context.Context, cfg Config) (*rotation.Rotation, error) {
	return rotation.New(ctx, rotation.Config{
		Fleet:     &envoys{plane: cfg.Plane, server: cfg.Server, probe: cfg.Probe},
		Publisher: cfg.Publisher, Alarm: cfg.Alarm, Folder: cfg.Folder, Ahead: cfg.Ahead,
		Count: cmp.Or(cfg.Metrics, NewMetrics()).certificate, Clock: cfg.Clock, Log: cfg.Log, Look: cfg.Look,
	})
}

// envoys is the fleet of all Envoys. One goroutine uses it.
type envoys struct {
	plane  *Plane
	server *serve.Server
	probe  func(ctx context.Context, pairs []*certfile.Pair) error
	change *serve.Change // the change that Envoys must acknowledge for the last Serve
}

// Check implements rotation.Fleet.
func (e *envoys) Check(pairs []*certfile.Pair) error {
	_, err := Snapshot(e.plane.Config(), pairs)
	return err
}

// Serve implements rotation.Fleet. Before the first certificate it pushes resources without one, so
// that Envoys pass the authority's challenges.
func (e *envoys) Serve(ctx context.Context, pairs []*certfile.Pair) error {
	if len(pairs) == 0 && e.plane.Config().Certificates.ACME == nil {
		return nil
	}
	change, err := e.plane.Certify(ctx, pairs)
	if err == nil {
		e.change = change
	}
	return err
}

// Served implements rotation.Fleet: every node has acknowledged the certificate, and a handshake
// presents it. A node that refused its previous resources too is not counted.
func (e *envoys) Served(ctx context.Context, pairs []*certfile.Pair) (refused bool, err error) {
	err = e.server.Wait(ctx, e.change)
	var by *serve.RefusedError
	if errors.As(err, &by) {
		return !by.Before, err
	}
	if err == nil && e.probe != nil {
		err = e.probe(ctx, pairs)
	}
	return false, err
}

// Turnover implements rotation.Fleet: it counts connections and disconnections.
func (e *envoys) Turnover() int { return e.server.Turnover() }

// Names implements rotation.Fleet: a restart may have added hosts.
func (e *envoys) Names() []string { return e.plane.Config().Names() }
