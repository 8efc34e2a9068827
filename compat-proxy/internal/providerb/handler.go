package providerb

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/parity"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/envelope"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/idempotency"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Config holds the settings of a Handler. Verifier is required.
type Config struct {
	dialect.Config

	Verifier *auth.Verifier
	// DecryptionKeys open encrypted requests; nil accepts none.
	DecryptionKeys envelope.Keys
	// Prefix is the mount path of the handler, without a slash at its end; "" at the root.
	Prefix string
}

// Handler serves the dialect over HTTP.
type Handler struct {
	cfg Config
}

var _ http.Handler = (*Handler)(nil)

// New returns a handler.
func New(cfg Config) *Handler { return &Handler{cfg: cfg} }

// At returns the same handler at another mount path.
func (h *Handler) At(prefix string) *Handler {
	other := *h
	other.cfg.Prefix = prefix
	return &other
}

// call is an authenticated request.
type call struct {
	ctx    context.Context //nolint:containedctx // a call lives as long as its request
	id     string          // the id in the path, as sent
	req    *wire.Request
	caller auth.Caller
	scopes []string
	rules  parity.Rules
	kind   command.Kind // of the command that has the operation's effect; "" if it has none
	name   requestName
	now    time.Time
}

// newCall returns the call of a caller. holder is v1's record of the caller's API key.
func newCall(ctx context.Context, id string, caller auth.Caller, holder v1.APIKey, now time.Time) call {
	return call{
		ctx: ctx, id: id, caller: caller, scopes: holder.Scopes, now: now,
		rules: parity.For(catalogue.ProviderB, caller.Grant.Sandbox, holder.Mode),
	}
}

// ServeHTTP responds to one request. It authenticates the request before it interprets its path and
// body.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.cfg.Measure(func() (operation, class string) { return h.serve(w, r) })
}

// serve responds to the request, and returns its operation and the class of its outcome.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) (operation, class string) {
	start := h.cfg.Clock.Now()
	operation = dialect.MethodNone
	setCorrelationID(w, r)
	var out response
	body, err := admission.ReadBody(w, r, h.cfg.MaxBytes)
	switch {
	case errors.Is(err, admission.ErrTooLarge):
		httpx.Discard(w, r)
		out = messageResponse(http.StatusRequestEntityTooLarge,
			v1.MessageBodyTooLarge(strconv.FormatInt(h.cfg.MaxBytes, 10)+" bytes"), "too_large")
	case errors.Is(err, admission.ErrEncoding):
		out = messageResponse(http.StatusUnsupportedMediaType,
			"The content encoding is not supported. Send the body uncompressed.", "encoding")
	case errors.Is(err, admission.ErrSlow):
		out = messageResponse(http.StatusRequestTimeout, v1.MessageBodyTooSlow, "slow")
	case admission.IsBusy(err):
		out = tooBusy(start)
	case err != nil:
		out = messageResponse(http.StatusBadRequest, v1.MessageBodyNotReceived, "unreadable")
	default:
		operation, out = h.respond(r, body, start)
	}
	if out.outcome == httpx.OutcomeBusy {
		w.Header().Set("Retry-After", "1")
	}
	httpx.EventFrom(r.Context()).SetOutcome(out.outcome)
	write(w, mounted(h.withNumber(out), h.cfg.Prefix))
	return operation, out.class()
}

// respond does everything between the body and the response. It also returns the operation's name.
func (h *Handler) respond(r *http.Request, body []byte, now time.Time) (string, response) {
	target := r.URL.EscapedPath()
	if r.URL.RawQuery != "" {
		target += "?" + r.URL.RawQuery
	}
	caller, holder, refusal, admitted := h.admit(r.Context(), auth.Request{
		Method: r.Method, Host: r.Host, Target: target, Prefix: h.cfg.Prefix, Header: r.Header, Body: body,
	}, now)
	if !admitted {
		return dialect.MethodNone, encrypted(refusal, caller, now)
	}
	operation, out := h.dispatch(r, body, caller, holder, now)
	return operation, encrypted(out, caller, now)
}

// admit returns the request's caller and v1's record of its API key. It reports false, with the
// refusal, for any other request.
func (h *Handler) admit(
	ctx context.Context, r auth.Request, now time.Time,
) (caller auth.Caller, holder v1.APIKey, refusal response, admitted bool) {
	login, tried := loginOf(r.Header)
	judged := h.cfg.Admit(ctx, login, tried, func() dialect.Login {
		var err error
		if caller, err = h.cfg.Verifier.Verify(ctx, r); err != nil {
			refusal = unauthenticated()
			refusal.outcome = "unauthenticated: " + auth.Reason(err)
			return dialect.LoginRefused
		}
		if caller.Direct() && len(r.Header["Origin"]) > 0 {
			refusal = secretInBrowser()
			return dialect.LoginUndecided
		}
		holder, refusal, admitted = h.inspect(ctx, caller, now)
		switch {
		case admitted:
			return dialect.LoginAccepted
		case refusal.status == http.StatusUnauthorized:
			return dialect.LoginRefused
		}
		return dialect.LoginUndecided
	})
	if !judged {
		refusal = unauthenticated()
		refusal.outcome = "unauthenticated: too many attempts"
	}
	return caller, holder, refusal, admitted
}

// loginOf returns the login that a request tries, and its secret. A JWT names the merchant only
// inside, and many shops share an address, so the key that signed it is the login.
func loginOf(h http.Header) (login string, tried secret.String) {
	login, tried = h.Get("V-C-Merchant-Id"), auth.AttemptedSecret(h)
	if key := tried.Reveal(); login == "" && strings.HasPrefix(key, auth.SigningPrefix) {
		login = key
	}
	return login, tried
}

// dispatch returns the response to an authenticated caller.
func (h *Handler) dispatch(
	r *http.Request, body []byte, caller auth.Caller, holder v1.APIKey, now time.Time,
) (string, response) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), h.cfg.Prefix)
	if again, twice := strings.CutPrefix(path, h.cfg.Prefix); twice && strings.HasPrefix(again, "/") {
		path = again // from a client that joins its base URL with a link
	}
	op, id, allow, found := find(r.Method, path)
	from := origin{header: r.Header, caller: caller, target: path}
	if !found {
		if out, ok := h.bind(r.Context(), from, now); !ok {
			return dialect.MethodNone, out
		}
		return dialect.MethodNone, notFound(allow)
	}
	httpx.EventFrom(r.Context()).SetRoute(op.route(h.cfg.Prefix))
	if op.severalIDs && caller.SeveralIDs {
		from.shared = op.target(segmentID)
	}
	text, ok := h.decrypted(r.Context(), caller, body)
	if !ok {
		return op.Name, refused(now, textInvalid, "")
	}
	out := h.run(op, text, from, newCall(r.Context(), id, caller, holder, now))
	return op.Name, out
}

// run executes an operation for an authenticated caller.
func (h *Handler) run(op operation, body []byte, from origin, c call) response {
	from.target = op.target(c.id)
	var badKey error
	if op.HTTPMethod == http.MethodPost {
		if from.key, badKey = idempotency.Key(from.header); badKey != nil {
			from.key = strings.Join(from.header.Values(idempotency.Header), ",")
		}
	}
	if out, ok := h.bind(c.ctx, from, c.now); !ok {
		return out
	}
	if badKey != nil {
		return invalid(idempotency.Header).response(c.now)
	}
	req, err := wire.Parse(body)
	if field, wrong := errors.AsType[*wire.FieldError](err); wrong {
		return refused(c.now, textInvalid, field.Field)
	}
	c.req, c.kind, c.name = req, op.kind, from.name(req)
	if missing := op.Missing(c.scopes); len(missing) > 0 {
		return h.notPermitted(c, forbidden(missing[0]))
	}
	if out, ok := h.bindKey(c, from); !ok {
		return out
	}
	return op.run(h, c)
}

// notPermitted makes a refusal final and returns it. The same bytes then have no effect, even after
// the API key got the scope or the login the permission. It returns another response if v1 does not
// store the refusal.
func (h *Handler) notPermitted(c call, refusal response) response {
	if c.kind == "" || !c.name.final && c.name.evidence == "" {
		return refusal
	}
	r := h.execute(c, command.Refusal{Of: c.kind})
	if r.Code == command.CodeNotPermitted {
		return refusal
	}
	if out, known := c.followUpProblem(r, ""); known {
		return out
	}
	return serverError(c.now, reasonSystem, textSystem)
}

const textInvalid = "Declined - One or more fields in the request contains invalid data"

// inspect reads v1's record of the caller's key. It returns the refusal if the key or the merchant
// may not send the request, or if v1 does not respond.
func (h *Handler) inspect(ctx context.Context, caller auth.Caller, now time.Time) (v1.APIKey, response, bool) {
	info, r := h.cfg.Identify(ctx, caller.Grant.APIKey)
	switch {
	case r.Status == http.StatusTooManyRequests:
		return info, tooBusy(now), false
	case r.Outcome == command.Unavailable:
		return info, serverError(now, reasonSystem, textSystem), false
	case r.Code == v1.CodeAddressNotAllowed:
		return info, denied(textAddress), false
	case r.Code == v1.CodeMerchantDisabled:
		return info, problem{Reason: reasonMerchantSetup}.response(now), false
	case r.Code == v1.CodeMLERequired:
		return info, encryptionRequired(now), false
	case r.Outcome != command.Done:
		return info, unauthenticated(), false
	}
	return info, response{}, true
}

// withNumber returns the response with a number if it is a refusal, like the provider's refusals.
func (h *Handler) withNumber(a response) response {
	if body, plain := a.body.(wire.Response); plain && body.Status == statusInvalid && body.ID == "" {
		return numbered(a, h.cfg.NewNumber())
	}
	return a
}

// mounted returns the response with its links below the mount path at which the client reaches this
// dialect.
func mounted(a response, prefix string) response {
	switch body := a.body.(type) {
	case wire.Response:
		body.Links.Mount(prefix)
	case wire.Transaction:
		body.Links.Mount(prefix)
	}
	return a
}
