package acquirer

import (
	"context"
	"errors"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
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

// Observed returns a, and reports each call to an observer when it has ended.
func Observed(a Acquirer, c clock.Clock, observe Observer) Acquirer {
	return &observed{a, c, observe}
}

type observed struct {
	next    Acquirer
	clock   clock.Clock
	observe Observer
}

func (a *observed) Prepare(ctx context.Context) (string, error) {
	return a.next.Prepare(ctx)
}

func (a *observed) Authorize(ctx context.Context, r Authorize) (Response, error) {
	return a.time("authorize", func() (Response, error) { return a.next.Authorize(ctx, r) })
}

func (a *observed) Capture(ctx context.Context, r Follow) (Response, error) {
	return a.time(named("capture", r), func() (Response, error) { return a.next.Capture(ctx, r) })
}

func (a *observed) Void(ctx context.Context, r Follow) (Response, error) {
	return a.time(named("void", r), func() (Response, error) { return a.next.Void(ctx, r) })
}

func (a *observed) Refund(ctx context.Context, r Follow) (Response, error) {
	return a.time(named("refund", r), func() (Response, error) { return a.next.Refund(ctx, r) })
}

func (a *observed) Credit(ctx context.Context, r Credit) (Response, error) {
	return a.time("credit", func() (Response, error) { return a.next.Credit(ctx, r) })
}

func (a *observed) Inquire(ctx context.Context, about Sent) (Response, error) {
	return a.time("inquire", func() (Response, error) { return a.next.Inquire(ctx, about) })
}

func named(operation string, r Follow) string {
	if r.Again {
		return "repeat"
	}
	return operation
}

func (a *observed) time(operation string, call func() (Response, error)) (Response, error) {
	start := a.clock.Now()
	response, err := call()
	a.observe(operation, Outcome(response, err), a.clock.Now().Sub(start), err)
	return response, err
}
