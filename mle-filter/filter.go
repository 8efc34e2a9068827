package mlefilter

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/announce"
	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
	"github.com/causeway-pay/causeway/mle-filter/internal/identity"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyapi"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/mle-filter/internal/metrics"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/mle-filter/internal/requirement"
	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/telemetry"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Policy is the table of required encryption in the configuration file.
type Policy = policy.Config

// Limits are the engine's limits in the configuration file.
type Limits = engine.Settings

// Schedule holds the lifetimes of keys.
type Schedule = keyring.Schedule

// Config holds the settings and parts of a Filter. Keys, KEK, and one of V1 and Core are required.
type Config struct {
	// V1 is the base URL of core, such as "https://core.internal:8443". Its paths begin with /v1.
	V1 string
	// Transport carries requests to V1. Nil stands for one with up to 256 idle connections and
	// without the environment's proxy.
	Transport http.RoundTripper
	// Core is core in the same process, instead of V1. Requests in the clear go directly to it.
	Core http.Handler
	// Compat is the base URL of compat-proxy, which serves /compat and the providers' own paths.
	// Empty for none: these paths get 404. Transport carries its requests too.
	Compat string
	// Secret is the filter secret, sent to core with every request; see CAUSEWAY_FILTER_SECRET.
	// Zero for none.
	Secret secret.String
	// Hop is the hop secret. The program in front sends it with the client address, and the filter
	// sends it to core with the forwarded address. With zero, the peer's address counts, and none
	// is forwarded.
	Hop secret.String
	// Keys is the key store: the path of an SQLite file, or a postgres:// URL that filters can
	// share.
	Keys string
	// PostgreSQL opens such a URL. Nil in a program without the driver.
	PostgreSQL keystore.Opener
	// KEK is the key-encryption key: 32 bytes in base64.
	KEK secret.String
	// OldKEK is the previous key-encryption key, during a rotation. The stored keys open under either
	// one. Zero for none.
	OldKEK   secret.String
	Schedule Schedule
	// Operator is the base URL of core's operators' API, which receives an event for each rotation.
	// Empty sends none. FilterToken is core's token with the role filter-identify. It authenticates
	// these events, and requests for the merchant of a publishable key. With a zero token,
	// publishable keys cannot use encryption.
	Operator    string
	FilterToken secret.String
	// Operations is the operators' API of a core in the same process, instead of Operator.
	Operations http.Handler
	// Lazily makes a filter without keys postpone its background work until the first use of
	// encryption. Spare RSA keys take seconds of processor time.
	Lazily bool
	// RSABits is the size of new RSA keys; 0 stands for 3072. Spares is the number of RSA keys made
	// in advance; 0 stands for 4.
	RSABits, Spares int
	Policy          Policy
	Limits          Limits
	// Concurrency is the largest number of requests handled at the same time; further ones get 503.
	// Zero stands for 512. A request in the clear does not count while core handles it.
	Concurrency int
	// BodyGrace is the time before a minimum rate applies to the body of a request. Zero stands for
	// 5 s.
	BodyGrace time.Duration
	// Log receives one event for each request, except requests that go directly to Core. Nil
	// discards them.
	Log *slog.Logger
	// Tracer makes the spans. Nil for none.
	Tracer *telemetry.Tracer
	// Clock is the source of time. Nil for the system clock.
	Clock clock.Clock
}

// memory bounds the memory for complete bodies and for encrypted responses. Deployments limit the
// program to 256 MB.
const memory = 96 << 20

// Filter is message-level encryption in front of v1, ready to serve. It is safe for concurrent use.
type Filter struct {
	cfg       Config
	db        *keystore.DB
	ring      *keyring.Keyring
	engine    *engine.Engine
	who       *identity.Resolver
	announced *requirement.Source
	hop       *httphop.Hop
	legacy    http.Handler // in front of compat-proxy
	keys      http.Handler
	metrics   *metrics.Metrics
	admission *admission.Limiter
	reach     http.RoundTripper // for the filter's own requests to core
	idle      func()            // closes the idle connections of the filter's own transport

	stop  context.CancelFunc
	wake  func() // starts the background work, once
	ended sync.WaitGroup
	close sync.Once
	err   error
}

var (
	errURL    = errors.New("want an absolute http or https URL without a path")
	errCompat = errors.New("compat: use Legacy with a core in the same process")
	errTwo    = errors.New("want either v1 or a core in the same process")
	errStrict = errors.New("mle-filter: policy: merchants: set filter_token, or remove the merchants. " +
		"Without the token core does not return the merchant of a publishable key")
	errRoom = errors.New("mle-filter: concurrency: want 0 or more")
	errKEK  = errors.New("the key-encryption key is not 32 bytes in base64: make one with `openssl rand -base64 32`")
)

// New opens the keys and returns a filter, which keeps and rotates them until Close. It does not
// call v1, so either program may start first. An error names the faulty setting.
func New(ctx context.Context, cfg Config) (*Filter, error) {
	if len(cfg.Policy.Merchants) > 0 && cfg.FilterToken.IsZero() {
		return nil, errStrict
	}
	if cfg.Concurrency < 0 {
		return nil, errRoom
	}
	f := &Filter{cfg: cfg.withDefaults(), idle: func() {}, metrics: metrics.New()}
	f.admission = admission.New(
		admission.Config{Slots: f.cfg.Concurrency, Memory: memory, Grace: f.cfg.BodyGrace, Refused: f.metrics.Shed},
	)
	table, err := policy.New(cfg.Policy) // alone first, so an error counts only the operator's routes
	if err == nil {
		table, err = policy.New(withOwnRoutes(cfg.Policy))
	}
	if err != nil {
		return nil, fmt.Errorf("mle-filter: %w", err)
	}
	upstream, err := f.connect()
	if err != nil {
		return nil, fmt.Errorf("mle-filter: %w", err)
	}
	if err := f.openKeys(ctx); err != nil {
		return nil, fmt.Errorf("mle-filter: keys: %w", err)
	}
	if err := f.assemble(table, upstream); err != nil {
		return nil, errors.Join(fmt.Errorf("mle-filter: %w", err), f.db.Close())
	}
	if err := f.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("mle-filter: keys: %w", err), f.db.Close())
	}
	f.warn(ctx)
	return f, nil
}

// start starts the background work now, or at the first use of encryption.
func (f *Filter) start(ctx context.Context) error {
	tenants, err := f.db.Tenants(ctx)
	if err != nil {
		return err
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	f.stop = stop
	f.ended.Go(func() { f.announced.Run(background) })
	f.wake = sync.OnceFunc(func() {
		f.ended.Go(func() { f.ring.Run(background) })
		if sender := f.announcer(); sender != nil {
			f.ended.Go(func() { sender.Run(background) })
		}
	})
	if !f.cfg.Lazily || len(tenants) > 0 {
		f.wake()
	}
	return nil
}

// announcer returns the sender of rotation events to merchants, through core. It is nil if no
// operators' API or token is configured.
func (f *Filter) announcer() *announce.Announcer {
	cfg := announce.Config{Store: f.db, Core: f.cfg.Operator, Token: f.cfg.FilterToken, Clock: f.cfg.Clock, Log: f.cfg.Log}
	if f.cfg.Operations != nil {
		cfg.Core, cfg.Client = "http://core", &http.Client{Transport: httphop.InProcess(f.cfg.Operations)}
	}
	if cfg.Core == "" || cfg.Token.IsZero() {
		return nil
	}
	return announce.New(cfg)
}

func (cfg Config) withDefaults() Config {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	cfg.Concurrency = cmp.Or(cfg.Concurrency, 512)
	return cfg
}

// withOwnRoutes turns encryption off for the paths of the keys: a client needs them before it has a
// key.
func withOwnRoutes(p Policy) Policy {
	own := policy.Route{Path: keyapi.Root + "**", MLE: policy.Off}
	p.Routes = append([]policy.Route{own}, p.Routes...)
	return p
}

func (f *Filter) openKeys(ctx context.Context) error {
	kek, err := decodeKEK(f.cfg.KEK)
	if err != nil {
		return err
	}
	var old []byte
	if !f.cfg.OldKEK.IsZero() {
		if old, err = decodeKEK(f.cfg.OldKEK); err != nil {
			return fmt.Errorf("old_kek: %w", err)
		}
	}
	if f.db, err = keystore.Open(
		ctx, keystore.Config{Source: f.cfg.Keys, PostgreSQL: f.cfg.PostgreSQL, Clock: f.cfg.Clock},
	); err != nil {
		return err
	}
	f.ring, err = keyring.Open(ctx, keyring.Config{
		Store: f.db, KEK: kek, OldKEK: old, Clock: f.cfg.Clock, Log: f.cfg.Log, Schedule: f.cfg.Schedule,
		RSABits: f.cfg.RSABits, Spares: f.cfg.Spares,
	})
	if err != nil {
		return errors.Join(err, f.db.Close())
	}
	f.metrics.Ages(f.ring.Ages)
	f.metrics.Changed(f.ring.Changed)
	return nil
}

func decodeKEK(text secret.String) ([]byte, error) {
	kek, err := base64.StdEncoding.DecodeString(text.Reveal())
	if err != nil || len(kek) != keyring.KEKSize {
		return nil, errKEK
	}
	return kek, nil
}

// assemble connects the parts of the filter.
func (f *Filter) assemble(table *policy.Table, upstream *url.URL) error {
	var err error
	client := &http.Client{Transport: f.reach}
	f.announced = requirement.New(requirement.Config{V1: f.cfg.V1, Client: client, Log: f.cfg.Log})
	f.engine, err = engine.New(engine.Config{
		Settings: f.cfg.Limits, Keys: f.ring, Policy: table, Clock: f.cfg.Clock, Secret: f.cfg.Secret, Hop: f.cfg.Hop,
		Announced: f.announced.InForce,
	})
	if err != nil {
		return err
	}
	f.who = identity.New(
		identity.Config{V1: f.cfg.V1, Client: client, Clock: f.cfg.Clock, Token: f.cfg.FilterToken},
	)
	hop := f.hopConfig()
	if upstream == nil {
		hop.Core = f.cfg.Core
	} else {
		hop.Upstream, hop.Transport = upstream, f.cfg.Transport
	}
	if f.hop, err = httphop.New(hop); err != nil {
		return err
	}
	if err := f.connectCompat(); err != nil {
		return err
	}
	keys := keyapi.Config{Keys: f.ring, Identity: f.who, Requirements: f.announced.All, Log: f.cfg.Log}
	f.keys = f.around(httpx.SecurityHeaders(f.hop.Guard(keyapi.New(keys))))
	return nil
}

// identify returns the tenant of a request's API key, and adds the id of the key to the request's
// log line.
func (f *Filter) identify(ctx context.Context, h http.Header) (string, *engine.Problem) {
	f.wake()
	who, p := f.who.Resolve(ctx, h)
	if p != nil {
		return "", p
	}
	httpx.EventFrom(ctx).SetWord(httpx.WordAPIKey, who.Key)
	err := admission.Identify(ctx, admission.Identity{
		Key: who.Key, Merchant: who.Tenant(), Live: who.Mode == v1.ModeLive, Public: who.Publishable,
	})
	return who.Tenant(), shell.Unread(err)
}

// around returns h with the middleware of every request: an id, an event, a span, the fields for
// web pages and the limit.
func (f *Filter) around(h http.Handler) http.Handler {
	h = httpx.CrossOrigin(f.admit(f.metrics.Served(h)))
	h = httpx.Recover(shell.Broken, f.cfg.Log, h)
	h = httpx.LogRequests(f.cfg.Log, f.cfg.Clock, h, f.metrics.Request)
	h = httpx.ClientAddress(f.cfg.Hop, httpx.Trace(f.cfg.Tracer, h))
	return httpx.RequestID(h)
}

// admit bounds the requests in next. Core's health endpoint is outside every limit, as in core.
func (f *Filter) admit(next http.Handler) http.Handler {
	limited := f.admission.Handler(http.HandlerFunc(shell.Overloaded), next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/health" {
			next.ServeHTTP(w, r)
			return
		}
		limited.ServeHTTP(w, r)
	})
}

// Handler serves /v1/mle/* itself, except for core's list of requirements. It decrypts and encrypts
// all other requests and responses, and forwards them to core, or to compat-proxy by their paths.
func (f *Filter) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, keyapi.Root) && r.URL.Path != requirement.Path:
			f.wake()
			f.keys.ServeHTTP(w, r)
		case engine.IsLegacy(r.URL.EscapedPath()):
			f.legacy.ServeHTTP(w, r)
		default:
			f.hop.ServeHTTP(w, r)
		}
	})
}

// Clear serves next, which supports no encryption and is not core. It rejects requests that demand
// encryption, so a client that demands an encrypted response gets none in the clear.
func (f *Filter) Clear(next http.Handler) http.Handler { return f.hop.Clear(next) }

// Close ends the background work and closes the keys. Stop the HTTP server first. Close may be
// called twice.
func (f *Filter) Close() error {
	f.close.Do(func() {
		f.stop()
		f.ended.Wait()
		f.err = f.db.Close()
		f.idle()
	})
	return f.err
}
