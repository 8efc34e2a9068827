package command

import (
	"context"
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// response is v1's last response to one call.
type response struct{ v1client.Response }

// call sends a call without an Idempotency-Key.
func (x *Executor) call(ctx context.Context, send v1client.Send) response {
	return response{x.client.Call(ctx, send)}
}

// now returns the present time of v1, or the result to give if v1 does not return it.
func (s session) now(ctx context.Context) (time.Time, *Result) {
	now, resp := s.x.client.Now(ctx, s.key)
	if resp == nil {
		return now, nil
	}
	r := response{*resp}.result()
	if r.Outcome == NotFound || r.Outcome == Uncertain { // a read has no effect
		r.Outcome = Unavailable
	}
	return time.Time{}, &r
}

// from returns r with the origin of the response: v1 made the object that it describes at made.
func (r Result) from(resp response, made time.Time) Result {
	r.replayed, r.stored, r.claimed, r.made = resp.Replayed, resp.Stored, resp.Claimed, made
	return r
}

// result converts a response that is not a success.
func (resp response) result() Result {
	r := Result{
		Outcome: Refused, Status: resp.Status, Code: resp.Err.Code, Transaction: resp.Err.Transaction,
		replayed: resp.Replayed, stored: resp.Stored, claimed: resp.Claimed,
	}
	if resp.Err.Param != nil {
		r.Param = *resp.Err.Param
	}
	switch {
	case resp.MayHaveReached || resp.Err.Code == v1.CodeOutcomeUnknown:
		r.Outcome = Uncertain
	case resp.Err.Code == v1.CodeNotProcessed:
		r.Outcome = Refused
	case resp.Status == http.StatusPaymentRequired:
		r.Outcome = Declined
	case resp.Status == http.StatusNotFound:
		r.Outcome = NotFound
	case resp.Status == 0 || resp.Status >= 500 || resp.Status == http.StatusTooManyRequests || resp.Status/100 == 3:
		r.Outcome = Unavailable
	}
	return r
}
