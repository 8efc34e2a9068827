package command

import (
	"bytes"
	"context"
	"net/http"

	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (s session) credit(ctx context.Context, c Credit) Result {
	c.Body.Metadata = s.marked(c.Body.Metadata)
	params := &v1.CreateRefundParams{IdempotencyKey: &s.idempotencyKey}
	resp, ok := s.post(ctx, c.Body, v1.CodeOutcomeUnknown,
		func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
			return s.x.client.API.CreateRefundWithBody(ctx, params, v1client.ContentType, body, s.authorized)
		})
	var made v1.Refund
	if r, done := resp.settled(ok, "", nil, &made,
		func() bool { return matchesRefund(&made, &c.Body, *c.Body.Currency) }); !done {
		return r
	}
	r := Result{Outcome: Done, Status: resp.Status, Refund: &made}.from(resp, made.CreatedAt.Time)
	if made.Status == v1.RefundStatusFailed {
		r.Outcome = Refused
	}
	return r
}
