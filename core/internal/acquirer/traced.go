package acquirer

import (
	"context"
	"errors"

	"github.com/causeway-pay/causeway/shared/telemetry"
)

// Traced returns a with a span for every call. The span has the kind of call and its outcome, but
// no data of the payment. With a nil tracer it returns a itself.
func Traced(a Acquirer, t *telemetry.Tracer) Acquirer {
	if t == nil {
		return a
	}
	return &traced{a, t}
}

type traced struct {
	next   Acquirer
	tracer *telemetry.Tracer
}

func (a *traced) Prepare(ctx context.Context) (string, error) {
	return a.next.Prepare(ctx)
}

func (a *traced) Authorize(ctx context.Context, r Authorize) (Response, error) {
	return a.span(ctx, "acquirer authorize",
		func(ctx context.Context) (Response, error) { return a.next.Authorize(ctx, r) })
}

func (a *traced) Capture(ctx context.Context, r Follow) (Response, error) {
	return a.span(ctx, "acquirer capture", func(ctx context.Context) (Response, error) { return a.next.Capture(ctx, r) })
}

func (a *traced) Void(ctx context.Context, r Follow) (Response, error) {
	return a.span(ctx, "acquirer void", func(ctx context.Context) (Response, error) { return a.next.Void(ctx, r) })
}

func (a *traced) Refund(ctx context.Context, r Follow) (Response, error) {
	return a.span(ctx, "acquirer refund", func(ctx context.Context) (Response, error) { return a.next.Refund(ctx, r) })
}

func (a *traced) Credit(ctx context.Context, r Credit) (Response, error) {
	return a.span(ctx, "acquirer credit", func(ctx context.Context) (Response, error) { return a.next.Credit(ctx, r) })
}

func (a *traced) Inquire(ctx context.Context, about Sent) (Response, error) {
	return a.span(ctx, "acquirer inquire",
		func(ctx context.Context) (Response, error) { return a.next.Inquire(ctx, about) })
}

func (a *traced) span(
	ctx context.Context, name string, call func(context.Context) (Response, error),
) (Response, error) {
	ctx, span := a.tracer.Client(ctx, name)
	defer span.End()
	response, err := call(ctx)
	outcome := Outcome(response, err)
	span.Word(telemetry.Outcome, outcome)
	if err != nil && !errors.Is(err, ErrNotFound) {
		span.Fail(outcome)
	}
	return response, err
}
