package compatproxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/compat-proxy/internal/attempts"
	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/compat-proxy/internal/deduplication"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/metrics"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb"
	"github.com/causeway-pay/causeway/compat-proxy/internal/rpc"
	"github.com/causeway-pay/causeway/compat-proxy/internal/upstream"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/dropin"
	"github.com/causeway-pay/causeway/shared/health"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/telemetry"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Config configures a Proxy. V1 and DeduplicationSecret are required.
type Config struct {
	// V1 is the base URL of v1, such as "https://core.internal:8443". Its paths begin with /v1.
	V1 string
	// Transport sends the calls to v1. Nil means a transport that keeps 256 idle connections and
	// ignores proxies of the environment.
	Transport http.RoundTripper
	// Hop is the hop secret. The hop in front sends it with the client address, and v1 gets it with
	// the forwarded address. Zero uses the peer's address and forwards none.
	Hop secret.String
	// DeduplicationSecret, at least 32 bytes, is the key from which names of requests are derived. It
	// must be the same for all proxies in front of one v1. It does not depend on API keys, so a
	// payment is still recognised after its API key was rolled.
	DeduplicationSecret secret.String
	// DeduplicationSecretOther is the previous or next secret during a rotation. Zero means none.
	DeduplicationSecretOther secret.String
	// Credentials is the path of the file that maps legacy logins to API keys. Empty means no file:
	// clients log in with API keys.
	Credentials string
	// DropInPaths also serves the legacy providers' own paths, for clients that can only change a
	// host.
	DropInPaths bool
	// Currency is the lower-case default for amounts without a currency in the request and the login.
	// Empty means "usd".
	Currency string
	// LenientOrder accepts the elements of a provider-a request in any order.
	LenientOrder bool
	// SignatureAge bounds the difference between the date of a provider-b client's signature and now,
	// in either direction. It is at most 11 and a half hours, because v1 must store the name of the
	// signature for longer. Zero means 15 minutes, and a negative value no bound. A login may have
	// another age.
	SignatureAge time.Duration
	// SignatureHosts are host names that provider-b clients sign, besides the Host header and the
	// provider's names.
	SignatureHosts []string
	// CallTimeout bounds one attempt at a v1 call, and TotalTimeout a whole request. Zero means 30 and
	// 50 seconds.
	CallTimeout, TotalTimeout time.Duration
	// Concurrency is the largest number of requests handled at the same time. Further ones get "busy".
	// Zero means 512.
	Concurrency int
	// BodyGrace is the time that the body of a request gets before a minimum rate applies. Zero means
	// 5 s.
	BodyGrace time.Duration
	// Log receives one event for every request. Nil discards them.
	Log *slog.Logger
	// Tracer makes the spans. Nil makes none.
	Tracer *telemetry.Tracer
	// Clock returns the time. Nil means the system's.
	Clock clock.Clock
}

const (
	// maxBody bounds every legacy request.
	maxBody = 256 << 10
	// unfinishedBytes and memory bound unfinished bodies and complete ones with their responses.
	// Besides these, the program needs 27 MB. Deployments limit it to 128 MB.
	unfinishedBytes = 32 << 20
	memory          = 40 << 20
)

// textNoRoute is the message for a path that no endpoint has.
const textNoRoute = v1.MessageNoRoute + " GET /compat/methods lists the methods with their paths."

// Proxy serves the legacy dialects. It is safe for concurrent use.
type Proxy struct {
	cfg       Config
	logins    *credentials.Store
	executor  *executor.Executor
	providerA *providera.Handler
	providerB *providerb.Handler
	metrics   *metrics.Metrics
	admission *admission.Limiter
	idle      func() // closes the idle connections of a transport that New made
}

var (
	errV1       = errors.New("is not an http or https URL without a path, such as https://core.internal:8443")
	errAge      = errors.New("is longer than 11h30m: v1 stores a signature for only 24 hours")
	errCurrency = errors.New(`is not an ISO 4217 code in lower case, such as "usd"`)
)

// New reads the credentials and returns a proxy. It does not call v1, so either may start first.
// The error names the invalid setting.
func New(cfg Config) (*Proxy, error) {
	p := &Proxy{idle: func() {}, metrics: metrics.New()}
	if cfg.Transport == nil {
		cfg.Transport, p.idle = newTransport(cfg)
	} else {
		cfg.Transport = upstream.Counted(cfg.Transport)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	cfg.Currency = cmp.Or(cfg.Currency, "usd")
	cfg.Concurrency = cmp.Or(cfg.Concurrency, 512)
	p.cfg = cfg
	p.admission = admission.New(admission.Config{
		Slots: cfg.Concurrency, Bytes: unfinishedBytes, Memory: memory, Grace: cfg.BodyGrace, Refused: p.metrics.Shed,
	})
	if err := cfg.check(); err != nil {
		return nil, err
	}
	executor, err := executor.New(executor.Config{
		V1: v1client.Config{
			URL: cfg.V1, Transport: cfg.Transport, CallTimeout: cfg.CallTimeout, Clock: cfg.Clock,
			Tracer: cfg.Tracer, Observe: p.metrics.Call, Log: cfg.Log, Hop: cfg.Hop,
			ObserveUnconfigured: p.metrics.Unconfigured,
		},
		TotalTimeout: cfg.TotalTimeout, DeduplicationSecret: cfg.DeduplicationSecret,
		DeduplicationSecretOther: cfg.DeduplicationSecretOther, ObserveReplay: p.metrics.Replay,
	})
	if err != nil {
		return nil, fmt.Errorf("compat-proxy: %w", err)
	}
	p.executor = executor
	p.metrics.DeduplicationSecret(deduplication.SecretFingerprint(cfg.DeduplicationSecret))
	if p.logins, err = credentials.Open(cfg.Credentials, cfg.Clock, cfg.Log, p.metrics.CredentialsRead); err != nil {
		return nil, fmt.Errorf("compat-proxy: %w", err)
	}
	p.metrics.CredentialsBroken(func() bool { return p.logins.Broken(context.Background()) })
	p.serveDialects(cfg)
	return p, nil
}

// serveDialects makes the handlers of both dialects.
func (p *Proxy) serveDialects(cfg Config) {
	limiter := attempts.New(attempts.Config{
		Clock: cfg.Clock, Log: cfg.Log, Forwarded: !cfg.Hop.IsZero(),
		Observe: p.metrics.LoginAttempt,
	})
	numbers := id.NewGenerator(cfg.Clock)
	newNumber := func() string { return strconv.FormatInt(numbers.Next(), 10) }
	common := dialect.Config{
		Executor: p.executor, Clock: cfg.Clock, NewNumber: newNumber, Currency: cfg.Currency, MaxBytes: maxBody,
		Attempts: limiter, Observe: p.metrics.Request,
	}
	p.providerA = providera.New(providera.Config{Config: common, Logins: p.logins, LenientOrder: cfg.LenientOrder})
	p.providerB = providerb.New(providerb.Config{
		Config: common, Verifier: cfg.verifier(p.logins), DecryptionKeys: p.logins,
	})
}

// Handler serves the compatibility endpoints, with request ids, logs, traces and security headers.
func (p *Proxy) Handler() http.Handler {
	mux := http.NewServeMux()
	// This is the health of this program alone. If v1 is unavailable, all its proxies are affected, so
	// a load balancer should not remove one.
	p.route(mux, "GET /health", health.Handler(p.cfg.Log, nil))
	p.route(mux, "GET /compat/methods", http.HandlerFunc(methods))
	mux.Handle("/compat/methods", methodNotAllowed("GET, HEAD"))
	limited := p.limited(http.HandlerFunc(providera.Busy), p.providerA)
	paths := []string{catalogue.PathA}
	if p.cfg.DropInPaths {
		paths = append(paths, dropin.PathA)
	}
	for _, path := range paths {
		paths = append(paths, path+"/{$}") // some clients add a slash
	}
	for _, endpoint := range paths {
		p.route(mux, "POST "+endpoint, limited)
		p.route(mux, "OPTIONS "+endpoint, http.HandlerFunc(providera.Options))
		mux.Handle(endpoint, methodNotAllowed("OPTIONS, POST"))
	}
	p.route(mux, "POST "+rpcPath, p.limited(http.HandlerFunc(rpc.Busy), p.rpc()))
	mux.Handle(rpcPath, methodNotAllowed("POST"))
	mux.Handle("/", refuse(http.StatusNotFound, "route_not_found", textNoRoute, ""))
	recovered := httpx.Recover(providera.Broken, p.cfg.Log, p.withDeadline(p.providerBRoutes(rejectUncleanPaths(mux))))
	logged := httpx.LogRequests(p.cfg.Log, p.cfg.Clock, p.dated(httpx.SecurityHeaders(recovered)))
	return httpx.RequestID(httpx.ClientAddress(p.cfg.Hop, httpx.Trace(p.cfg.Tracer, logged)))
}

// dated sets Date to the time of the proxy's clock. A client that looks for a payment whose
// response it lost compares that with its own clock.
func (p *Proxy) dated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", p.cfg.Clock.Now().UTC().Format(http.TimeFormat))
		next.ServeHTTP(w, r)
	})
}

// limited bounds the requests of next. They count towards one bound for all dialects.
func (p *Proxy) limited(busy, next http.Handler) http.Handler {
	return p.admission.Handler(p.metrics.Busy(busy), p.metrics.Served(next))
}

// withDeadline gives each request one deadline for all its commands.
func (p *Proxy) withDeadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := p.executor.Begin(r.Context())
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// rpcPath is the path at which every method of the catalogue can be called by its RPC name.
const rpcPath = "/compat/rpc"

// rpc returns the RPC endpoint of the dialects.
func (p *Proxy) rpc() http.Handler {
	dialects := map[string]rpc.Dialect{catalogue.ProviderA: p.providerA, catalogue.ProviderB: p.providerB}
	endpoint := &rpc.Handler{Methods: map[string]rpc.Method{}, MaxBytes: maxBody, MayBegin: p.executor.MayBegin}
	for _, m := range catalogue.Methods() {
		endpoint.Methods[m.RPC] = rpc.Method{Dialect: dialects[m.Provider], Name: m.Name}
	}
	return endpoint
}

// Reload reads the credentials file and the secrets that it names, even if the file did not change.
// An error leaves the logins as they were.
func (p *Proxy) Reload() error { return p.logins.Reload() }

// Close closes the idle connections. It does not interrupt requests.
func (p *Proxy) Close() { p.idle() }

// route registers h and puts the pattern into the request's log event.
func (p *Proxy) route(mux *http.ServeMux, pattern string, h http.Handler) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		httpx.EventFrom(r.Context()).SetRoute(r.Pattern)
		h.ServeHTTP(w, r)
	})
}

// methodNotAllowed responds to a method that the path does not support.
func methodNotAllowed(allow string) http.Handler {
	return refuse(http.StatusMethodNotAllowed, "method_not_allowed", v1.MessageNoMethod, allow)
}

// refuse responds in v1's error form to a request that reaches no dialect.
func refuse(status int, code, message, allow string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpx.EventFrom(r.Context()).SetOutcome(code)
		if allow != "" {
			w.Header().Set("Allow", allow)
		}
		w.Header().Set("Content-Type", "application/json")
		refusal := v1.Error{
			Type: v1.ErrorTypeInvalidRequestError, Code: code, Message: message, Status: status,
			RequestID: httpx.RequestIDFrom(r.Context()),
		}
		body, err := json.Marshal(refusal.Body())
		if err != nil {
			body = nil // not reached: the type is fixed
		}
		w.WriteHeader(status)
		_, _ = w.Write(body) // if the client is gone, nothing is lost
	})
}

// rejectUncleanPaths rejects paths with empty or dotted segments. The mux would redirect them, and
// legacy clients follow no redirect. It also rejects "OPTIONS *", as core and Envoy do: the mux
// would send no body.
func rejectUncleanPaths(next http.Handler) http.Handler {
	wrong := refuse(http.StatusNotFound, "route_not_found", textNoRoute, "")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		clean := path.Clean(r.URL.Path)
		if r.RequestURI == "*" || clean != r.URL.Path && clean+"/" != r.URL.Path {
			wrong.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// methods lists the catalogue.
func methods(w http.ResponseWriter, _ *http.Request) {
	body, err := json.Marshal(struct {
		Object string             `json:"object"`
		Data   []catalogue.Method `json:"data"`
	}{"list", catalogue.Methods()})
	if err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // if the client is gone, nothing is lost
}

// check rejects settings that would fail later.
func (c Config) check() error {
	u, err := url.Parse(c.V1)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || (u.Path != "" && u.Path != "/") {
		return fmt.Errorf("compat-proxy: v1 %w", errV1)
	}
	if c.SignatureAge > credentials.MaxSignatureAge {
		return fmt.Errorf("compat-proxy: signature_age %s %w", c.SignatureAge, errAge)
	}
	if _, known := money.Lookup(c.Currency); !known {
		return fmt.Errorf("compat-proxy: currency %q %w", c.Currency, errCurrency)
	}
	return nil
}

// newTransport keeps many connections to its one host and ignores proxies of the environment,
// because card numbers must only go to v1. It also returns a function that closes the idle
// connections.
func newTransport(cfg Config) (http.RoundTripper, func()) {
	dial := (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	if strings.HasPrefix(strings.ToLower(cfg.V1), "http://") {
		plain := upstream.New(upstream.Config{Dial: dial, Clock: cfg.Clock})
		return plain, plain.CloseIdleConnections
	}
	secure := &http.Transport{
		DialContext:           dial,
		TLSClientConfig:       tlspolicy.Client(nil), // SSL_CERT_FILE replaces the system's authorities
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   5 * time.Second,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true,
		ResponseHeaderTimeout: 0, // CallTimeout bounds each attempt
	}
	return upstream.Counted(secure), secure.CloseIdleConnections
}
