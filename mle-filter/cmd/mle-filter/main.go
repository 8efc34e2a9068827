package main

import (
	"context"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/mle-filter/internal/extproc"
	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/gc"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/telemetry/export"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	m := NewMain()
	err := m.Command(ctx, os.Args[1:])
	stop()
	os.Exit(m.exitCode(err))
}

// Main is the program: NewMain, ParseFlags (or set Config), Run. Tests start it as the command line does.
type Main struct {
	Config Config
	// Stdin is what a command reads, Stdout receives what it shows, Stderr the log and what is wrong.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Ready is called with the address once requests are taken. It may be nil.
	Ready func(net.Addr)
	// AdminReady is called before Ready with the address of the operators' port. It may be nil.
	AdminReady func(net.Addr)
}

// NewMain returns the program with nothing configured.
func NewMain() *Main { return &Main{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr} }

// Command does what the command line says: serve, or one of the commands.
func (m *Main) Command(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "seal":
			return m.Seal(args[1:])
		case "open":
			return m.Open(args[1:])
		case "keys":
			return m.Keys(ctx, args[1:])
		case "keyset":
			return m.Keyset(ctx, args[1:])
		}
	}
	if err := m.ParseFlags(args); err != nil {
		return err
	}
	gc.RelaxStateless(os.Getenv)
	return m.Run(ctx)
}

// Run serves until ctx ends, then finishes the requests under way. The error is nil after a clean stop.
func (m *Main) Run(ctx context.Context) (err error) {
	log := slog.New(slog.NewJSONHandler(m.Stderr, nil))
	traces, err := export.Open(ctx, export.Config{Getenv: os.Getenv, Service: "mle-filter", Log: log, Console: m.Stderr})
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer traces.Close(ctx)
	cfg, err := m.filterConfig()
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	certificate, err := openCertificate(m.Config.Certificate, m.Config.PrivateKey, clock.System(), log)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	cfg.Log, cfg.Tracer = log, traces.Tracer("mle-filter")
	filter, err := mlefilter.New(ctx, cfg)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer func() { err = errors.Join(err, filter.Close()) }()

	server := httpx.NewServer(httpx.Options{Handler: filter.Handler(), TLS: certificate.policy(), Log: log, Drain: m.Config.Drain})
	addr, err := server.Start(m.Config.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	admin, err := m.serveAdmin(ctx, filter, log)
	if err != nil {
		return errors.Join(err, server.Stop(ctx))
	}
	envoy, err := m.serveEnvoy(ctx, filter, log)
	if err != nil {
		return errors.Join(err, admin(), server.Stop(ctx))
	}
	log.InfoContext(ctx, "mle-filter: listening", slog.String("address", addr.String()), slog.String("v1", m.Config.V1))
	if m.Ready != nil {
		m.Ready(addr)
	}
	<-ctx.Done()
	late := drain(func() error { return server.Stop(context.WithoutCancel(ctx)) }, envoy)
	if err := errors.Join(late, admin()); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}

// drain stops both shells at once, so that a stop takes no longer than the slower.
func drain(stops ...func() error) error {
	errs := make([]error, len(stops))
	var wg sync.WaitGroup
	for i, stop := range stops {
		wg.Go(func() { errs[i] = stop() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// filterConfig is the filter's part of the configuration, with its secrets read.
func (m *Main) filterConfig() (mlefilter.Config, error) {
	c := m.Config
	kek, err := resolve(c.KEK, kekVariable)
	if err != nil {
		return mlefilter.Config{}, err
	}
	if kek.IsZero() {
		return mlefilter.Config{}, fmt.Errorf("%s is not set: the key-encryption key, such as `openssl rand -base64 32` gives; keep it", kekVariable)
	}
	proof, err := resolve(c.FilterSecret, secretVariable)
	if err != nil {
		return mlefilter.Config{}, err
	}
	token, err := resolve(c.OperatorToken, tokenVariable)
	if err != nil {
		return mlefilter.Config{}, err
	}
	transport, err := m.transport()
	if err != nil {
		return mlefilter.Config{}, err
	}
	return mlefilter.Config{
		V1: c.V1, Transport: transport, Secret: proof, Keys: c.Keys, PostgreSQL: postgres.Open, KEK: kek, RSABits: c.RSABits, Spares: c.SpareKeys, Policy: c.Policy,
		Limits: c.Limits, Concurrency: c.Concurrency, Operator: c.Operator, OperatorToken: token,
		Schedule: mlefilter.Schedule{RotateEvery: c.Rotation.Every, PublishAhead: c.Rotation.PublishAhead, KeepPrevious: c.Rotation.KeepPrevious},
	}, nil
}

// transport is nil unless core has a certificate of an authority of its own.
func (m *Main) transport() (http.RoundTripper, error) {
	if m.Config.V1CA == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(m.Config.V1CA)
	if err != nil {
		return nil, fmt.Errorf("v1_ca: %w", err)
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("v1_ca: no certificate in %s", m.Config.V1CA)
	}
	return httphop.NewTransport(tlspolicy.Client(trusted)), nil
}

// serveAdmin starts the operators' port, if there is to be one, and returns what stops it.
func (m *Main) serveAdmin(ctx context.Context, filter *mlefilter.Filter, log *slog.Logger) (stop func() error, err error) {
	if m.Config.Admin == "" {
		return func() error { return nil }, nil
	}
	port := httpx.NewServer(httpx.Options{Handler: filter.Operations(), Log: log, Drain: m.Config.Drain})
	addr, err := port.Start(m.Config.Admin)
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	log.InfoContext(ctx, "mle-filter: operators' port", slog.String("address", addr.String()))
	if m.AdminReady != nil {
		m.AdminReady(addr)
	}
	return func() error { return port.Stop(context.WithoutCancel(ctx)) }, nil
}

// serveEnvoy starts the external processor, if there is to be one, and returns what stops it.
func (m *Main) serveEnvoy(ctx context.Context, filter *mlefilter.Filter, log *slog.Logger) (stop func() error, err error) {
	if m.Config.ExtProc == "" {
		return func() error { return nil }, nil
	}
	processor, err := extproc.New(filter.Shell())
	if err != nil {
		return nil, err // says extproc itself
	}
	server, err := extproc.Listen(ctx, processor, m.Config.ExtProc, m.Config.Drain)
	if err != nil {
		return nil, err
	}
	log.InfoContext(ctx, "mle-filter: external processing for Envoy", slog.String("socket", m.Config.ExtProc))
	return func() error { return server.Stop(context.WithoutCancel(ctx)) }, nil
}

// exitCode says what is wrong, unless that was said, and gives the code that goes with it.
func (m *Main) exitCode(err error) int {
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	}
	_, _ = fmt.Fprintf(m.Stderr, "mle-filter: %v\n", err)
	return 1
}
