package shell

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/httpx"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The codes of the shells' problems.
const (
	CodeMethodNotAllowed = "method_not_allowed"
	CodeRouteNotFound    = "route_not_found"
	CodeUnread           = "body_not_received"
	CodeSlow             = "body_too_slow"
	CodeUnfinished       = "too_many_unfinished_bodies"
	CodeClientGone       = "client_gone"
	CodeRateLimited      = "rate_limited"
	CodeOverloaded       = "overloaded"
	CodeUnreachable      = "service_unavailable"
	CodeLost             = "response_lost"
	CodeTimeout          = "response_timeout"
	CodeInternal         = engine.CodeInternal
)

// problems is the only table from code to problem.
var problems = map[string]engine.Problem{
	CodeMethodNotAllowed: {Status: 405, Type: v1.ErrorTypeInvalidRequestError, Message: v1.MessageNoMethod},
	CodeRouteNotFound:    {Status: 404, Type: v1.ErrorTypeInvalidRequestError, Message: v1.MessageNoRoute},
	CodeUnread:           {Status: 400, Type: v1.ErrorTypeInvalidRequestError, Message: v1.MessageBodyNotReceived},
	CodeSlow:             {Status: 408, Type: v1.ErrorTypeInvalidRequestError, Message: v1.MessageBodyTooSlow},
	CodeUnfinished: {
		Status: 429, Type: v1.ErrorTypeRateLimitError, Message: v1.MessageUnfinishedBodies, RetryAfter: 1,
	},
	CodeRateLimited: {Status: 429, Type: v1.ErrorTypeRateLimitError, Message: v1.MessageRateLimited, RetryAfter: 1},
	CodeClientGone:  {Status: 499, Type: v1.ErrorTypeAPIError, Message: "The client closed the connection."},
	CodeOverloaded:  {Status: 503, Type: v1.ErrorTypeAPIError, Message: v1.MessageOverloaded, RetryAfter: 1},
	CodeUnreachable: {Status: 503, Type: v1.ErrorTypeAPIError, Message: v1.MessageUnreachable, RetryAfter: 1},
	CodeLost:        {Status: 502, Type: v1.ErrorTypeAPIError, Message: v1.MessageResponseLost},
	CodeTimeout:     {Status: 504, Type: v1.ErrorTypeAPIError, Message: v1.MessageResponseTimeout},
	CodeInternal:    {Status: 500, Type: v1.ErrorTypeAPIError, Message: v1.MessageInternal},
}

// Problem returns the problem with that code.
func Problem(code string) *engine.Problem {
	p := problems[code]
	p.Code, p.Reason = code, code
	return &p
}

// Unread returns the problem for an error of admission, or nil for another error. A body that is
// too large has engine.TooLarge.
func Unread(err error) *engine.Problem {
	switch {
	case errors.Is(err, admission.ErrSlow):
		return Problem(CodeSlow)
	case errors.Is(err, admission.ErrUnfinished):
		return Problem(CodeUnfinished)
	case errors.Is(err, admission.ErrTooMany):
		return Problem(CodeRateLimited)
	case errors.Is(err, admission.ErrOverloaded):
		return Problem(CodeOverloaded)
	}
	return nil
}

// WithCause adds a cause to a problem, for the log.
func WithCause(p *engine.Problem, err error) *engine.Problem {
	p.Cause = err
	return p
}

// Overloaded rejects a request because too many are in progress.
func Overloaded(w http.ResponseWriter, r *http.Request) { SendProblem(w, r, Problem(CodeOverloaded)) }

// Broken responds after a handler panicked.
func Broken(w http.ResponseWriter, r *http.Request) { SendProblem(w, r, Problem(CodeInternal)) }

// SendProblem sends a problem as the response.
func SendProblem(w http.ResponseWriter, r *http.Request, p *engine.Problem) {
	httpx.EventFrom(r.Context()).SetOutcome(outcome(p))
	body := p.Body(httpx.RequestIDFrom(r.Context()))
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	for _, op := range p.Ops(body) {
		header.Set(op.Name, op.Value)
	}
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may have disconnected
	}
}

// outcome returns the word for a problem in the log.
func outcome(p *engine.Problem) string {
	if p.Reason == engine.ReasonBusy {
		return httpx.OutcomeBusy
	}
	return p.Code
}

// Of returns the final problem of a request: p, or CodeClientGone if the client hung up and p is a
// fault on our side. Otherwise a client could fill the log with errors.
func Of(ctx context.Context, p *engine.Problem) *engine.Problem {
	if p.Status >= http.StatusInternalServerError && errors.Is(ctx.Err(), context.Canceled) {
		return Problem(CodeClientGone)
	}
	return p
}

// LogCause logs the cause of a problem, if it has one.
func LogCause(ctx context.Context, log *slog.Logger, p *engine.Problem) {
	if p.Cause == nil {
		return
	}
	log.ErrorContext(ctx, "mle-filter: request rejected", slog.String("code", p.Code), slog.String("reason", p.Reason),
		slog.String("request_id", httpx.RequestIDFrom(ctx)), slog.Any("error", p.Cause))
}
