package providerb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Executor is what runs commands.
type Executor interface {
	// Inspect tells what a key is and may do.
	Inspect(ctx context.Context, key secret.String) (v1.APIKey, command.Result)
	// Execute runs commands in order and stops after the first that is not done.
	Execute(ctx context.Context, key secret.String, commands []command.Command) []command.Result
}

// Config is what a Handler needs. All but Observe are required.
type Config struct {
	Executor Executor
	Verifier *auth.Verifier
	Clock    clock.Clock
	// Currency is that of amounts whose request and login name none, lower case.
	Currency string
	// MaxBytes bounds a request body.
	MaxBytes int64
	// Prefix is the path that the handler is mounted at, without a slash at its end; "" at the root.
	Prefix string
	// Observe is told of every request when it has been answered: the operation's name, OperationNone when there is none, and what came of it.
	Observe func(method, class string, took time.Duration)
}

// OperationNone stands for the operation of a request that names none we know.
const OperationNone = "none"

// Handler answers the dialect over HTTP.
type Handler struct {
	cfg Config
}

var _ http.Handler = (*Handler)(nil)

// New returns a handler.
func New(cfg Config) *Handler {
	if cfg.Observe == nil {
		cfg.Observe = func(string, string, time.Duration) {}
	}
	return &Handler{cfg: cfg}
}

// call is a request that may be executed.
type call struct {
	ctx    context.Context //nolint:containedctx // a call lives as long as its request
	id     string          // in the path, as it came
	req    *wire.Request
	caller auth.Caller
	now    time.Time
}

// ServeHTTP answers one request. Who asks is judged before anything else of it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start, name := h.cfg.Clock.Now(), OperationNone
	out := plain(http.StatusInternalServerError, "Something went wrong.", "panic")
	defer func() { h.cfg.Observe(name, strconv.Itoa(out.status), h.cfg.Clock.Now().Sub(start)) }()
	correlate(w, r)
	body, err := httpx.ReadBody(w, r, h.cfg.MaxBytes)
	switch {
	case errors.Is(err, httpx.ErrTooLarge):
		out = plain(http.StatusRequestEntityTooLarge, "The request is too large.", "too_large")
	case err != nil:
		out = plain(http.StatusBadRequest, "The request could not be read.", "unreadable")
	default:
		name, out = h.answer(r, body, start)
	}
	httpx.EventFrom(r.Context()).SetOutcome(out.outcome)
	write(w, out)
}

// answer is everything between the body and its answer. It also returns the operation's name.
func (h *Handler) answer(r *http.Request, body []byte, now time.Time) (string, answer) {
	target := r.URL.EscapedPath()
	if r.URL.RawQuery != "" {
		target += "?" + r.URL.RawQuery
	}
	caller, err := h.cfg.Verifier.Verify(r.Context(), auth.Request{
		Method: r.Method, Host: r.Host, Target: target, Prefix: h.cfg.Prefix, Header: r.Header, Body: body,
	})
	if err != nil {
		return OperationNone, unauthenticated()
	}
	holder, refusal, taken := h.inspect(r.Context(), caller, now)
	if !taken {
		return OperationNone, refusal
	}
	op, id, known := find(r.Method, strings.TrimPrefix(r.URL.Path, h.cfg.Prefix))
	if !known {
		return OperationNone, plain(http.StatusNotFound, "The requested resource does not exist", "not_found")
	}
	if scope := op.missing(holder.Scopes); scope != "" {
		return op.name, forbidden(scope)
	}
	req, err := wire.Parse(body)
	var field *wire.FieldError
	if errors.As(err, &field) {
		return op.name, refused(now, reasonInvalid, textInvalid, field.Field)
	}
	return op.name, op.run(h, call{ctx: r.Context(), id: id, req: req, caller: caller, now: now})
}

const textInvalid = "Declined - One or more fields in the request contains invalid data"

// inspect asks v1 what the caller's key is. It returns the refusal to a key that is none, or that nobody can tell of.
func (h *Handler) inspect(ctx context.Context, caller auth.Caller, now time.Time) (v1.APIKey, answer, bool) {
	info, r := h.cfg.Executor.Inspect(ctx, caller.Grant.APIKey)
	httpx.EventFrom(ctx).SetTenant(info.Merchant)
	switch {
	case r.Outcome == command.Unavailable:
		return info, failed(now, reasonSystem, "Error - General system failure."), false
	case r.Outcome != command.Done:
		return info, unauthenticated(), false
	}
	return info, answer{}, true
}

// forbidden is the answer to a caller whose key lacks a scope.
func forbidden(scope string) answer {
	type fault struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	text := "The key lacks the scope " + scope + "."
	return answer{http.StatusForbidden, struct {
		Errors  []fault `json:"errors"`
		Message string  `json:"message"`
	}{[]fault{{"FORBIDDEN", text}}, text}, "forbidden"}
}

// correlate gives the answer the request's correlation id, or a new one.
func correlate(w http.ResponseWriter, r *http.Request) {
	const name, longest = "V-C-Correlation-Id", 128
	id := r.Header.Get(name)
	if id == "" || len(id) > longest {
		var b [16]byte
		_, _ = rand.Read(b[:]) // it never fails
		b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
		text := hex.EncodeToString(b[:])
		id = strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
	}
	w.Header().Set(name, id)
}

func write(w http.ResponseWriter, a answer) {
	body, err := json.Marshal(a.body)
	if err != nil {
		body = []byte(`{"message":"Something went wrong."}`) // cannot be: the types are our own
	}
	header := w.Header()
	header.Set("Content-Type", "application/hal+json;charset=utf-8")
	header.Set("Cache-Control", "no-cache, no-store")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // the client is gone; what was done stays done
}
