package api

import (
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gorilla/mux"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/docs"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/ratelimit"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/telemetry"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// maxBody is the longest body in bytes.
const maxBody = 256 << 10

// TestMethods are the payment methods that exist in test mode only.
type TestMethods interface {
	// Fixture returns the card a test payment method stands for.
	Fixture(paymentMethod string) (acquirer.Card, bool)
	// DefaultPaymentMethod is the test card that `card` without card details stands for.
	DefaultPaymentMethod() string
}

// Config configures an API. All fields are required, except RateLimit and the fields whose comment
// permits nil or zero.
type Config struct {
	Store          Reader
	Engine         *engine.Engine
	Auth           *auth.Authenticator
	Accounts       *account.Accounts // of live mode; nil for none, and without the operator's API
	Clock          clock.Clock
	ClockOffset    func() (ahead time.Duration, agrees bool) // of Clock to the store's clock; nil if the store has none
	Log            *slog.Logger
	Observe        func(httpx.Sample) // receives every request; may be nil
	Tracer         *telemetry.Tracer  // nil for no spans
	Test           TestMethods
	Cards          []docs.Card         // the test cards, to show
	Triggers       []docs.Trigger      // the other triggers of the simulator, to show
	FingerprintKey []byte              // for card fingerprints
	IdempotencyKey []byte              // for request fingerprints
	Concurrent     int                 // concurrent requests; more are refused with 503
	BodyGrace      time.Duration       // of admission.Config
	RateLimit      *ratelimit.Limiter  // nil sets none
	DeclineLimit   *ratelimit.Declines // of declined confirmations by publishable keys; nil sets none
	WebhookPolicy  webhook.Policy
	FilterSecret   secret.String       // of the filter in front; zero for none
	HopSecret      secret.String       // authenticates the client address that the hop in front forwards; zero for none
	FilterToken    secret.String       // the token of mle-filter and the edge, with the role filter-identify; zero for none
	LoggedIn       func(result string) // counts the logins of operators; may be nil
}

// API serves v1.
type API struct {
	Config
	handler       http.Handler
	confirmations confirmations
	requirements  requirements
}

// route is one line of the contract.
type route struct {
	method, path string
	scope        string // by apikey.Permits; "" for any key
	handle       handler
}

// publishable reports whether public keys may use the route.
func (r route) publishable() bool {
	return r.method == http.MethodPost && (r.scope == apikey.ScopeTokensCreate || r.scope == apikey.ScopePaymentsConfirm)
}

// handler serves an authenticated request. The table of codes turns its error into a response.
type handler func(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error

// New returns the API.
func New(c Config) *API {
	if c.LoggedIn == nil {
		c.LoggedIn = func(string) {}
	}
	a := &API{Config: c}
	h := a.admit(a.router())
	h = httpx.Recover(func(w http.ResponseWriter, r *http.Request) { a.refuse(w, r, &fault{code: codeInternal}) }, c.Log, h)
	h = httpx.SecurityHeaders(httpx.CrossOrigin(httpx.Versioned(a.refuseVersion, a.behindFilter(h))))
	var observers []func(httpx.Sample)
	if c.Observe != nil {
		observers = append(observers, c.Observe)
	}
	h = httpx.LogRequests(c.Log, c.Clock, h, observers...)
	a.handler = httpx.RequestID(httpx.ClientAddress(c.HopSecret, httpx.Trace(c.Tracer, h)))
	return a
}

// refuseVersion refuses a request for a version that does not exist.
func (a *API) refuseVersion(w http.ResponseWriter, r *http.Request) {
	a.refuse(w, r, &fault{code: codeUnknownVersion, param: v1.VersionField})
}

// ServeHTTP serves every path. An unknown path gets v1's 404.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.setDate(w.Header())
	a.handler.ServeHTTP(w, r)
}

func (a *API) routes() []route {
	return slices.Concat(a.transactionRoutes(), a.captureRoutes(), a.refundRoutes(), a.settlementDayRoutes(), a.tokenRoutes(), a.customerRoutes(), a.methodRoutes(),
		a.shippingAddressRoutes(), a.keyRoutes(), a.idempotencyRoutes(), a.eventRoutes(), a.webhookRoutes(), a.testHelperRoutes())
}

func (a *API) router() *mux.Router {
	m := mux.NewRouter().SkipClean(true).UseEncodedPath() // an encoded slash is part of an id, never a separator
	allowed := map[string][]string{healthPath: {http.MethodGet, http.MethodHead}}
	paths := []string{healthPath} // in the order of the routes: a literal segment goes before a variable one
	for _, r := range a.routes() {
		m.Methods(r.method).Path(r.path).Handler(a.authenticated(r))
		if allowed[r.path] == nil {
			paths = append(paths, r.path)
		}
		allowed[r.path] = append(allowed[r.path], r.method)
	}
	m.Methods(http.MethodGet, http.MethodHead).Path(healthPath).HandlerFunc(a.health) // load balancers send HEAD
	m.Methods(http.MethodGet, http.MethodHead).Path(requirementsPath).HandlerFunc(a.listRequirements)
	paths, allowed[requirementsPath] = append(paths, requirementsPath), []string{http.MethodGet, http.MethodHead}
	for _, path := range a.showContract(m) {
		paths, allowed[path] = append(paths, path), []string{http.MethodGet, http.MethodHead}
	}
	for _, path := range paths {
		m.Path(path).Handler(a.methodNotAllowed(httpx.Allow(path, allowed[path]...)))
	}
	m.NotFoundHandler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.refuse(w, r, &fault{code: codeRouteNotFound})
	})
	return m
}

func (a *API) methodNotAllowed(allow string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", allow)
		a.refuse(w, r, &fault{code: codeMethodNotAllowed})
	})
}

// authenticated identifies the merchant of a request and checks the scope of its key, before it
// reads anything else.
func (a *API) authenticated(rt route) http.Handler {
	name := rt.method + " " + rt.path
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		event := httpx.EventFrom(r.Context())
		event.SetRoute(name)
		k, err := a.key(r)
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		httpx.SetID(w, r, httpx.WordAPIKey, id.Format(id.APIKey, k.ID))
		logAddressed(w, r)
		event.SetTenant(id.Format(id.Merchant, k.Tenant.Merchant) + "/" + string(mode(k.Tenant)))
		if err := a.permit(w, r, rt, k); err != nil {
			a.refuse(w, r, err)
			return
		}
		if err := rt.handle(w, r, k); err != nil {
			a.refuse(w, r, a.ended(k, err))
		}
	})
}

// permit returns the first reason to refuse a request with a valid key. It counts the request
// towards the limits of its client.
func (a *API) permit(w http.ResponseWriter, r *http.Request, rt route, k *payment.APIKey) error {
	public := k.Kind == string(apikey.Publishable)
	forbidden := public && !rt.publishable()
	if f := restrictionFault(r, k); f != nil { // it counts towards no limit, so it disturbs no other request
		return f
	}
	if !a.allow(w, r, k, forbidden && rt.path != currentKeyPath) {
		return &fault{code: codeRateLimited}
	}
	if err := identify(r, k); err != nil {
		return err
	}
	if forbidden && (rt.path != currentKeyPath || !a.fromFilter(r)) {
		return &fault{code: codePublishableKey}
	}
	if len(r.Header["Origin"]) > 0 && !public { // only browsers send it
		return &fault{code: codeSecretKeyInBrowser}
	}
	if rt.scope != "" {
		if err := needScope(k, rt.scope); err != nil {
			return err
		}
	}
	if hasEncryptedBody(r) {
		return &fault{code: codeUnsupportedMediaType, param: "Content-Type"}
	}
	if f := a.clockFault(rt.method, rt.path); f != nil {
		return f
	}
	return nil
}

// restrictionFault refuses a key at an address or on a web page that is not on its lists. A request
// without an Origin passes: no browser sent it, and any other program can send each Origin.
func restrictionFault(r *http.Request, k *payment.APIKey) *fault {
	switch {
	case !k.AllowsAddress(httpx.ClientAddressFrom(r.Context())):
		return &fault{code: codeAddressNotAllowed}
	case !k.AllowsOrigins(r.Header["Origin"]):
		return &fault{code: codeOriginNotAllowed}
	}
	return nil
}

// needScope refuses a key without the scope. The message names the scope to grant.
func needScope(k *payment.APIKey, scope string) error {
	if apikey.Permits(apikey.Kind(k.Kind), k.Scopes, scope) {
		return nil
	}
	return &fault{code: codeInsufficientScope, message: v1.MessageNoScope(apikey.Grantable(scope))}
}

// allow counts the request towards the rate limits of its payer, its key and its merchant, and sets
// the header fields that show them. A request for which the key lacks the right counts only towards
// the payer's limit.
func (a *API) allow(w http.ResponseWriter, r *http.Request, k *payment.APIKey, forbidden bool) bool {
	if a.RateLimit == nil {
		return true
	}
	take := a.RateLimit.Take
	if forbidden {
		take = a.RateLimit.TakeForbidden
	}
	v := take(limitedClient(r, k), a.Clock.Now())
	showLimit(w, v)
	return v.Allowed
}

// limitedClient returns the client that a request counts towards.
func limitedClient(r *http.Request, k *payment.APIKey) ratelimit.Client {
	public := k.Kind == string(apikey.Publishable)
	group := ratelimit.Group{Merchant: k.Tenant.Merchant, Live: k.Tenant.Live, Public: public}
	client := ratelimit.Client{Key: k.ID, Group: group}
	if public {
		client.Payer = httpx.OwnAddressFrom(r.Context())
	}
	return client
}

// showLimit sets the header fields that show a verdict.
func showLimit(w http.ResponseWriter, v ratelimit.Verdict) {
	if v.Policy != "" {
		w.Header().Set("RateLimit-Policy", v.Policy)
		w.Header().Set("RateLimit", v.Field())
	}
	if !v.Allowed {
		w.Header().Set("Retry-After", strconv.Itoa(v.RetryAfter))
	}
}

// key resolves the request's API key.
func (a *API) key(r *http.Request) (*payment.APIKey, error) {
	token, ok := httpx.Bearer(r.Header["Authorization"])
	if !ok {
		return nil, &fault{code: codeInvalidAPIKey}
	}
	k, err := a.Auth.Authenticate(r.Context(), token)
	if err != nil {
		return nil, authFault(err)
	}
	return k, nil
}

// write sends a JSON response. It refuses to send a long one if the client holds its share of the
// memory with others.
func (a *API) write(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	if err := admission.Received(r.Context(), r.Method, int64(len(body))); err != nil {
		a.refuse(w, r, err)
		return
	}
	h := w.Header()
	h["Content-Type"] = contentType
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		a.Log.DebugContext(r.Context(), "response not delivered", "error", err)
	}
}

var contentType = []string{"application/json"}

// respond sends the response to a changing request.
func (a *API) respond(w http.ResponseWriter, r *http.Request, out engine.Result, err error) error {
	if err != nil {
		return err
	}
	if out.Replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	name := outcomeName(&out)
	if s, ok := retryAfter[name]; ok {
		w.Header().Set("Retry-After", strconv.Itoa(s))
	}
	httpx.EventFrom(r.Context()).SetOutcome(name)
	logObject(w, r, out.Status, out.Body)
	a.write(w, r, out.Status, out.Body)
	return nil
}
