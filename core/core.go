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
	_ "time/tzdata" // merchants' days end in their own time zone, also on a machine without zones

	"github.com/prometheus/client_golang/prometheus"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/acquirer/simulator"
	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/background"
	"github.com/causeway-pay/causeway/core/internal/datadir"
	"github.com/causeway-pay/causeway/core/internal/docs"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/metrics"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/seal"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// journalFile is the name of the simulator's journal in the data folder.
const journalFile = "simulator.journal"

const (
	// concurrent is the default number of requests that are served at the same time.
	concurrent = 1024
	// recoverEvery is the pause between two searches for unfinished payments of dead processes.
	recoverEvery = 250 * time.Millisecond
	// startPatience bounds the time in which a start finishes the unfinished payments of an earlier
	// process. The rest is finished while the core serves.
	startPatience = 10 * time.Second
)

// Core is the open service. Only one core can be open on a folder. Any number of cores can be open
// on a database.
type Core struct {
	dir     *datadir.Dir
	ids     *id.Generator
	admin   *admin.Admin
	sim     *simulator.Simulator
	cluster *engine.Cluster // nil with a store in a folder
	unlock  func() error
	v1      http.Handler
	ops     http.Handler  // the operator's API
	filter  secret.String // Config.FilterSecret
	metrics *metrics.Metrics

	accounts *account.Accounts // of live mode
	health   http.Handler      // v1's, on the operators' port

	stop  context.CancelFunc
	ended sync.WaitGroup
	close sync.Once
	err   error
}

// Open migrates the store, finishes the unfinished payments of an earlier process, and returns the
// service.
func Open(ctx context.Context, cfg Config) (*Core, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	at := cfg.dir()
	if err := at.Prepare(); err != nil {
		return nil, err
	}
	unlock, err := at.Lock()
	if err != nil {
		return nil, err
	}
	dir, err := datadir.Open(ctx, at)
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	sim, err := openSimulator(cfg)
	if err != nil {
		return nil, errors.Join(err, dir.Close(), unlock())
	}
	ids := dir.Store.IDs()
	c := &Core{
		dir: dir, ids: ids, admin: admin.New(dir, ids, cfg.Actor).WithKinds(cfg.kinds()), sim: sim, unlock: unlock,
		filter: cfg.FilterSecret,
	}
	if err := c.start(ctx, cfg); err != nil {
		return nil, errors.Join(at.Explain(err), c.Close())
	}
	return c, nil
}

// ErrCatalogue reports that the file in Config.Simulator cannot be read, or has mistakes.
var ErrCatalogue = simulator.ErrCatalogue

func openSimulator(cfg Config) (*simulator.Simulator, error) {
	var catalogue []byte
	if cfg.Simulator != "" {
		var err error
		if catalogue, err = os.ReadFile(cfg.Simulator); err != nil {
			return nil, fmt.Errorf("simulator: %w: %w", ErrCatalogue, err)
		}
	}
	journal := cfg.SimulatorJournal
	if journal == "" {
		journal = filepath.Join(cfg.Data, journalFile)
	}
	return simulator.Open(simulator.Config{Catalogue: catalogue, Journal: journal, Clock: cfg.Clock})
}

// testCards lists the simulator's cards for the docs.
func testCards(sim *simulator.Simulator) []docs.Card {
	var out []docs.Card
	for _, c := range sim.Fixtures() {
		card := docs.Card{
			PaymentMethod: c.PaymentMethod, Number: c.Number, Brand: c.Brand, Outcome: "approved", Behaviour: c.Behaviour,
		}
		if !c.Approved {
			card.Outcome = c.DeclineCode
		}
		out = append(out, card)
	}
	return out
}

// testTriggers lists the simulator's other triggers for the docs.
func testTriggers(sim *simulator.Simulator) []docs.Trigger {
	var out []docs.Trigger
	for _, t := range sim.Triggers() {
		out = append(out, docs.Trigger(t))
	}
	return out
}

// publicDatabase warns of a database to which other programs of its server can connect.
const publicDatabase = "every role of the database server may connect to core's database, and can stop all payments " +
	"by holding locks: run REVOKE ALL ON DATABASE … FROM PUBLIC"

func warnOfPublic(ctx context.Context, db *store.DB, log *slog.Logger) error {
	public, err := db.Public(ctx)
	if public {
		log.WarnContext(ctx, publicDatabase)
	}
	return err
}

// start connects the parts, recovers unfinished steps, and starts the background work.
func (c *Core) start(ctx context.Context, cfg Config) error {
	cards, err := c.dir.Vault(ctx)
	if err != nil {
		return err
	}
	if err := c.join(ctx, cfg); err != nil {
		return err
	}
	db := c.dir.Store
	c.metrics = metrics.New(metrics.Config{
		Waiting: db.Waiting, Pending: db.PendingDeliveries, Clock: cfg.Clock,
		LogSize: func() int64 { return db.Stats().LogSize },
		Leads:   c.cluster.Leads, Server: c.server(), Secrets: c.dir.SecretAges, Unfinished: c.unfinished,
	})
	db.Observe(c.metrics.Batch, func(err error) {
		cfg.Log.ErrorContext(ctx, "store: the metrics miss a commit", slog.Any("error", err))
	})
	db.Trace(cfg.Tracer)
	c.accounts = c.openAccounts(cfg, cards)
	eng, err := c.openEngine(ctx, cfg, cards)
	if err != nil {
		return err
	}
	ctx = store.InBackground(ctx)
	recovery := eng.NewRecovery()
	if err := recovery.CatchUp(ctx, startPatience); err != nil {
		return err
	}
	hooks, err := c.openWebhooks(ctx, cfg, eng)
	if err != nil {
		return err
	}
	keys := auth.New(db, cfg.Clock, c.dir.Roots)
	v1 := c.newAPI(cfg, eng, keys, hooks) //nolint:contextcheck // a handler takes the context of its request
	c.v1, c.ops = v1, v1.Operator()       //nolint:contextcheck // as above
	c.health = v1.OnOperatorsPort()
	cfg.warnUnfiltered(ctx)
	c.logAccounts(ctx, cfg.Log)
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop = stop
	c.ended.Go(func() { recovery.Run(running, recoverEvery) })
	c.ended.Go(func() { hooks.Run(running) })
	if c.cluster != nil {
		c.ended.Go(func() { c.cluster.Run(running) })
	}
	c.ended.Go(func() {
		background.Run(running, background.Config{
			Engine: eng, Keys: keys, Metrics: c.metrics, KeepEvents: cfg.KeepEvents,
			KeepPersonal: cfg.KeepPersonal, KeepCustomers: cfg.KeepCustomers, KeepAudit: cfg.KeepAudit,
		})
	})
	return nil
}

// openAccounts returns the accounts of live mode.
func (c *Core) openAccounts(cfg Config, v *vault.Vault) *account.Accounts {
	return account.New(account.Config{
		Store: c.dir.Store, Vault: v, Clock: cfg.Clock, Kinds: cfg.kinds(), Called: c.metrics.AccountCalled,
		Tracer: cfg.Tracer,
	})
}

// openEngine returns an engine whose clock is not behind the store's.
func (c *Core) openEngine(ctx context.Context, cfg Config, cards *vault.Vault) (*engine.Engine, error) {
	roots := c.dir.Roots
	eng := engine.New(engine.Config{
		Store: c.dir.Store, Vault: cards, Clock: cfg.Clock, IDs: c.ids, Log: cfg.Log, Tracer: cfg.Tracer,
		Render: api.Render, Erase: api.Erased, Test: c.metrics.Acquirer(c.sim, cfg.Tracer, cfg.Clock),
		Live:  c.accounts,
		Roots: roots, Sealer: seal.New(roots), AuditKey: roots.Lasting(root.AuditRecords),
		Observer: c.metrics, Cluster: c.cluster,
	})
	c.dir.Store.ObserveSkips(eng.Skipped)
	return eng, eng.CheckClock(ctx)
}

func (c *Core) newAPI(cfg Config, eng *engine.Engine, keys *auth.Authenticator, hooks *webhook.Deliverer) *api.API {
	roots := c.dir.Roots
	return api.New(api.Config{
		Store: c.dir.Store, Engine: eng, Auth: keys, Accounts: c.accounts, Clock: cfg.Clock,
		ClockOffset: c.clockOffset(), Log: cfg.Log,
		Tracer: cfg.Tracer, Observe: c.metrics.Request, LoggedIn: c.metrics.OperatorLogin,
		Test: c.sim, Cards: testCards(c.sim), Triggers: testTriggers(c.sim),
		FingerprintKey: roots.Lasting(root.CardFingerprints), IdempotencyKey: roots.Lasting(root.Requests),
		Concurrent: cmp.Or(cfg.Concurrency, concurrent), RateLimit: cfg.limiter(), BodyGrace: cfg.BodyGrace,
		DeclineLimit: cfg.declineLimiter(), WebhookPolicy: hooks.Policy,
		FilterSecret: cfg.FilterSecret, FilterToken: cfg.FilterToken, HopSecret: cfg.HopSecret,
	})
}

// join makes the core a member of its database, and marks its operations with its id.
func (c *Core) join(ctx context.Context, cfg Config) error {
	if cfg.Database == nil {
		return nil
	}
	c.cluster = &engine.Cluster{ID: id.NewGenerator(clock.System()).Next(), Store: c.dir.Store, Log: cfg.Log}
	if !cfg.ClockApart {
		c.cluster.Clock = cfg.Clock
		c.dir.Store.ClaimBy(c.cluster.Trusts)
	}
	c.dir.Store.WorkAs(c.cluster.ID)
	if err := warnOfPublic(ctx, c.dir.Store, cfg.Log); err != nil {
		return err
	}
	return c.cluster.Heartbeat(ctx)
}

// clockOffset compares the clock with the server's. It returns nil for a store in a folder.
func (c *Core) clockOffset() func() (time.Duration, bool) {
	if c.cluster == nil {
		return nil
	}
	return func() (time.Duration, bool) { return c.cluster.Offset(), c.cluster.Agrees() }
}

// server returns the metrics of a store on a server, and nil for a store in a folder.
func (c *Core) server() *metrics.Server {
	if c.cluster == nil {
		return nil
	}
	db := c.dir.Store
	return &metrics.Server{
		Stats: db.Stats, LowWaterMark: db.LowWaterMark, Alive: c.cluster.Alive, Offset: c.cluster.Offset,
	}
}

// openWebhooks returns the deliverer. With a store in a folder, it makes the unfinished deliveries
// of a dead process due again.
func (c *Core) openWebhooks(ctx context.Context, cfg Config, eng *engine.Engine) (*webhook.Deliverer, error) {
	hooks := webhook.New(webhook.Config{
		Store: c.dir.Store, Clock: cfg.Clock, Log: cfg.Log, Tracer: cfg.Tracer, Observer: c.metrics,
		Secrets: webhook.NewSecrets(c.dir.Roots.Lasting(root.WebhookSecrets)),
		Policy:  webhook.Policy{AllowPrivate: cfg.WebhooksAllowPrivate}, Body: api.Event, Disable: eng.DisableEndpoint,
		Leads: eng.Cluster.Leads, Agrees: eng.Cluster.Agrees,
	})
	if c.cluster != nil {
		return hooks, nil
	}
	return hooks, hooks.TakeOver(ctx)
}

// Handler serves v1, and a v1 404 for every other path.
func (c *Core) Handler() http.Handler { return c.v1 }

// Inner serves v1 as Handler does, to our programs that call it without mle-filter in front. No
// client may reach it.
func (c *Core) Inner() http.Handler {
	if c.filter.IsZero() {
		return c.v1
	}
	proof := []string{c.filter.Reveal()}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		delete(r.Header, api.EncryptionField)
		r.Header[api.ProofField] = proof
		c.v1.ServeHTTP(w, r)
	})
}

// Operations serves the routes for operators, on their own port: /metrics, /v1/health, and the
// operator's API under /admin/v1. The metrics of other parts of the process are included.
func (c *Core) Operations(others ...prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", c.metrics.Handler(others...))
	mux.Handle("GET /v1/health", c.health)
	mux.Handle("/admin/", c.ops)
	return mux
}

// RoleOperator is the role of operator tokens that permits everything.
const RoleOperator = auth.RoleOperator

// KeySpec describes a new API key.
type KeySpec = admin.KeySpec

// Admin returns the operator's actions on the store, as the command line runs them.
func (c *Core) Admin() *admin.Admin { return c.admin }

// Close stops the background work and closes the store. Stop the HTTP server first. A second call
// returns the result of the first.
func (c *Core) Close() error {
	c.close.Do(func() {
		if c.stop != nil {
			c.stop()
		}
		c.ended.Wait()
		c.err = errors.Join(c.dir.Close(), c.sim.Close(), c.unlock())
	})
	return c.err
}
