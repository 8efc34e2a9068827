package executor

import (
	"bytes"
	"context"
	"net/http"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (s session) credit(ctx context.Context, c command.Credit) command.Result {
	c.Body.Metadata = s.Marked(c.Body.Metadata)
	params := &v1.CreateRefundParams{IdempotencyKey: &s.IdempotencyKey}
	resp, ok := s.post(ctx, c.Body, v1.CodeOutcomeUnknown,
		func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
			return s.x.client.API.CreateRefundWithBody(ctx, params, v1client.ContentType, body, s.WithKey)
		})
	var made v1.Refund
	if r, done := resp.readStep(ok, "", nil, &made,
		func() bool { return matchesRefund(&made, &c.Body, *c.Body.Currency) }); !done {
		return r
	}
	r := withOrigin(command.Result{Outcome: command.Done, Status: resp.Status, Refund: &made}, resp, made.CreatedAt.Time)
	if made.Status == v1.RefundStatusFailed {
		r.Outcome = command.Refused
	}
	return r
}
