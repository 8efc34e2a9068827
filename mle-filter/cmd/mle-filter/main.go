package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/mle-filter/internal/extproc"
	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore/postgres"
	"github.com/causeway-pay/causeway/shared/gc"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/probe"
	"github.com/causeway-pay/causeway/shared/program"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// name is the name of the program, also in logs and traces.
const name = "mle-filter"

// operators is the health endpoint on the operators' port, which container runtimes probe.
var operators = probe.Program{Name: name, Admin: "127.0.0.1:9082", Path: "/health"}

func main() {
	m := NewMain()
	if code, found := operators.Command(context.Background(), os.Args[1:], m.Stdout, m.Stderr); found {
		os.Exit(code)
	}
	os.Exit(program.Main(name, m.Stderr, func(ctx context.Context) error { return m.Command(ctx, os.Args[1:]) }))
}

// Main is the program: NewMain, ParseFlags (or set Config), Run. Tests start it like the command
// line does.
type Main struct {
	Config Config
	// Commands read Stdin and write results to Stdout. Stderr receives the log and errors.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Ready is called with the address when the program accepts requests. It may be nil.
	Ready func(net.Addr)
	// AdminReady is called before Ready with the address of the operators' port. It may be nil.
	AdminReady func(net.Addr)
}

// NewMain returns the program without a configuration.
func NewMain() *Main { return &Main{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr} }

// Command serves, or runs the command that the arguments name.
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

// Run serves until ctx ends, and then completes the requests in progress. The error is nil after a
// clean stop.
func (m *Main) Run(ctx context.Context) (err error) {
	frame, err := program.Open(ctx, program.Config{
		Name: name, Stderr: m.Stderr, Drain: m.Config.Drain,
		Notice: &httpx.Notice{For: m.Config.Notice, Health: []string{"/health", "/v1/health"}},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, frame.Close(ctx)) }()
	cfg, err := m.filterConfig()
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	certificate, err := m.openCertificate(ctx, frame)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	cfg.Log, cfg.Tracer = frame.Log, frame.Traces.Tracer(name)
	filter, err := mlefilter.New(ctx, cfg)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	frame.OnClose(func(context.Context) error { return filter.Close() })
	if err := frame.Operators(ctx, m.Config.Admin, filter.Operations(), m.AdminReady); err != nil {
		return err
	}
	if err := m.serveEnvoy(ctx, filter, frame); err != nil {
		return err
	}
	err = frame.Listen(ctx, program.Listener{
		Name: "listen", Address: m.Config.Listen, Handler: filter.Handler(), TLS: certificate, Hop: cfg.Hop, Ready: m.Ready,
	})
	if err == nil {
		<-ctx.Done()
	}
	return err
}

// filterConfig returns the configuration of the filter, with its secrets read.
func (m *Main) filterConfig() (mlefilter.Config, error) {
	c := m.Config
	if err := checkRoutes(c.Policy); err != nil {
		return mlefilter.Config{}, err
	}
	kek, err := c.KEK.ResolveOr(os.Getenv, kekVariable)
	if err != nil {
		return mlefilter.Config{}, err
	}
	if kek.IsZero() {
		return mlefilter.Config{}, fmt.Errorf("%s is not set: set the key-encryption key, made with `openssl rand -base64 "+
			"32`, and keep it", kekVariable)
	}
	old, err := c.OldKEK.ResolveOr(os.Getenv, oldVariable)
	if err != nil {
		return mlefilter.Config{}, err
	}
	proof, err := c.FilterSecret.ResolveOr(os.Getenv, secretVariable)
	if err != nil {
		return mlefilter.Config{}, err
	}
	token, err := c.FilterToken.ResolveOr(os.Getenv, tokenVariable)
	if err != nil {
		return mlefilter.Config{}, err
	}
	hop, err := httpx.HopSecret(os.Getenv)
	if err != nil {
		return mlefilter.Config{}, err
	}
	transport, err := m.transport()
	if err != nil {
		return mlefilter.Config{}, err
	}
	keys, err := c.source()
	if err != nil {
		return mlefilter.Config{}, err
	}
	return mlefilter.Config{
		V1: c.V1, Compat: c.Compat, Transport: transport, Secret: proof, Hop: hop,
		Keys: keys, PostgreSQL: postgres.Rotating(c.source), KEK: kek, OldKEK: old,
		RSABits: c.RSABits, Spares: c.SpareKeys, Policy: c.Policy,
		Limits: c.Limits, Concurrency: c.Concurrency, Operator: c.Operator, FilterToken: token,
		Schedule: mlefilter.Schedule{
			RotateEvery: c.Rotation.Every, PublishAhead: c.Rotation.PublishAhead,
			KeepPrevious: c.Rotation.KeepPrevious,
		},
	}, nil
}

// transport returns nil unless core's certificate has a private authority.
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

// serveEnvoy starts the external processor, if one is configured.
func (m *Main) serveEnvoy(ctx context.Context, filter *mlefilter.Filter, frame *program.Frame) error {
	if m.Config.ExtProc == "" {
		return nil
	}
	processor, err := extproc.New(filter.Shell())
	if err != nil {
		return err // its text names extproc
	}
	server, err := extproc.Listen(ctx, processor, m.Config.ExtProc, m.Config.Drain)
	if err != nil {
		return err
	}
	frame.OnNotice(server.Leave)
	frame.OnDrain(server.Stop)
	frame.Log.InfoContext(ctx, "mle-filter: external processing for Envoy", slog.String("socket", m.Config.ExtProc))
	return nil
}
