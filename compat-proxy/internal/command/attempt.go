package command

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/compat-proxy/internal/upstream"
	"github.com/causeway-pay/causeway/shared/httpx"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// maxResponse is the largest number of bytes that are read of a response of v1.
const maxResponse = 4 << 20

// response is v1's last response to one call, after all attempts.
type response struct {
	status int      // 0: no response
	body   []byte   // of a success
	err    v1.Error // of any other response; empty if the body is not an error of v1
	// mayHaveReached reports that an attempt may have reached v1 although its response was lost.
	mayHaveReached bool
	// resent reports that the transport sent the request twice. It does that when a kept connection
	// breaks under a request with an Idempotency-Key. The outcome of the first time is unknown.
	resent bool
	// replayed reports that the response is the stored one to an earlier request under the same key,
	// and not to one of these attempts.
	replayed bool
	// stored reports that v1 had stored the response before the last attempt, for any request.
	stored bool
	// claimed reports that v1 may have claimed the key, and freed it since if it stored no response.
	claimed bool
	// unsent reports that the response is from a gateway that sent v1 no part of the attempt.
	unsent bool
	// date is when v1 sent the response, by v1's clock; zero if the response has no time.
	date time.Time
	// distrust must run if the response turns out not to match the request.
	distrust func()
}

// send makes one attempt at a call.
type send func(ctx context.Context) (*http.Response, error)

// call sends a call and repeats it while the same Idempotency-Key makes that safe. It repeats
// without a response, after a 502, 503 or 504, and after a 409 while an earlier attempt runs.
func (x *Executor) call(ctx context.Context, send send) response {
	return x.callAfter(ctx, &earlier{}, "", send)
}

// callAfter is call after earlier attempts under the same Idempotency-Key. It adds its attempts to
// them. It also repeats the call after an error with the code again, unless that is empty.
func (x *Executor) callAfter(ctx context.Context, before *earlier, again string, send send) response {
	for attempt := 1; ; attempt++ {
		resp, after := x.attempt(httpx.WithResend(ctx, attempt-1), send)
		before.add(&resp)
		repeat := resp.transient() || again != "" && resp.err.Code == again
		if !repeat || attempt == x.cfg.Attempts {
			return resp
		}
		if !wait(ctx, max(after, x.cfg.Backoff<<(2*(attempt-1)))) {
			return resp
		}
	}
}

// transient reports whether the same call may be sent again. It got no response or one from a
// gateway, or v1 was overloaded, had too many changes of the merchant pending, or was still
// working.
func (resp response) transient() bool {
	switch resp.status {
	case http.StatusTooManyRequests:
		return resp.err.Code == v1.CodeTooManyChanges
	case 0, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return !definite[resp.err.Code]
	case http.StatusConflict:
		return resp.err.Code == v1.CodeKeyInUse
	}
	return false
}

// definite are v1's codes of 5xx responses that a retry would not change.
var definite = map[string]bool{
	v1.CodeOutcomeUnknown: true, v1.CodeNotProcessed: true, v1.CodeAcquirerNotConfigured: true, v1.CodeAcquirerUnavailable: true,
	v1.CodeListTimeout: true,
}

// attempt sends once and reads the response. The duration is its Retry-After.
func (x *Executor) attempt(ctx context.Context, send send) (response, time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, x.cfg.CallTimeout)
	defer cancel()
	var sending httpx.Sending
	got, err := send(sending.Trace(ctx))
	if err != nil {
		x.warn(ctx, cause(err))
		return response{mayHaveReached: !sending.NeverSent(err)}, 0
	}
	defer got.Body.Close() //nolint:errcheck // the body was read to its end or abandoned
	body, err := readAll(got)
	if err != nil {
		x.warn(ctx, cause(err))
		return response{mayHaveReached: true}, 0
	}
	stored := got.Header.Get("Idempotent-Replayed") == "true"
	resp := response{status: got.StatusCode, resent: sending.Repeated(), replayed: stored, stored: stored}
	resp.unsent = got.Header.Get(httpx.UnsentHeader) != ""
	resp.distrust = func() { x.distrust(ctx) }
	if date, err := http.ParseTime(got.Header.Get("Date")); err == nil {
		resp.date = date
	}
	if got.StatusCode/100 == 2 {
		resp.body = body
		return resp, 0
	}
	var refusal v1.ErrorBody
	if err := json.Unmarshal(body, &refusal); err == nil {
		resp.err = refusal.Error
	}
	if reason := resp.gatewayFault(); reason != "" {
		x.warn(ctx, reason)
	}
	resp.mayHaveReached = !resp.hadNoEffect() || resp.resent && !resp.settles()
	return resp, retryAfter(got.Header)
}

// readAll reads the body of a response. It returns an error immediately if the Content-Length
// exceeds the bound.
func readAll(got *http.Response) ([]byte, error) {
	if got.ContentLength > maxResponse {
		return nil, upstream.ErrTooLarge
	}
	return io.ReadAll(io.LimitReader(got.Body, maxResponse)) //nolint:wrapcheck // the caller only checks which error it is
}

// retryAfter reads the header's seconds. V1 never sends the date form.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// wait returns true after d. It returns false immediately if the context would end before that.
func wait(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// from returns r with the origin of the response: v1 made the object that it describes at made.
func (r Result) from(resp response, made time.Time) Result {
	r.replayed, r.stored, r.claimed, r.made = resp.replayed, resp.stored, resp.claimed, made
	return r
}

// result converts a response that is not a success.
func (resp response) result() Result {
	r := Result{
		Outcome: Refused, Status: resp.status, Code: resp.err.Code, Transaction: resp.err.Transaction,
		replayed: resp.replayed, stored: resp.stored, claimed: resp.claimed,
	}
	if resp.err.Param != nil {
		r.Param = *resp.err.Param
	}
	switch {
	case resp.mayHaveReached || resp.err.Code == v1.CodeOutcomeUnknown:
		r.Outcome = Uncertain
	case resp.err.Code == v1.CodeNotProcessed:
		r.Outcome = Refused
	case resp.status == http.StatusPaymentRequired:
		r.Outcome = Declined
	case resp.status == http.StatusNotFound:
		r.Outcome = NotFound
	case resp.status == 0 || resp.status >= 500 || resp.status == http.StatusTooManyRequests || resp.status/100 == 3:
		r.Outcome = Unavailable
	}
	return r
}

// decode reads a success into v, which is zero. A success that cannot be read is an effect whose
// response was lost.
func (resp response) decode(v any) error {
	if err := json.Unmarshal(resp.body, v); err != nil {
		return fmt.Errorf("read v1 response: %w", err)
	}
	return nil
}
