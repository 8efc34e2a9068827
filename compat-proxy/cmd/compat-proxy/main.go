package main

import (
	"context"
	"errors"
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
	"github.com/causeway-pay/causeway/shared/probe"
	"github.com/causeway-pay/causeway/shared/program"
)

// name is the name of the program, also in logs and traces.
const name = "compat-proxy"

// operators is the default address of the operators' port and the path of the probe.
var operators = probe.Program{Name: name, Admin: "127.0.0.1:9081", Path: "/health"}

func main() {
	m := NewMain()
	if code, handled := operators.Command(context.Background(), os.Args[1:], m.Stdout, m.Stderr); handled {
		os.Exit(code)
	}
	os.Exit(program.Main(name, m.Stderr, func(ctx context.Context) error { return m.Command(ctx, os.Args[1:]) }))
}

// Main is the program: NewMain, ParseFlags (or set Config), Run. Tests start it like the command
// line.
type Main struct {
	Config Config
	// Stdout receives the output of a command, Stderr the log and errors.
	Stdout, Stderr io.Writer
	// Ready is called with the address once the proxy accepts requests. It may be nil.
	Ready func(net.Addr)
	// AdminReady is called before Ready with the address of the operators' port. It may be nil.
	AdminReady func(net.Addr)
}

// NewMain returns the program without a configuration.
func NewMain() *Main { return &Main{Stdout: os.Stdout, Stderr: os.Stderr} }

// Command runs the command line: it serves, or edits the credentials.
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

// Run serves until ctx ends, then finishes the open requests. It returns nil after a clean stop.
func (m *Main) Run(ctx context.Context) (err error) {
	frame, err := program.Open(ctx, program.Config{
		Name: name, Stderr: m.Stderr, Drain: m.Config.Drain,
		Notice: &httpx.Notice{For: m.Config.Notice, Health: []string{"/health"}},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, frame.Close(ctx)) }()
	hop, err := httpx.HopSecret(os.Getenv)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	current, other, err := m.Config.secrets(os.Getenv)
	if err != nil {
		return err
	}
	proxy, err := compatproxy.New(compatproxy.Config{ //nolint:contextcheck // a scrape of the metrics outlives the start
		DeduplicationSecret: current, DeduplicationSecretOther: other,
		V1: m.Config.V1, Credentials: m.Config.Credentials, DropInPaths: m.Config.DropInPaths, Currency: m.Config.Currency,
		LenientOrder: m.Config.LenientOrder, CallTimeout: m.Config.CallTimeout, TotalTimeout: m.Config.TotalTimeout,
		SignatureAge: m.Config.SignatureAge, SignatureHosts: m.Config.SignatureHosts,
		Concurrency: m.Config.Concurrency, Log: frame.Log, Tracer: frame.Traces.Tracer(name), Hop: hop,
	})
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	frame.OnClose(func(context.Context) error { proxy.Close(); return nil })
	if err := frame.Operators(ctx, m.Config.Admin, proxy.Operations(), m.AdminReady); err != nil {
		return err
	}
	listener := program.Listener{
		Name: "listen", Address: m.Config.Listen, Handler: proxy.Handler(), Hop: hop, Ready: m.Ready,
	}
	if err := frame.Listen(ctx, listener); err != nil {
		return err
	}
	m.serve(ctx, proxy, frame.Log)
	return nil
}

// serve waits for ctx to end. It reloads the credentials on SIGHUP.
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
				log.ErrorContext(ctx, "compat-proxy: cannot use a credentials file; its last valid logins stay in force",
					slog.Any("error", err))
				continue
			}
			log.InfoContext(ctx, "compat-proxy: credentials reloaded")
		}
	}
}
