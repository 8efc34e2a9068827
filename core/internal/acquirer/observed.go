package acquirer

import (
	"context"
	"errors"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// Operations returns the names of the calls that Observed reports. A capture, void or refund that
// recovery repeats is a repeat.
func Operations() []string {
	return []string{"authorize", "capture", "void", "refund", "credit", "inquire", "repeat"}
}

// Waits reports whether a call only found that an earlier request has no known outcome yet. One
// lost response causes many such calls.
func Waits(operation, outcome string) bool {
	return outcome == "unknown" && (operation == "inquire" || operation == "repeat")
}

// Outcomes returns the values of Outcome.
func Outcomes() []string {
	return []string{"approved", "declined", "not_found", "unavailable", "unknown"}
}

// Outcome returns the outcome of a call in a word: approved, declined, not_found, unavailable or
// unknown.
func Outcome(a Response, err error) string {
	switch {
	case errors.Is(err, ErrNotFound):
		return "not_found"
	case errors.Is(err, ErrUnavailable):
		return "unavailable"
	case err != nil:
		return "unknown"
	case a.Approved:
		return "approved"
	default:
		return "declined"
	}
}

// Observer receives a call that has ended. The error is the call's.
type Observer func(operation, outcome string, took time.Duration, err error)

// Observed returns a, and reports each call to an observer when it has ended. Each call gets a
// span, unless the tracer is nil. The span has the kind of call and its outcome, but no data of
// the payment.
func Observed(a Acquirer, t *telemetry.Tracer, c clock.Clock, observe Observer) Acquirer {
	return &observed{a, t, c, observe}
}

type observed struct {
	next    Acquirer
	tracer  *telemetry.Tracer
	clock   clock.Clock
	observe Observer
}

func (a *observed) Prepare(ctx context.Context) (string, error) { return a.next.Prepare(ctx) }

func (a *observed) Authorize(ctx context.Context, r Authorize) (Response, error) {
	return call(ctx, a, "authorize", false, a.next.Authorize, r)
}

func (a *observed) Capture(ctx context.Context, r Follow) (Response, error) {
	return call(ctx, a, "capture", r.Again, a.next.Capture, r)
}

func (a *observed) Void(ctx context.Context, r Follow) (Response, error) {
	return call(ctx, a, "void", r.Again, a.next.Void, r)
}

func (a *observed) Refund(ctx context.Context, r Follow) (Response, error) {
	return call(ctx, a, "refund", r.Again, a.next.Refund, r)
}

func (a *observed) Credit(ctx context.Context, r Credit) (Response, error) {
	return call(ctx, a, "credit", false, a.next.Credit, r)
}

func (a *observed) Inquire(ctx context.Context, about Sent) (Response, error) {
	return call(ctx, a, "inquire", false, a.next.Inquire, about)
}

// call makes one call. The observer gets a repeated call as a repeat.
func call[R any](
	ctx context.Context, a *observed, operation string, again bool, send func(context.Context, R) (Response, error), r R,
) (Response, error) {
	start := a.clock.Now()
	ctx, span := a.tracer.Client(ctx, "acquirer "+operation)
	defer span.End()
	response, err := send(ctx, r)
	outcome := Outcome(response, err)
	span.Word(telemetry.Outcome, outcome)
	if err != nil && !errors.Is(err, ErrNotFound) {
		span.Fail(outcome)
	}
	if again {
		operation = "repeat"
	}
	a.observe(operation, outcome, a.clock.Now().Sub(start), err)
	return response, err
}
