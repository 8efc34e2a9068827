package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/shared/gc"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/telemetry/export"
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
	// Stdout receives what a command shows, Stderr the log and what is wrong.
	Stdout, Stderr io.Writer
	// Ready is called with the address once requests are taken. It may be nil.
	Ready func(net.Addr)
	// AdminReady is called before Ready with the address of the operators' port. It may be nil.
	AdminReady func(net.Addr)
}

// NewMain returns the program with nothing configured.
func NewMain() *Main { return &Main{Stdout: os.Stdout, Stderr: os.Stderr} }

// Command does what the command line says: serve, or edit the credentials file.
func (m *Main) Command(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "credentials" {
		return m.Credentials(args[1:])
	}
	if err := m.ParseFlags(args); err != nil {
		return err
	}
	gc.RelaxStateless(os.Getenv)
	return m.Run(ctx)
}

// Run serves until ctx ends, then finishes the requests under way. The error is nil after a clean stop.
func (m *Main) Run(ctx context.Context) error {
	log := slog.New(slog.NewJSONHandler(m.Stderr, nil))
	traces, err := export.Open(ctx, export.Config{Getenv: os.Getenv, Service: "compat-proxy", Log: log, Console: m.Stderr})
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer traces.Close(ctx)
	proxy, err := compatproxy.New(compatproxy.Config{
		V1: m.Config.V1, Credentials: m.Config.Credentials, DropInPaths: m.Config.DropInPaths, Currency: m.Config.Currency,
		LenientOrder: m.Config.LenientOrder, CallTimeout: m.Config.CallTimeout, TotalTimeout: m.Config.TotalTimeout,
		SignatureAge: m.Config.SignatureAge, SignatureHosts: m.Config.SignatureHosts,
		Concurrency: m.Config.Concurrency, Log: log, Tracer: traces.Tracer("compat-proxy"),
	})
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer proxy.Close()

	server := httpx.NewServer(httpx.Options{Handler: proxy.Handler(), Log: log, Drain: m.Config.Drain})
	addr, err := server.Start(m.Config.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	admin, err := m.serveAdmin(ctx, proxy, log)
	if err != nil {
		return errors.Join(err, server.Stop(ctx))
	}
	log.InfoContext(ctx, "compat-proxy: listening", slog.String("address", addr.String()), slog.String("v1", m.Config.V1))
	if m.Ready != nil {
		m.Ready(addr)
	}
	m.serve(ctx, proxy, log)
	if err := errors.Join(server.Stop(context.WithoutCancel(ctx)), admin()); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}

// serveAdmin starts the operators' port, if there is to be one, and returns what stops it.
func (m *Main) serveAdmin(ctx context.Context, proxy *compatproxy.Proxy, log *slog.Logger) (stop func() error, err error) {
	if m.Config.Admin == "" {
		return func() error { return nil }, nil
	}
	port := httpx.NewServer(httpx.Options{Handler: proxy.Operations(), Log: log, Drain: m.Config.Drain})
	addr, err := port.Start(m.Config.Admin)
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	log.InfoContext(ctx, "compat-proxy: operators' port", slog.String("address", addr.String()))
	if m.AdminReady != nil {
		m.AdminReady(addr)
	}
	return func() error { return port.Stop(context.WithoutCancel(ctx)) }, nil
}

// serve waits for ctx to end and reloads the credentials on SIGHUP meanwhile.
func (m *Main) serve(ctx context.Context, proxy *compatproxy.Proxy, log *slog.Logger) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			if err := proxy.Reload(); err != nil {
				log.ErrorContext(ctx, "compat-proxy: kept the last good credentials", slog.Any("error", err))
				continue
			}
			log.InfoContext(ctx, "compat-proxy: credentials reloaded")
		}
	}
}

// exitCode says what is wrong, unless ParseFlags did, and gives the code that goes with it.
func (m *Main) exitCode(err error) int {
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	}
	_, _ = fmt.Fprintf(m.Stderr, "compat-proxy: %v\n", err)
	return 1
}
