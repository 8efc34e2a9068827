package api

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/docs"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/idempotency"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
	keyheader "github.com/causeway-pay/causeway/shared/idempotency"
)

const (
	merchantsPath = operator.Root + "/merchants"
	disablePath   = merchantsPath + "/{id}/disable"
)

// operatorsAtOnce is how many operators' requests are served at the same time.
const operatorsAtOnce = 32

// Operator serves the operator's API. The role of an operator's token decides which routes it may
// use.
type Operator struct {
	*API
	failures failures
}

// operatorRoute is one line of the operator's contract.
type operatorRoute struct {
	method, path string
	action       string   // the name of the audit record; "" for a route that only reads
	roles        []string // that may use it besides operator
	handle       func(w http.ResponseWriter, r *http.Request, left *trail) error
}

// trail is the data that a handler provides for the audit record and the log line of its request.
type trail struct {
	merchant, key string
	step          string // the unfinished step, or the capture of the exception, that was resolved
	operator      string // the operator token that was made or revoked
	account       string // the acquirer account
	outcome       string // of a response that the engine did not record: replayed, or the code of a refusal
}

// object returns the id that the audit record names.
func (t trail) object() string { return cmp.Or(t.operator, t.account, t.step, t.key, t.merchant) }

// Operator returns the operator's API. Serve it on another port than v1.
func (a *API) Operator() http.Handler {
	o := &Operator{API: a}
	h := admission.New(admission.Config{Slots: operatorsAtOnce}).Handler(a.refusing(codeOverloaded), o.router())
	h = httpx.Recover(func(w http.ResponseWriter, r *http.Request) { a.refuse(w, r, &fault{code: codeInternal}) }, a.Log, h)
	h = httpx.Trace(a.Tracer, httpx.LogRequests(a.Log, a.Clock, httpx.SecurityHeaders(h)))
	return httpx.RequestID(httpx.ClientAddress(a.HopSecret, h))
}

func (o *Operator) routes() []operatorRoute {
	reads, announces := []string{auth.RoleAuditor}, []string{auth.RoleFilter}
	const operators, keys = operator.Root + "/operators", merchantsPath + "/{id}/api_keys"
	return append(o.accountRoutes(reads), []operatorRoute{
		{http.MethodGet, merchantsPath, "", reads, o.listMerchants},
		{http.MethodPost, merchantsPath, "merchants.create", nil, o.changing(o.createMerchant)},
		{http.MethodGet, merchantsPath + "/{id}", "", reads, o.getMerchant},
		{http.MethodPatch, merchantsPath + "/{id}", "merchants.update", nil, o.changing(o.updateMerchant)},
		{http.MethodPost, disablePath, "merchants.disable", nil, o.changing(o.switchMerchant(true))},
		{http.MethodPost, merchantsPath + "/{id}/enable", "merchants.enable", nil, o.changing(o.switchMerchant(false))},
		{http.MethodPost, merchantsPath + "/{id}/events", "events.announce", announces, o.changing(o.announce)},
		{http.MethodPost, operator.Root + "/events", "events.broadcast", announces, o.changing(o.broadcast)},
		{http.MethodGet, keys, "", reads, o.listMerchantKeys},
		{http.MethodPost, keys, "api_keys.create", nil, o.changing(o.createMerchantKey)},
		{http.MethodDelete, keys + "/{key}", "api_keys.revoke", nil, o.revokeMerchantKey},
		{http.MethodPost, keys + "/{key}/roll", "api_keys.roll", nil, o.changing(o.rollMerchantKey)},
		{http.MethodGet, operators, "", reads, o.listOperators},
		{http.MethodPost, operators, "operators.create", nil, o.changing(o.createOperator)},
		{http.MethodDelete, operators + "/{id}", "operators.revoke", nil, o.revokeOperator},
		{http.MethodGet, operator.Root + "/audit_records", "", reads, o.listAudit},
		{http.MethodGet, stepsPath, "", reads, o.listSteps},
		{http.MethodGet, stepsPath + "/{id}", "", reads, o.getStep},
		{http.MethodPost, stepsPath + "/{id}/resolve", "steps.resolve", nil, o.changing(o.resolveStep)},
		{http.MethodGet, exceptionsPath, "", reads, o.listExceptions},
		{http.MethodGet, exceptionsPath + "/{id}", "", reads, o.getException},
		{http.MethodPost, exceptionsPath + "/{id}/resolve", "settlements.resolve", nil, o.changing(o.resolveException)},
	}...)
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
	m.Methods(http.MethodGet).Path(contract).HandlerFunc(document)
	for path, methods := range allowed {
		m.Path(path).Handler(o.methodNotAllowed(httpx.Allow(path, methods...)))
	}
	m.NotFoundHandler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.refuse(w, r, &fault{code: codeRouteNotFound})
	})
	return m
}

// admitted admits only requests with a valid operator token, and logs a line for each request.
func (o *Operator) admitted(rt operatorRoute) http.Handler {
	name := rt.method + " " + rt.path
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpx.EventFrom(r.Context()).SetRoute(name)
		op := &operation{route: rt, outcome: outcomePanic}
		defer func() { o.recorded(r, name, op) }() // also when the handler panics
		r, err := o.login(r, rt)
		op.actor = o.actor(r)
		if err == nil {
			err = o.untimely(rt)
		}
		if err == nil {
			err = rt.handle(w, r, &op.left)
		}
		op.outcome = cmp.Or(op.left.outcome, audit.Done)
		if err != nil {
			op.outcome = faultOf(err).code
			o.refuse(w, r, err)
		}
	})
}

// operation is one request of an operator: what its audit record needs.
type operation struct {
	route   operatorRoute
	actor   audit.Actor // zero if the request was not an operator's
	left    trail
	outcome string
}

// outcomePanic is the outcome of a request whose handler panicked.
const outcomePanic = "panic"

// recorded writes the audit record of a changing request that the engine did not record, because it
// was refused, failed or repeated. It also writes the log line of every request.
func (o *Operator) recorded(r *http.Request, name string, op *operation) {
	ctx := context.WithoutCancel(r.Context())
	if op.route.action != "" && op.outcome != audit.Done {
		req := engine.Request{ID: httpx.RequestIDFrom(ctx), Actor: op.actor}
		err := o.Engine.Recorded(ctx, req, engine.Action{Name: op.route.action, Object: op.left.object()}, op.outcome)
		if err != nil {
			o.Log.ErrorContext(ctx, "operator: the audit record was not written", slog.String("action", op.route.action), slog.Any("error", err))
		}
	}
	o.Log.InfoContext(ctx, "audit", slog.String("actor", cmp.Or(op.actor.Name, "none")), slog.String("route", name),
		slog.String("client_address", httpx.ClientAddressFrom(ctx)), slog.String("merchant", op.left.merchant),
		slog.String("api_key", op.left.key), slog.String("outcome", op.outcome), slog.String("request_id", httpx.RequestIDFrom(ctx)))
}

// untimely refuses the requests that a core with a wrong clock must not carry out. The core may
// still revoke a key or take a merchant or account out of service, because these requests cannot
// wait.
func (o *Operator) untimely(rt operatorRoute) error {
	if rt.method == http.MethodDelete || rt.path == disablePath || rt.path == accountDisablePath {
		return nil
	}
	if f := o.clockFault(rt.method, rt.path); f != nil {
		return f
	}
	return nil
}

// merchantID reads the merchant in the path, and puts its id into the audit line.
func merchantID(r *http.Request, left *trail) (int64, error) {
	n, err := pathID(r, id.Merchant)
	if err == nil {
		left.merchant = id.Format(id.Merchant, n)
	}
	return n, err
}

// operatorCommand is a command of the operator's API.
type operatorCommand func(c *call, left *trail) (engine.Result, error)

// changing returns the handler of an operator's POST or PATCH, like API.changing.
func (o *Operator) changing(run operatorCommand) func(http.ResponseWriter, *http.Request, *trail) error {
	return func(w http.ResponseWriter, r *http.Request, left *trail) error {
		body, err := readBody(w, r)
		if err != nil {
			return err
		}
		req, err := o.operatorRequest(r, body)
		if err != nil {
			return err
		}
		c := &call{Request: r, request: req, body: body}
		err = o.carryOut(w, c, func(c *call) (engine.Result, error) { return run(c, left) })
		switch {
		case c.sent.Replayed:
			left.outcome = audit.Replayed
		case c.sent.Status >= http.StatusBadRequest:
			left.outcome = outcomeName(&c.sent)
		}
		return err
	}
}

// operatorRequest returns an operator's changing request with its idempotency key, for the engine.
func (o *Operator) operatorRequest(r *http.Request, body []byte) (engine.Request, error) {
	key, err := keyheader.Key(r.Header)
	if err != nil {
		return engine.Request{}, err
	}
	out := engine.Request{Tenant: engine.Operator(), ID: httpx.RequestIDFrom(r.Context()), Actor: o.actor(r)}
	if key != "" {
		out.Key = idempotency.Name(o.IdempotencyKey, key, false)
		out.Fingerprint = idempotency.Fingerprint(o.IdempotencyKey, r.Method, r.URL.Path, body)
	}
	return out, nil
}
