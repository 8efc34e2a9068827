package httphop

import (
	"log/slog"
	"net/http"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
	"github.com/causeway-pay/causeway/shared/httpx"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The codes of the problems that are the hop's own.
const (
	codeMethodNotAllowed = "method_not_allowed"
	codeUnread           = "body_not_received"
	codeClientGone       = "client_gone"
	codeOverloaded       = "overloaded"
	codeUnreachable      = "service_unavailable"
	codeLost             = "answer_lost"
	codeTimeout          = "answer_timeout"
	codeInternal         = engine.CodeInternal
)

const again = " The request may have been carried out: send it again with the same Idempotency-Key."

// problems is THE table of them.
var problems = map[string]engine.Problem{
	codeMethodNotAllowed: {Status: 405, Type: v1.ErrorTypeInvalidRequestError, Message: "The path does not take this method."},
	codeUnread:           {Status: 400, Type: v1.ErrorTypeInvalidRequestError, Message: "The body did not come to its end."},
	codeClientGone:       {Status: 499, Type: v1.ErrorTypeAPIError, Message: "The client closed the connection."},
	codeOverloaded:       {Status: 503, Type: v1.ErrorTypeAPIError, Message: "Too many requests are under way. Try again shortly.", RetryAfter: 1},
	codeUnreachable:      {Status: 503, Type: v1.ErrorTypeAPIError, Message: "The service cannot be reached. Nothing was changed; try again.", RetryAfter: 1},
	codeLost:             {Status: 502, Type: v1.ErrorTypeAPIError, Message: "The answer was lost." + again},
	codeTimeout:          {Status: 504, Type: v1.ErrorTypeAPIError, Message: "The answer did not come in time." + again},
	codeInternal:         {Status: 500, Type: v1.ErrorTypeAPIError, Message: "Something went wrong on our side." + again},
}

func problem(code string) *engine.Problem {
	p := problems[code]
	p.Code, p.Reason = code, code
	return &p
}

func because(p *engine.Problem, err error) *engine.Problem {
	p.Cause = err
	return p
}

// Overloaded refuses what comes while too much is under way.
func Overloaded(w http.ResponseWriter, r *http.Request) { Answer(w, r, problem(codeOverloaded)) }

// Broken answers for a handler that panicked.
func Broken(w http.ResponseWriter, r *http.Request) { Answer(w, r, problem(codeInternal)) }

// Answer sends a problem.
func Answer(w http.ResponseWriter, r *http.Request, p *engine.Problem) {
	httpx.EventFrom(r.Context()).SetOutcome(p.Code)
	body := p.Body(httpx.RequestIDFrom(r.Context()))
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	apply(header, p.Ops(body))
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // whoever is gone reads nothing
	}
}

// refuse sends a problem, counts it, and says in the log what was the cause when that was ours.
func (h *Hop) refuse(w http.ResponseWriter, r *http.Request, x *engine.Exchange, p *engine.Problem) {
	if p.Cause != nil && p.Code != codeClientGone {
		h.cfg.Log.ErrorContext(r.Context(), "mle-filter: refused", slog.String("code", p.Code), slog.String("reason", p.Reason),
			slog.String("request_id", httpx.RequestIDFrom(r.Context())), slog.Any("error", p.Cause))
	}
	h.count(x, p)
	Answer(w, r, p)
}

func (h *Hop) count(x *engine.Exchange, p *engine.Problem) {
	var e shell.Exchange
	if x != nil {
		_, e.Alg = x.Key()
		e.Sealed = x.WrapsResponse()
	}
	if p != nil {
		e.Status, e.Code, e.Reason = p.Status, p.Code, p.Reason
	}
	h.cfg.Observe(e)
}
