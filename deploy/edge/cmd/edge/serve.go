package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/deploy/edge/internal/acme"
	"github.com/causeway-pay/causeway/deploy/edge/internal/expiry"
	"github.com/causeway-pay/causeway/deploy/edge/internal/rollout"
	"github.com/causeway-pay/causeway/deploy/edge/internal/rotation"
	"github.com/causeway-pay/causeway/deploy/edge/internal/serve"
	"github.com/causeway-pay/causeway/deploy/edge/internal/trust"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/durable"
	"github.com/causeway-pay/causeway/shared/program"
)

// listenersAgain is the time between two deliveries of a listener that an Envoy refuses.
const listenersAgain = 10 * time.Second

// edge is the running program.
type edge struct {
	*Main
	frame     *program.Frame
	server    *serve.Server
	plane     *rollout.Plane
	rollout   *rotation.Rotation
	counts    *rollout.Metrics
	publisher *trust.Publisher
	alarm     *expiry.Alarm

	from      certfile.Source
	authority *acme.Source // nil with a folder

	refusal atomic.Pointer[string] // why the present content of the file was refused; nil if it was not
}

// serve runs until ctx ends.
func (m *Main) serve(ctx context.Context, _ *flags) (err error) {
	frame, err := program.Open(ctx, program.Config{Name: name, Stderr: m.Stderr, Drain: m.config.Drain})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, frame.Close(ctx)) }()
	e := &edge{Main: m, frame: frame}
	if err := e.open(ctx); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	running, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	failed := make(chan error, 2)
	from := e.from
	if e.authority != nil {
		from = behindEnvoy{Source: e.authority, envoys: func(ctx context.Context) error { return e.server.Wait(ctx, nil) }}
	}
	wg.Go(func() { failed <- e.rollout.Run(running, from) })
	wg.Go(func() {
		if err := e.challenges(running); err != nil {
			failed <- err
		}
	})
	wg.Go(func() { e.alarm.Run(running, 0) })
	wg.Go(func() { e.reload(running) })
	wg.Go(func() { e.server.Retry(running, cmp.Or(e.Again, listenersAgain)) })
	wg.Go(func() { e.publisher.Run(running) })
	if m.Ready != nil {
		m.Ready()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// open opens all parts in the order of their dependencies.
func (e *edge) open(ctx context.Context) error {
	if err := durable.MkdirAll(e.config.Data, 0o700); err != nil {
		return err
	}
	if path, unix := strings.CutPrefix(e.config.HTTP, "unix:"); unix {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return err
		}
	}
	if e.config.HopSecret.IsZero() {
		e.frame.Log.WarnContext(ctx, "CAUSEWAY_HOP_SECRET is not set, so the programs behind Envoy count all clients as "+
			"one: set the same on all programs")
	}
	metrics := serve.NewMetrics()
	e.counts = rollout.NewMetrics()
	registry := prometheus.NewRegistry()
	e.alarm = expiry.New(clock.System(), e.frame.Log)
	registry.MustRegister(metrics, e.counts, e.alarm)
	var err error
	if e.from, e.authority, err = e.source(); err != nil {
		return err
	}
	if e.authority != nil {
		registry.MustRegister(e.authority)
	}
	if e.server, err = serve.New(ctx,
		serve.Config{Cluster: e.config.XDS.Cluster, Metrics: metrics, Log: e.frame.Log}); err != nil {
		return err
	}
	e.plane = rollout.NewPlane(e.server, e.config, e.frame.Log)
	if e.publisher, err = e.openPublisher(ctx); err != nil {
		return err
	}
	registry.MustRegister(e.publisher)
	cfg := rollout.Config{
		Plane: e.plane, Server: e.server, Publisher: e.publisher, Folder: e.config.Data,
		Ahead: e.config.Certificates.PublishAhead,
		Probe: e.probe(), Log: e.frame.Log, Metrics: e.counts, Alarm: e.alarm, Look: e.Look,
	}
	if e.rollout, err = rollout.New(ctx, cfg); err != nil {
		return err
	}
	if err := e.frame.Operators(ctx, e.config.Admin, e.operations(registry), e.AdminReady); err != nil {
		return err
	}
	if err := e.frame.Listen(ctx,
		program.Listener{Name: "http", Address: e.config.HTTP, Handler: e.handler()}); err != nil {
		return err
	}
	return e.listen(ctx)
}

// listen opens the listener for Envoys.
func (e *edge) listen(ctx context.Context) error {
	x := e.config.XDS
	var policy *tls.Config
	if !strings.HasPrefix(x.Listen, "unix:") {
		policy = serve.MutualTLS(x.Certificate, x.PrivateKey, x.ClientCA)
	}
	l, err := listenOn(ctx, x.Listen)
	if err != nil {
		return fmt.Errorf("xds.listen: %w", err)
	}
	e.server.Start(l, policy)
	e.frame.OnDrain(func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, e.config.Drain)
		defer cancel()
		return e.server.Stop(ctx)
	})
	return nil
}
