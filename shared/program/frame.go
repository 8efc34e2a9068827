package program

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/telemetry/export"
)

// Config describes the program of a Frame. Name and Stderr are required.
type Config struct {
	Name   string
	Stderr io.Writer     // receives the log
	Drain  time.Duration // how long listeners wait for requests in progress at the end; 0: 10 s
	Notice *httpx.Notice // given before that; nil: none
	Level  slog.Leveler  // the lowest level in the log; nil: info
}

// Frame holds the log, the traces and the listeners of a program. It belongs to one goroutine.
type Frame struct {
	Log    *slog.Logger
	Traces *export.Provider

	name     string
	drain    time.Duration
	notice   *httpx.Notice
	onNotice []func()
	drains   []func(context.Context) error
	closers  []func(context.Context) error
}

// Open creates the log and the span exporter from environment variables.
func Open(ctx context.Context, cfg Config) (*Frame, error) {
	if cfg.Drain < 0 {
		return nil, fmt.Errorf("start: drain: %s: want 0 or more", cfg.Drain)
	}
	if cfg.Notice != nil && cfg.Notice.For < 0 {
		return nil, fmt.Errorf("start: notice: %s: want 0 or more", cfg.Notice.For)
	}
	log := slog.New(slog.NewJSONHandler(cfg.Stderr, &slog.HandlerOptions{Level: cfg.Level}))
	traces, err := export.Open(ctx, export.Config{Getenv: os.Getenv, Service: cfg.Name, Log: log, Console: cfg.Stderr})
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	f := &Frame{name: cfg.Name, Log: log, Traces: traces, drain: cfg.Drain, notice: cfg.Notice}
	f.OnClose(func(ctx context.Context) error { traces.Close(ctx); return nil })
	return f, nil
}

// OnNotice registers a function to call before notice of the end is given.
func (f *Frame) OnNotice(fn func()) { f.onNotice = append(f.onNotice, fn) }

// OnDrain registers a function that stops accepting requests and finishes requests in progress,
// when the end begins. It runs concurrently with all listeners, so that an end takes no longer than
// the slowest.
func (f *Frame) OnDrain(stop func(context.Context) error) { f.drains = append(f.drains, stop) }

// OnClose registers a function that closes a part when all have drained, before parts that were
// opened earlier.
func (f *Frame) OnClose(stop func(context.Context) error) { f.closers = append(f.closers, stop) }

// Close gives notice, drains the listeners and closes the parts. It ignores that ctx has ended. It
// may be called again.
func (f *Frame) Close(ctx context.Context) error {
	stopped := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	if stopped && len(f.drains) > 0 { // otherwise the program has not served
		f.giveNotice(ctx)
	}
	errs := make([]error, len(f.drains))
	var wg sync.WaitGroup
	for i, stop := range f.drains {
		wg.Go(func() { errs[i] = stop(ctx) })
	}
	wg.Wait()
	for _, stop := range slices.Backward(f.closers) {
		errs = append(errs, stop(ctx))
	}
	f.drains, f.closers = nil, nil
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}

func (f *Frame) giveNotice(ctx context.Context) {
	for _, fn := range f.onNotice {
		fn()
	}
	f.onNotice = nil
	f.notice.Give(ctx)
}

// Listener is an address and the handler to serve there. Name and Handler are required.
type Listener struct {
	Name    string // name in the log and in errors
	Address string // host:port, where port 0 picks one, or unix:PATH. "" for no listener
	Handler http.Handler
	TLS     *tls.Config   // nil for plain HTTP
	Hop     secret.String // hops that show it may have any number of connections; zero for none
	// Ready is called with the address once connections are taken. It may be nil.
	Ready func(net.Addr)
}

// Available returns an error if one of the listeners cannot listen now. A program calls it before
// it creates files, so that a start that fails on a port in use leaves none. It skips unix sockets.
func Available(ctx context.Context, listeners ...Listener) error {
	for _, l := range listeners {
		if l.Address == "" || strings.HasPrefix(l.Address, "unix:") {
			continue
		}
		held, err := (&net.ListenConfig{}).Listen(ctx, "tcp", l.Address)
		if err != nil {
			return fmt.Errorf("%s %s: %w", l.Name, l.Address, err)
		}
		defer func() { _ = held.Close() }() // it accepted no connection
	}
	return nil
}

// Listen serves until Close. It logs the program's name, "listening" and the address.
func (f *Frame) Listen(ctx context.Context, l Listener) error {
	return f.listen(ctx, l, ": listening", f.OnDrain)
}

// Operators serves the operators' port, which is there until everything else has drained: open it
// first. Errors that h writes as text become v1's errors.
func (f *Frame) Operators(ctx context.Context, address string, h http.Handler, ready func(net.Addr)) error {
	l := Listener{Name: "admin", Address: address, Handler: httpx.RefuseText(h), Ready: ready}
	return f.listen(ctx, l, ": operators' port", f.OnClose)
}

// Inner serves the other parts of the program. It drains after Listen's listeners, and before the
// parts that were opened earlier are closed: requests in progress still reach it.
func (f *Frame) Inner(ctx context.Context, l Listener) error {
	return f.listen(ctx, l, ": inner listener", f.OnClose)
}

func (f *Frame) listen(ctx context.Context, l Listener, message string, onEnd func(func(context.Context) error)) error {
	if l.Address == "" {
		return nil
	}
	server := httpx.NewServer(httpx.Options{
		Handler: l.Handler, TLS: l.TLS, Hop: l.Hop, Log: f.Log.With(slog.String("server", l.Name)), Drain: f.drain,
		Notice: f.notice,
	})
	addr, err := server.Start(l.Address)
	if err != nil {
		return fmt.Errorf("%s: %w", l.Name, err)
	}
	onEnd(server.Stop)
	f.Log.InfoContext(ctx, f.name+message, //nolint:sloglint // a constant and a name
		slog.String("listener", l.Name), slog.String("address", addr.String()))
	if l.Ready != nil {
		l.Ready(addr)
	}
	return nil
}
