package main

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
	"path/filepath"
	"sync"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/deploy/standalone/internal/devcreds"
	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/telemetry/export"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// Main is the program: what it was asked to run, and what it has opened so far. Make it with New, run it once.
type Main struct {
	flags  Flags
	stdout io.Writer
	clock  clock.Clock
	log    *slog.Logger
	stderr io.Writer
	traces *export.Provider

	data         string        // absolute
	filterToken  secret.String // the filter sends it to the operator's API, with the role filter-identify
	filterSecret secret.String
	hopSecret    secret.String // authenticates the client address from proxy and filter to core
	closers      []func() error
}

// New returns a program that has opened nothing. Greetings go to stdout, logs to stderr.
func New(f Flags, stdout, stderr io.Writer) *Main {
	return &Main{
		flags: f, stdout: stdout, stderr: stderr, clock: clock.System(),
		log: slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: f.Log})),
	}
}

// Run opens everything, says so on stdout, serves until ctx ends, and closes everything. Its error is of any of these steps.
func (m *Main) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, m.Close()) }()
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

// Close closes what is open, last opened first: the public listeners drain, while the proxy still reaches v1; then the proxy, the
// inner listener and the core. It may be called at any time, and again.
func (m *Main) Close() error {
	var errs []error
	for len(m.closers) > 0 {
		last := len(m.closers) - 1
		errs = append(errs, m.closers[last]())
		m.closers = m.closers[:last]
	}
	return errors.Join(errs...)
}

func (m *Main) onClose(f func() error) { m.closers = append(m.closers, f) }

// up is what a started program has to tell.
type up struct {
	http, https string // base URLs
	ca          string // path of the authority's certificate
	p12         string // path of the provider-b client's key file
	credentials *devcreds.Credentials
}

// open starts each part when the ones it needs are up.
func (m *Main) open(ctx context.Context) (*up, error) {
	if err := m.openFolder(); err != nil {
		return nil, err
	}
	if err := m.openTraces(ctx); err != nil {
		return nil, err
	}
	kept := filepath.Join(m.data, "credentials.json")
	providerB := m.loginB(devcreds.New(kept))
	v1, err := m.openCore(ctx) // first, for it keeps every other process out of the folder
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
	// The proxy has this listener to itself: were it to call the public one, a drain would refuse the calls of requests under way.
	inner, err := m.serve(ctx, v1.Inner(), "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("inner listener: %w", err)
	}
	base := "http://" + inner.String()
	credentials, err := devcreds.Ensure(ctx, kept, issuer{core: v1, base: base, providerB: providerB})
	if err != nil {
		return nil, err
	}
	files, err := writeLegacyFiles(m.data, credentials)
	if err != nil {
		return nil, err
	}
	legacy, err := m.openProxy(base, files.logins)
	if err != nil {
		return nil, err
	}
	out := &up{ca: certificates.ca, p12: files.p12, credentials: credentials}
	both := doors(filter.Handler(), filter.Clear(legacy.Handler()), filter.Clear(certificates))
	if out.http, out.https, err = m.openDoors(ctx, both, certificates); err != nil {
		return nil, err
	}
	if err := m.openTrust(ctx, v1, certificates, out.https); err != nil {
		return nil, err
	}
	return out, m.openAdmin(ctx, v1, legacy, filter)
}

// openFolder makes the data folder.
func (m *Main) openFolder() (err error) {
	if m.data, err = filepath.Abs(m.flags.Data); err == nil {
		err = os.MkdirAll(m.data, 0o700)
	}
	if err != nil {
		return fmt.Errorf("--data %s: %w", m.flags.Data, err)
	}
	return nil
}

// openTraces makes what records spans, the first to be opened and so the last to be closed: it has the spans of all that stops before it.
func (m *Main) openTraces(ctx context.Context) (err error) {
	m.traces, err = export.Open(ctx, export.Config{Getenv: os.Getenv, Service: "standalone", Log: m.log, Console: m.stderr, Clock: m.clock})
	if err == nil {
		m.onClose(func() error { m.traces.Close(ctx); return nil })
	}
	return err
}

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
	m.filterSecret = secret.New(random()) // core believes what the filter says of encryption, and nobody else
	cfg := core.Config{
		Data: filepath.Join(m.data, "core"), Clock: m.clock, Log: m.log.With("service", "core"), RateLimit: m.flags.RateLimit,
		VaultKEK:             kek,
		Tracer:               m.traces.Tracer("core"),
		FilterToken:          m.filterToken,
		Actor:                "standalone",
		FilterSecret:         m.filterSecret,
		HopSecret:            m.hopSecret,
		WebhooksAllowPrivate: m.flags.WebhooksAllowPrivate,
	}
	if cfg.RateLimit == 0 {
		cfg.RateLimit = -1 // which is how core says no limit
	}
	if m.flags.Configs != "" {
		cfg.Simulator = filepath.Join(m.flags.Configs, "simulator.yaml")
		if _, err := os.Stat(cfg.Simulator); err != nil {
			return nil, fmt.Errorf("--configs %s: %w", m.flags.Configs, err)
		}
	}
	c, err := core.Open(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("--data %s: open the core: %w", m.flags.Data, err)
	}
	m.onClose(c.Close)
	return c, nil
}

func (m *Main) openProxy(base, logins string) (*compatproxy.Proxy, error) {
	deduplication, err := keptSecret(filepath.Join(m.data, "deduplication.secret"))
	if err != nil {
		return nil, fmt.Errorf("open the proxy: %w", err)
	}
	p, err := compatproxy.New(compatproxy.Config{
		V1: base, Credentials: logins, DropInPaths: true, Clock: m.clock, Log: m.log.With("service", "compat-proxy"),
		Tracer: m.traces.Tracer("compat-proxy"), Hop: m.hopSecret, DeduplicationSecret: deduplication,
	})
	if err != nil {
		return nil, fmt.Errorf("open the proxy: %w", err)
	}
	m.onClose(func() error { p.Close(); return nil })
	return p, nil
}

// openAdmin starts the operators' port, if one is asked for. It shows what all programs count.
func (m *Main) openAdmin(ctx context.Context, v1 *core.Core, legacy *compatproxy.Proxy, filter *mlefilter.Filter) error {
	if m.flags.Admin == "" {
		return nil
	}
	file, err := m.ensureOperator(ctx, v1)
	if err != nil {
		return err
	}
	addr, err := m.serve(ctx, v1.Operations(legacy.Gatherer(), filter.Gatherer()), m.flags.Admin)
	if err != nil {
		return fmt.Errorf("--admin %s: %w", m.flags.Admin, err)
	}
	m.log.InfoContext(ctx, "operators' port", slog.String("address", addr.String()), slog.String("operator_token_file", file))
	return nil
}

// openDoors starts both public listeners, has them drain at the same time, and returns where clients reach them.
func (m *Main) openDoors(ctx context.Context, h http.Handler, c *certificates) (plainURL, secureURL string, err error) {
	servers := []*httpx.Server{m.server(h, nil), m.server(h, tlspolicy.Server(c.holder.GetCertificate))}
	m.onClose(func() error { return stopAll(ctx, servers) })
	plain, err := servers[0].Start(m.flags.Listen)
	if err != nil {
		return "", "", fmt.Errorf("--listen %s: %w", m.flags.Listen, err)
	}
	secure, err := servers[1].Start(m.flags.ListenTLS)
	if err != nil {
		return "", "", fmt.Errorf("--listen-tls %s: %w", m.flags.ListenTLS, err)
	}
	return baseURL("http", plain), c.url(secure), nil
}

// serve starts a plain listener.
func (m *Main) serve(ctx context.Context, h http.Handler, addr string) (net.Addr, error) {
	s := m.server(h, nil)
	m.onClose(func() error { return stopAll(ctx, []*httpx.Server{s}) })
	return s.Start(addr)
}

func (m *Main) server(h http.Handler, policy *tls.Config) *httpx.Server {
	return httpx.NewServer(httpx.Options{Handler: h, TLS: policy, Log: m.log, Clock: m.clock})
}

// stopAll drains the servers side by side, each for its own time at most, although ctx has ended: that is why they stop.
func stopAll(ctx context.Context, servers []*httpx.Server) error {
	ctx = context.WithoutCancel(ctx)
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() { errs[i] = s.Stop(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
