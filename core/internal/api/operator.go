package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"strings"

	"github.com/gorilla/mux"

	"github.com/causeway-pay/causeway/core/internal/docs"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/idempotency"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
	keyheader "github.com/causeway-pay/causeway/shared/idempotency"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	merchantsPath = operator.Root + "/merchants"
	disablePath   = merchantsPath + "/{id}/disable"
)

// operatorsAtOnce is how many operators' requests are served at once.
const operatorsAtOnce = 32

// Operator serves the operator's API, to whoever has the token. With the zero token it serves nobody.
type Operator struct {
	*API
	token secret.String
}

// operatorRoute is one line of the operator's contract.
type operatorRoute struct {
	method, path string
	handle       func(w http.ResponseWriter, r *http.Request, seen *audit) error
}

// audit is what the line about a call names besides the call itself.
type audit struct{ merchant, key string }

// Operator returns the operator's API beside v1. It is for a port of its own.
func (a *API) Operator(token secret.String) http.Handler {
	o := &Operator{a, token}
	full := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.refuse(w, r, &fault{code: codeOverloaded}) })
	h := httpx.Limit(operatorsAtOnce, full, o.router())
	h = httpx.Recover(func(w http.ResponseWriter, r *http.Request) { a.refuse(w, r, &fault{code: codeInternal}) }, a.log, h)
	h = httpx.Trace(a.Tracer, httpx.LogRequests(a.log, a.Clock, httpx.SecurityHeaders(h)))
	return httpx.RequestID(a.IDs, httpx.ClientAddress(a.HopSecret, h))
}

func (o *Operator) routes() []operatorRoute {
	return []operatorRoute{
		{http.MethodGet, merchantsPath, o.listMerchants},
		{http.MethodPost, merchantsPath, o.changing(o.createMerchant)},
		{http.MethodGet, merchantsPath + "/{id}", o.getMerchant},
		{http.MethodPatch, merchantsPath + "/{id}", o.changing(o.updateMerchant)},
		{http.MethodPost, disablePath, o.changing(o.switchMerchant(true))},
		{http.MethodPost, merchantsPath + "/{id}/enable", o.changing(o.switchMerchant(false))},
		{http.MethodPost, merchantsPath + "/{id}/events", o.changing(o.announce)},
		{http.MethodPost, operator.Root + "/events", o.changing(o.broadcast)},
		{http.MethodGet, merchantsPath + "/{id}/api_keys", o.listMerchantKeys},
		{http.MethodPost, merchantsPath + "/{id}/api_keys", o.changing(o.createMerchantKey)},
		{http.MethodDelete, merchantsPath + "/{id}/api_keys/{key}", o.revokeMerchantKey},
		{http.MethodPost, merchantsPath + "/{id}/api_keys/{key}/roll", o.changing(o.rollMerchantKey)},
	}
}

func (o *Operator) router() *mux.Router {
	const contract = operator.Root + "/openapi.json"
	m := mux.NewRouter().SkipClean(true).UseEncodedPath()
	allowed := map[string][]string{contract: {http.MethodGet}}
	for _, r := range o.routes() {
		m.Methods(r.method).Path(r.path).Handler(o.admitted(r))
		allowed[r.path] = append(allowed[r.path], r.method)
	}
	document := o.document("application/json", docs.New(docs.Source{Contract: operator.OpenAPI()}).Contract)
	m.Methods(http.MethodGet).Path(contract).HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o.token.IsZero() {
			o.refuse(w, r, &fault{code: codeOperatorOff})
			return
		}
		document(w, r)
	})
	for path, methods := range allowed {
		m.Path(path).Handler(o.methodNotAllowed(methods))
	}
	m.NotFoundHandler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.refuse(w, r, &fault{code: codeRouteNotFound})
	})
	return m
}

// admitted lets the operator through and nobody else, and leaves a line about either.
func (o *Operator) admitted(rt operatorRoute) http.Handler {
	name := rt.method + " " + rt.path
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpx.EventFrom(r.Context()).SetRoute(name)
		var seen audit
		who, err := "nobody", o.whyNot(r)
		if err == nil {
			who = "operator"
			err = o.untimely(rt)
		}
		if err == nil {
			err = rt.handle(w, r, &seen)
		}
		outcome := "done"
		if err != nil {
			outcome = faultOf(err).code
			o.refuse(w, r, err)
		}
		o.log.InfoContext(r.Context(), "audit", slog.String("who", who), slog.String("what", name), slog.String("merchant", seen.merchant),
			slog.String("api_key", seen.key), slog.String("outcome", outcome), slog.String("request_id", httpx.RequestIDFrom(r.Context())))
	})
}

// untimely refuses what a core that cannot tell the time must not do. It can end a key and serve a merchant no longer: that is not put off.
func (o *Operator) untimely(rt operatorRoute) error {
	if rt.method == http.MethodDelete || rt.path == disablePath {
		return nil
	}
	if f := o.clockFault(rt.method, rt.path); f != nil {
		return f
	}
	return nil
}

// whyNot is why a request is not the operator's. Hashes are compared, so that the time it takes tells nothing of the token, its length included.
func (o *Operator) whyNot(r *http.Request) error {
	if o.token.IsZero() {
		return &fault{code: codeOperatorOff}
	}
	lines := r.Header["Authorization"]
	if len(lines) != 1 {
		return &fault{code: codeInvalidOperatorToken}
	}
	scheme, token, _ := strings.Cut(lines[0], " ")
	got, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(o.token.Reveal()))
	if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		return &fault{code: codeInvalidOperatorToken}
	}
	return nil
}

// merchantID reads the merchant of the path, and has the audit line name it.
func merchantID(r *http.Request, seen *audit) (int64, error) {
	n, err := pathID(r, id.Merchant)
	if err == nil {
		seen.merchant = id.Format(id.Merchant, n)
	}
	return n, err
}

// operatorCommand is a command of the operator's API.
type operatorCommand func(c *call, seen *audit) (engine.Answer, error)

// changing returns the handler of an operator's POST or PATCH, as changing of API does.
func (o *Operator) changing(run operatorCommand) func(http.ResponseWriter, *http.Request, *audit) error {
	return func(w http.ResponseWriter, r *http.Request, seen *audit) error {
		body, err := readBody(w, r)
		if err != nil {
			return err
		}
		req, err := o.operatorRequest(r, body)
		if err != nil {
			return err
		}
		c := &call{Request: r, request: req, body: body}
		return o.carryOut(w, c, func(c *call) (engine.Answer, error) { return run(c, seen) })
	}
}

// operatorRequest builds what the engine needs to know of a changing request.
func (o *Operator) operatorRequest(r *http.Request, body []byte) (engine.Request, error) {
	key, err := keyheader.Key(r.Header)
	if err != nil {
		return engine.Request{}, err
	}
	out := engine.Request{Tenant: engine.Operator(), ID: httpx.RequestIDFrom(r.Context()), Key: key}
	if key != "" {
		out.Fingerprint = idempotency.Fingerprint(o.IdempotencyKey, r.Method, r.URL.Path, body)
	}
	return out, nil
}
