package keyapi

import (
	"log/slog"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/identity"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
	"github.com/causeway-pay/causeway/shared/httpx"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Root is the prefix of the paths of this package.
const Root = "/v1/mle/"

// Config holds the parts of the API. All fields are required.
type Config struct {
	Keys     *keyring.Keyring
	Identity *identity.Resolver
	// Requirements returns the announced requirements.
	Requirements func() []v1.MLERequirement
	Log          *slog.Logger
}

// API serves the paths below Root.
type API struct {
	Config
	mux       *http.ServeMux
	versioned http.Handler // mux, for requests for this version
}

// route is one endpoint of the contract.
type route struct {
	method, path string
	access       access
	handle       func(w http.ResponseWriter, r *http.Request, tenant string) *engine.Problem
}

// access is the API key that a route requires.
type access int

const (
	anyKey    access = iota
	secretKey        // to read
	writer           // a secret key with the scope mle:write
)

const scopeWrite = "mle:write"

// New returns the API. The caller adds the middleware that gives requests their ids and log events.
func New(cfg Config) *API {
	a := &API{Config: cfg, mux: http.NewServeMux()}
	paths := map[string]methods{}
	for _, rt := range a.routes() {
		if paths[rt.path] == nil {
			paths[rt.path] = methods{}
		}
		paths[rt.path][rt.method] = a.admitted(rt)
	}
	for pattern, handlers := range paths {
		if get, ok := handlers[http.MethodGet]; ok {
			handlers[http.MethodHead] = get
		}
		allow := httpx.Allow(pattern, slices.Collect(maps.Keys(handlers))...)
		a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { a.byMethod(w, r, handlers, allow) })
	}
	a.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { a.refuse(w, r, problem(codeRouteNotFound)) })
	a.versioned = httpx.Versioned(
		func(w http.ResponseWriter, r *http.Request) { a.refuse(w, r, at(codeUnknownVersion, v1.VersionField)) }, a.mux)
	return a
}

// methods are the handlers of one path. ServeMux gets no methods, because it would reject the
// patterns keys/current and DELETE keys/{kid} as ambiguous.
type methods map[string]http.Handler

func (a *API) byMethod(w http.ResponseWriter, r *http.Request, handlers methods, allow string) {
	if h, ok := handlers[r.Method]; ok {
		h.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Allow", allow)
	a.refuse(w, r, problem(codeMethodNotAllowed))
}

// ServeHTTP serves a request whose path begins with Root. It rejects a path with empty or dotted
// segments, which ServeMux would redirect with an HTML page.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path.Clean(r.URL.Path) != r.URL.Path {
		a.refuse(w, r, problem(codeRouteNotFound))
		return
	}
	a.versioned.ServeHTTP(w, r)
}

func (a *API) routes() []route {
	return []route{
		{http.MethodGet, Root + "keys/current", anyKey, a.getCurrent},
		{http.MethodGet, Root + "keys", secretKey, a.listKeys},
		{http.MethodPost, Root + "keys/rotate", writer, a.rotate},
		{http.MethodDelete, Root + "keys/{kid}", writer, a.endKey},
		{http.MethodGet, Root + "response_keys", secretKey, a.listResponseKeys},
		{http.MethodPost, Root + "response_keys", writer, a.register},
		{http.MethodPost, Root + "response_keys/{kid}/challenge", writer, a.prove},
		{http.MethodDelete, Root + "response_keys/{kid}", writer, a.deleteResponseKey},
	}
}

// admitted returns the handler of a route, which passes requests that may use the route. It queries
// core for the API key each time, so a revoked or expired key has no access.
func (a *API) admitted(rt route) http.Handler {
	name := rt.method + " " + rt.path
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpx.EventFrom(r.Context()).SetRoute(name)
		caller, p := a.Identity.Fresh(r.Context(), r.Header)
		switch {
		case p != nil:
		case caller.Publishable && rt.access != anyKey:
			p = problem(codePublishableKey)
		case rt.access == writer && !caller.Has(scopeWrite):
			p = problem(codeInsufficientScope)
		default:
			httpx.EventFrom(r.Context()).SetTenant(caller.Tenant())
			httpx.EventFrom(r.Context()).SetWord(httpx.WordAPIKey, caller.Key)
			p = rt.handle(w, r, caller.Tenant())
		}
		if p != nil {
			a.refuse(w, r, p)
		}
	})
}

// refuse responds with a problem. It logs the cause of a fault on our side.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, p *engine.Problem) {
	p = shell.Of(r.Context(), p)
	if p.Status >= http.StatusInternalServerError && p.Cause != nil {
		a.Log.ErrorContext(r.Context(), "mle-filter: a request for keys failed", slog.String("code", p.Code),
			slog.String("request_id", httpx.RequestIDFrom(r.Context())),
			slog.Any("error", p.Cause))
	}
	h := w.Header()
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	outcome := p.Code
	if outcome == codeUnavailable {
		outcome = httpx.OutcomeBusy // the key is being made, which is no fault
	}
	httpx.EventFrom(r.Context()).SetOutcome(outcome)
	h.Set("Cache-Control", "no-store")
	write(w, p.Status, p.Body(httpx.RequestIDFrom(r.Context())))
}

func write(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
}
