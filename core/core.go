package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/simulator"
	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/docs"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/metrics"
	"github.com/causeway-pay/causeway/core/internal/ratelimit"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// The names in the data folder.
const (
	databaseFile = "causeway.db"
	journalFile  = "simulator.journal"
	lockFile     = "lock"
)

// DefaultRateLimit is how many requests a second one API key may make unless told otherwise.
const DefaultRateLimit = 1000

const (
	// concurrent is how many requests are served at once unless told otherwise.
	concurrent = 1024
	// reconcileEvery is how often the service looks for payments that nobody works on any more.
	reconcileEvery = 250 * time.Millisecond
	// startPatience is how long a start waits for what an earlier process left open. The rest is finished while it serves.
	startPatience = 10 * time.Second
)

// Config says where core lives and what it stands on. Only Data is required, or Database and VaultKEK.
type Config struct {
	Data string // folder of the store, made with mode 0700 when missing; unused with a Database
	// Database opens the store, where it is one that several cores share: package core/postgres makes it.
	Database  Database
	Simulator string // path of the simulator's catalogue; "" for the built-in one
	// SimulatorJournal is the path of the file in which the simulator records its effects, and which
	// several cores of one machine may share. "" is a file in Data, and with a Database this process's
	// memory.
	SimulatorJournal string
	Clock            clock.Clock // nil for the system's
	// ClockApart lets Clock be off that of the Database's server, where it is a test's. Else such a core says that it is not well, and leaves work to others.
	ClockApart bool
	Log        *slog.Logger // nil for none
	// RateLimit is how many requests a second one API key may make for long, and twice as many at once when it was idle: 0 for
	// DefaultRateLimit, negative for no limit.
	RateLimit int
	// MerchantRateLimit is how many requests a second all keys of one merchant and mode may make
	// together, publishable and secret keys apart: 0 for four times RateLimit, negative for no limit.
	MerchantRateLimit int
	// Concurrency is how many requests are served at once; more are refused with 503. 0 means 1024.
	Concurrency int
	// BodyGrace is the time that the body of a request gets before a minimum rate applies. 0 means 5 s.
	BodyGrace time.Duration
	// KeepEvents is how long events are listed and can be delivered again before they are removed: at least LeastKeepEvents, 0 for good.
	KeepEvents time.Duration
	// KeepPersonal is how long personal data of transactions, captures, refunds and their events is kept: at least LeastKeepPersonal, 0 for good.
	KeepPersonal time.Duration
	// KeepCustomers is how long customers without a payment or a change are kept before they are
	// deleted: at least LeastKeepPersonal, 0 for no end.
	KeepCustomers time.Duration
	// VaultKEK encrypts the keys of the card vault: 32 bytes in base64. Zero derives it from the folder's root secret, for development.
	VaultKEK secret.String

	// Tracer makes the spans; nil for none.
	Tracer *telemetry.Tracer

	// FilterToken is the operator token of mle-filter and the edge, with the role filter-identify: it
	// identifies API keys and sends announcements. 32 random bytes or more, as text. Zero for none.
	FilterToken secret.String

	// FilterSecret is what a filter in front sends with every request, which is then refused without it: nothing that the filter did not
	// judge is carried out. 32 random bytes or more, as text. Zero lets whoever reaches v1 use it.
	FilterSecret secret.String

	// Actor names the operator in the audit record, where it is another program than the command line:
	// "standalone". Empty for the user of the operating system.
	Actor string

	// KeepAudit is how long audit records are kept: at least LeastKeepAudit, 0 for all.
	KeepAudit time.Duration

	// HopSecret authenticates the client address that the hop in front forwards; see
	// httpx.HopSecret. Zero uses the address of the peer.
	HopSecret secret.String

	// WebhooksAllowPrivate lets webhook endpoints be on this machine and in private networks. It is for development and tests: whoever
	// has an API key could else have requests made to what only this machine reaches.
	WebhooksAllowPrivate bool
}

// Database opens a store that several processes share.
type Database func(context.Context, clock.Clock) (*store.DB, error)

// Core is the open service. Two cannot be open on one folder; on one database, any number.
type Core struct {
	*Admin
	sim     *simulator.Simulator
	peers   *engine.Peers // nil with a store of its own
	unlock  func() error
	handler http.Handler
	filter  secret.String // Config.FilterSecret
	metrics *metrics.Metrics
	admin   http.Handler
	stop    context.CancelFunc
	ended   sync.WaitGroup
	close   sync.Once
	err     error
}

// Open migrates the store, finishes what an earlier process left open, and returns the service ready to serve.
func Open(ctx context.Context, cfg Config) (*Core, error) {
	cfg = cfg.withDefaults()
	if err := errors.Join(checkToken("filter token", cfg.FilterToken), checkToken("filter secret", cfg.FilterSecret), cfg.checkKept(), cfg.checkKeepPersonal(),
		cfg.checkKeepAudit()); err != nil {
		return nil, err
	}
	if err := cfg.makeFolder(); err != nil {
		return nil, err
	}
	unlock, err := cfg.lock()
	if err != nil {
		return nil, err
	}
	admin, err := openAdmin(ctx, cfg)
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	sim, err := openSimulator(cfg)
	if err != nil {
		return nil, errors.Join(err, admin.Close(), unlock())
	}
	c := &Core{Admin: admin, sim: sim, unlock: unlock}
	if err := c.start(ctx, cfg); err != nil {
		return nil, errors.Join(explainFile(err, filepath.Join(cfg.Data, databaseFile)), c.Close())
	}
	return c, nil
}

// lock keeps a second service off a folder. A database is for any number of them.
func (cfg Config) lock() (unlock func() error, err error) {
	if cfg.Database != nil {
		return func() error { return nil }, nil
	}
	lock, err := lockFolder(filepath.Join(cfg.Data, lockFile))
	if err != nil {
		return nil, err
	}
	return lock.Close, nil
}

func (cfg Config) withDefaults() Config {
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return cfg
}

// merchantKeys is how many times the rate limit of a key its merchant has by default.
const merchantKeys = 4

// limiter returns nil for no limit.
func (cfg Config) limiter() *ratelimit.Limiter {
	key := max(cmp.Or(cfg.RateLimit, DefaultRateLimit), 0)
	merchant := max(cmp.Or(cfg.MerchantRateLimit, merchantKeys*key), 0)
	if key == 0 && merchant == 0 {
		return nil
	}
	return ratelimit.New(key, merchant)
}

func openSimulator(cfg Config) (*simulator.Simulator, error) {
	var catalogue []byte
	if cfg.Simulator != "" {
		var err error
		if catalogue, err = os.ReadFile(cfg.Simulator); err != nil {
			return nil, fmt.Errorf("simulator catalogue: %w", err)
		}
	}
	journal := cfg.SimulatorJournal
	if journal == "" && cfg.Database == nil {
		journal = filepath.Join(cfg.Data, journalFile)
	}
	sim, err := simulator.Open(simulator.Config{Catalogue: catalogue, Journal: journal, Clock: cfg.Clock})
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	return sim, nil
}

// testCards lists the simulator's cards for the docs.
func testCards(sim *simulator.Simulator) []docs.Card {
	var out []docs.Card
	for _, c := range sim.Fixtures() {
		card := docs.Card{PaymentMethod: c.PaymentMethod, Number: c.Number, Brand: c.Brand, Outcome: "approved", Behaviour: c.Behaviour}
		if !c.Approved {
			card.Outcome = c.DeclineCode
		}
		out = append(out, card)
	}
	return out
}

// testTriggers lists for the docs what else the simulator answers in its own way.
func testTriggers(sim *simulator.Simulator) []docs.Trigger {
	var out []docs.Trigger
	for _, t := range sim.Triggers() {
		out = append(out, docs.Trigger(t))
	}
	return out
}

// start wires the parts, reconciles, and keeps reconciling.
func (c *Core) start(ctx context.Context, cfg Config) error {
	cards, err := c.openVault(ctx, cfg)
	if err != nil {
		return err
	}
	if err := c.join(ctx, cfg); err != nil {
		return err
	}
	series := metrics.New(metrics.Config{
		Waiting: c.db.Waiting, Pending: c.db.PendingDeliveries, Clock: cfg.Clock,
		Leads: c.peers.Leads, Server: c.server(), Secrets: c.secretAges,
	})
	c.db.Observe(series.Group, func(err error) { cfg.Log.ErrorContext(ctx, "store: commit not counted", slog.Any("error", err)) })
	c.db.Trace(cfg.Tracer)
	eng := engine.New(engine.Config{
		Store: c.db, Vault: cards, Clock: cfg.Clock, IDs: c.ids, Render: api.Render, Erase: api.Erased, Log: cfg.Log,
		Test: acquirer.Traced(series.Acquirer(c.sim, cfg.Clock), cfg.Tracer), Tracer: cfg.Tracer, Roots: c.roots, Sealer: c.sealer, AuditKey: c.audit,
		Observer: series, Peers: c.peers,
	})
	c.db.ObserveSkips(eng.Skipped)
	if err := eng.CheckClock(ctx); err != nil {
		return err
	}
	recovery := eng.NewRecovery()
	if err := recovery.CatchUp(ctx, startPatience); err != nil {
		return err
	}
	hooks, err := c.openWebhooks(ctx, cfg, eng, series)
	if err != nil {
		return err
	}
	keys := auth.New(c.db, cfg.Clock, c.roots)
	c.metrics = series
	v1 := api.New(api.Config{ //nolint:contextcheck // a handler takes the context of its request
		Observe: series.Request, Tracer: cfg.Tracer,
		Store: c.db, Engine: eng, Auth: keys, Clock: cfg.Clock, Log: cfg.Log, Test: c.sim, Cards: testCards(c.sim), Triggers: testTriggers(c.sim),
		FingerprintKey: c.roots.Lasting(root.CardFingerprints), IdempotencyKey: c.roots.Lasting(root.Requests), Concurrent: cmp.Or(cfg.Concurrency, concurrent), RateLimit: cfg.limiter(),
		BodyGrace:     cfg.BodyGrace,
		WebhookPolicy: hooks.Policy, FilterSecret: cfg.FilterSecret, FilterToken: cfg.FilterToken,
		LoggedIn:    series.OperatorLogin,
		HopSecret:   cfg.HopSecret,
		ClockOffset: c.clockOffset(),
	})
	c.handler, c.admin, c.filter = v1, v1.Operator(), cfg.FilterSecret //nolint:contextcheck // as above
	cfg.warnUnfiltered(ctx)
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop = stop
	c.ended.Go(func() { recovery.Run(background, reconcileEvery) })
	c.ended.Go(func() { keepPurging(background, c.db, c.peers, series, cfg) })
	if c.peers != nil {
		c.ended.Go(func() { c.peers.Run(background) })
	}
	c.ended.Go(func() { keepErasing(background, eng, c.peers, series, cfg) })
	c.ended.Go(func() { keepRoots(background, c.roots, cfg) })
	c.ended.Go(func() { keepUsage(background, keys, cfg) })
	c.ended.Go(func() { keepSweeping(background, eng, cfg) })
	c.ended.Go(func() { keepSettling(background, eng, cfg) })
	c.ended.Go(func() { keepConfirming(background, eng, cfg) })
	c.ended.Go(func() { keepBroadcasting(background, eng, cfg) })
	c.ended.Go(func() { keepAudit(background, c.Admin, eng, cfg) })
	c.ended.Go(func() { hooks.Run(background) })
	return nil
}

// join has a core known to those that share its database, and what it begins known as its own.
func (c *Core) join(ctx context.Context, cfg Config) error {
	if cfg.Database == nil {
		return nil
	}
	c.peers = &engine.Peers{ID: id.NewGenerator(clock.System()).Next(), Store: c.db, Log: cfg.Log}
	if !cfg.ClockApart {
		c.peers.Clock = cfg.Clock
		c.db.ClaimBy(c.peers.Trusts)
	}
	c.db.WorkAs(c.peers.ID)
	return c.peers.Beat(ctx)
}

// clockOffset compares the clock with the server's; nil with a store of its own.
func (c *Core) clockOffset() func() (time.Duration, bool) {
	if c.peers == nil {
		return nil
	}
	return func() (time.Duration, bool) { return c.peers.Offset(), c.peers.Agrees() }
}

// server is what is counted of a store on a server.
func (c *Core) server() *metrics.Server {
	if c.peers == nil {
		return nil
	}
	return &metrics.Server{
		Stats: c.db.Stats, LowWaterMark: c.db.LowWaterMark, Alive: c.peers.Alive, Offset: c.peers.Offset,
	}
}

// openWebhooks returns the deliverer, with what a dead process was at due again.
func (c *Core) openWebhooks(ctx context.Context, cfg Config, eng *engine.Engine, series *metrics.Metrics) (*webhook.Deliverer, error) {
	hooks := webhook.New(webhook.Config{
		Store: c.db, Clock: cfg.Clock, Log: cfg.Log, Tracer: cfg.Tracer, Observer: series, Secrets: webhook.NewSecrets(c.roots.Lasting(root.WebhookSecrets)),
		Policy: webhook.Policy{AllowPrivate: cfg.WebhooksAllowPrivate}, Body: api.Event, Disable: eng.DisableEndpoint, Leads: eng.Peers.Leads,
		Agrees: eng.Peers.Agrees,
	})
	return hooks, hooks.TakeOver(ctx)
}

// Handler serves v1, and a v1 404 for every other path.
func (c *Core) Handler() http.Handler { return c.handler }

// Operations serves what only operators should reach, on a port of its own: what the service counts at /metrics in Prometheus' text
// form, together with what others count in the same process, /v1/health, and the operator's API under /admin/v1.
func (c *Core) Operations(others ...prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", c.metrics.Handler(others...))
	mux.Handle("GET /v1/health", c.handler)
	mux.Handle("/admin/", c.admin)
	return mux
}

// Close stops the background work and closes the store. Stop the HTTP server first. It is safe to call twice.
func (c *Core) Close() error {
	c.close.Do(func() {
		if c.stop != nil {
			c.stop()
		}
		c.ended.Wait()
		c.err = errors.Join(c.Admin.Close(), c.sim.Close(), c.unlock())
	})
	return c.err
}
