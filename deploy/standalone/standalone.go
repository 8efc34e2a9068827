package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/deploy/standalone/internal/devcreds"
	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/durable"
	"github.com/causeway-pay/causeway/shared/program"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// Main is the program: its flags, and the parts opened so far. Make it with New, run it once.
type Main struct {
	flags  Flags
	stdout io.Writer
	stderr io.Writer
	clock  clock.Clock
	frame  *program.Frame // set by Run
	log    *slog.Logger   // the frame's

	data         string        // absolute
	filterToken  secret.String // authenticates the filter at the operators' API, with the role filter-identify
	filterSecret secret.String
	hopSecret    secret.String // authenticates the client address from proxy and filter to core
}

// New returns a program without open parts. It prints the greeting to stdout and logs to stderr.
func New(f Flags, stdout, stderr io.Writer) *Main {
	return &Main{flags: f, stdout: stdout, stderr: stderr, clock: clock.System()}
}

// Run opens all parts, prints their addresses on stdout, serves until ctx ends, and closes all. The
// public listeners drain first, while the proxy still reaches v1; then the proxy, the inner
// listener and the core are closed. The error is that of the step that failed.
func (m *Main) Run(ctx context.Context) (err error) {
	m.frame, err = program.Open(ctx, program.Config{Name: name, Stderr: m.stderr, Level: m.flags.Log})
	if err != nil {
		return err
	}
	m.log = m.frame.Log
	defer func() { err = errors.Join(err, m.frame.Close(ctx)) }()
	up, err := m.open(ctx)
	if err != nil {
		return err
	}
	if err := m.announce(up); err != nil {
		return fmt.Errorf("print the addresses: %w", err)
	}
	<-ctx.Done()
	return nil
}

func (m *Main) onClose(f func() error) { m.frame.OnClose(func(context.Context) error { return f() }) }

// up is the result of a successful start.
type up struct {
	http, https string // base URLs
	ca          string // path of the authority's certificate
	p12         string // path of the provider-b client's key file
	credentials *devcreds.Credentials
	accounts    []core.Account // of live mode
	store       string         // the data folder of the core
}

// open starts each part after the parts that it needs.
func (m *Main) open(ctx context.Context) (*up, error) {
	if err := m.openFolder(ctx); err != nil {
		return nil, err
	}
	kept := filepath.Join(m.data, "credentials.json")
	providerB := m.loginB(devcreds.New(kept))
	v1, err := m.openCore(ctx) // first, because it locks the folder against other processes
	if err != nil {
		return nil, err
	}
	filter, err := m.openFilter(ctx, v1)
	if err != nil {
		return nil, err
	}
	certificates, err := m.openCertificates(ctx)
	if err != nil {
		return nil, err
	}
	// Only the proxy uses this listener. A drain of the public listener would refuse the proxy's calls
	// for requests in progress.
	var base string
	inner := program.Listener{
		Name: "inner listener", Address: "127.0.0.1:0", Handler: v1.Inner(),
		Ready: func(a net.Addr) { base = "http://" + a.String() },
	}
	if err := m.frame.Inner(ctx, inner); err != nil {
		return nil, err
	}
	credentials, err := devcreds.Ensure(ctx, kept, issuer{core: v1, base: base, providerB: providerB})
	if err != nil {
		return nil, err
	}
	files, err := writeLegacyFiles(m.data, credentials)
	if err != nil {
		return nil, err
	}
	proxy, legacy, err := m.openLegacy(base, files.logins, filter) //nolint:contextcheck // a scrape outlives the start
	if err != nil {
		return nil, err
	}
	out := &up{ca: certificates.ca, p12: files.p12, credentials: credentials, store: m.store()}
	both := route(filter.Handler(), legacy, filter.Clear(certificates))
	if out.http, out.https, err = m.openListeners(ctx, both, certificates); err != nil {
		return nil, err
	}
	if err := m.openTrust(ctx, v1, certificates, out.https); err != nil {
		return nil, err
	}
	if out.accounts, err = v1.Accounts(ctx); err != nil {
		return nil, err
	}
	return out, m.openAdmin(ctx, v1, proxy, filter)
}

// openFolder creates the data folder, if the addresses are available: a start that fails on a port
// in use leaves no folder.
func (m *Main) openFolder(ctx context.Context) (err error) {
	if err := program.Available(ctx, program.Listener{Name: "--listen", Address: m.flags.Listen},
		program.Listener{Name: "--listen-tls", Address: m.flags.ListenTLS},
		program.Listener{Name: "--admin", Address: m.flags.Admin}); err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("%w: another program uses the port. Use free ones: "+
				"make run ARGS='--listen 127.0.0.1:0 --listen-tls 127.0.0.1:0'", err)
		}
		return err
	}
	if m.data, err = filepath.Abs(m.flags.Data); err == nil {
		err = durable.MkdirAll(m.data, 0o700)
	}
	if err != nil {
		return fmt.Errorf("--data %s: %w", m.flags.Data, err)
	}
	return nil
}

// store returns the data folder of the core.
func (m *Main) store() string { return filepath.Join(m.data, "core") }

func (m *Main) openCore(ctx context.Context) (*core.Core, error) {
	kek, err := core.VaultKEK(os.Getenv)
	if err != nil {
		return nil, err
	}
	if m.filterToken, err = core.FilterToken(os.Getenv); err != nil {
		return nil, err
	}
	if m.filterToken.IsZero() {
		m.filterToken = secret.New(random())
	}
	m.hopSecret = secret.New(random())
	m.filterSecret = secret.New(random()) // core trusts the filter's header fields only with this secret
	cfg := core.Config{
		Data: m.store(), Clock: m.clock, Log: m.log.With("service", "core"), RateLimit: m.flags.RateLimit,
		VaultKEK:             kek,
		Tracer:               m.frame.Traces.Tracer("core"),
		FilterToken:          m.filterToken,
		Actor:                "standalone",
		FilterSecret:         m.filterSecret,
		HopSecret:            m.hopSecret,
		WebhooksAllowPrivate: m.flags.WebhooksAllowPrivate,
	}
	if cfg.RateLimit == 0 {
		cfg.RateLimit = -1 // no limit, in core's settings
	}
	if m.flags.Configs != "" {
		cfg.Simulator = filepath.Join(m.flags.Configs, "simulator.yaml")
		if _, err := os.Stat(cfg.Simulator); err != nil {
			return nil, fmt.Errorf("--configs %s: %w", m.flags.Configs, err)
		}
	}
	c, err := core.Open(ctx, cfg)
	if errors.Is(err, core.ErrCatalogue) {
		return nil, fmt.Errorf("--configs %s: %w", m.flags.Configs, err)
	}
	if err != nil {
		return nil, fmt.Errorf("--data %s: open the core: %w", m.flags.Data, err)
	}
	m.onClose(c.Close)
	return c, nil
}

func (m *Main) openProxy(base, logins string) (*compatproxy.Proxy, error) {
	deduplication, err := keptSecret(filepath.Join(m.data, "deduplication.secret"), "deduplication secret")
	if err != nil {
		return nil, fmt.Errorf("open the proxy: %w", err)
	}
	p, err := compatproxy.New(compatproxy.Config{
		V1: base, Credentials: logins, DropInPaths: true, Clock: m.clock, Log: m.log.With("service", "compat-proxy"),
		Tracer: m.frame.Traces.Tracer("compat-proxy"), Hop: m.hopSecret, DeduplicationSecret: deduplication,
	})
	if err != nil {
		return nil, fmt.Errorf("open the proxy: %w", err)
	}
	m.onClose(func() error { p.Close(); return nil })
	return p, nil
}

// openLegacy opens the proxy, and returns it with the handler that puts mle-filter in front.
func (m *Main) openLegacy(
	base, logins string, filter *mlefilter.Filter,
) (*compatproxy.Proxy, http.Handler, error) {
	proxy, err := m.openProxy(base, logins)
	if err != nil {
		return nil, nil, err
	}
	legacy, err := filter.Legacy(proxy.Handler())
	if err != nil {
		return nil, nil, fmt.Errorf("open mle-filter for the proxy: %w", err)
	}
	return proxy, legacy, nil
}

// openAdmin starts the operators' port, if one is set. It serves the metrics of all programs.
func (m *Main) openAdmin(ctx context.Context, v1 *core.Core, legacy *compatproxy.Proxy,
	filter *mlefilter.Filter,
) error {
	if m.flags.Admin == "" {
		return nil
	}
	file, err := m.ensureOperator(ctx, v1)
	if err != nil {
		return err
	}
	m.log.InfoContext(ctx, "operator token", slog.String("file", file))
	if err := m.frame.Operators(ctx, m.flags.Admin, v1.Operations(legacy.Gatherer(), filter.Gatherer()), nil); err != nil {
		return fmt.Errorf("--admin %s: %w", m.flags.Admin, err)
	}
	return nil
}

// openListeners starts both public listeners, and returns their base URLs.
func (m *Main) openListeners(ctx context.Context, h http.Handler,
	c *certificates,
) (plainURL, secureURL string, err error) {
	plain := program.Listener{
		Name: "listen", Address: m.flags.Listen, Handler: h, Ready: func(a net.Addr) { plainURL = baseURL("http", a) },
	}
	if err := m.frame.Listen(ctx, plain); err != nil {
		return "", "", fmt.Errorf("--listen %s: %w", m.flags.Listen, err)
	}
	secure := program.Listener{
		Name: "listen-tls", Address: m.flags.ListenTLS, Handler: h, TLS: tlspolicy.Server(c.holder.GetCertificate),
		Ready: func(a net.Addr) { secureURL = c.url(a) },
	}
	if err := m.frame.Listen(ctx, secure); err != nil {
		return "", "", fmt.Errorf("--listen-tls %s: %w", m.flags.ListenTLS, err)
	}
	return plainURL, secureURL, nil
}
