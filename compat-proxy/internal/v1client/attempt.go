package v1client

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

// Response is v1's last response to one call, after all attempts.
type Response struct {
	Status int      // 0: no response
	body   []byte   // of a success
	Err    v1.Error // of any other response; empty if the body is not an error of v1
	// MayHaveReached reports that an attempt may have reached v1 although its response was lost.
	MayHaveReached bool
	// resent reports that the transport sent the request twice. It does that when a kept connection
	// breaks under a request with an Idempotency-Key. The outcome of the first time is unknown.
	resent bool
	// Replayed reports that the response is the stored one to an earlier request under the same key,
	// and not to one of these attempts.
	Replayed bool
	// Stored reports that v1 had stored the response before the last attempt, for any request.
	Stored bool
	// Claimed reports that v1 may have claimed the key, and freed it since if it stored no response.
	Claimed bool
	// unsent reports that the response is from a gateway that sent v1 no part of the attempt.
	unsent bool
	// Date is when v1 sent the response, by v1's clock; zero if the response has no time.
	Date time.Time
	// distrust must run if the response turns out not to match the request.
	distrust func()
}

// Send makes one attempt at a call.
type Send func(ctx context.Context) (*http.Response, error)

// Call sends a call and repeats it while the same Idempotency-Key makes that safe. It repeats
// without a response, after a 502, 503 or 504, and after a 409 while an earlier attempt runs.
func (c *Client) Call(ctx context.Context, send Send) Response {
	return c.CallAfter(ctx, &Earlier{}, "", send)
}

// CallAfter is Call after earlier attempts under the same Idempotency-Key. It adds its attempts to
// them. It also repeats the call after an error with the code again, unless that is empty.
func (c *Client) CallAfter(ctx context.Context, before *Earlier, again string, send Send) Response {
	for attempt := 1; ; attempt++ {
		resp, after := c.attempt(httpx.WithResend(ctx, attempt-1), send)
		before.add(&resp)
		repeat := resp.transient() || again != "" && resp.Err.Code == again
		if !repeat || attempt == c.cfg.Attempts {
			return resp
		}
		if !Wait(ctx, max(after, c.cfg.Backoff<<(2*(attempt-1)))) {
			return resp
		}
	}
}

// transient reports whether the same call may be sent again. It got no response or one from a
// gateway, or v1 was overloaded, had too many changes of the merchant pending, or was still
// working.
func (resp Response) transient() bool {
	switch resp.Status {
	case http.StatusTooManyRequests:
		return resp.Err.Code == v1.CodeTooManyChanges
	case 0, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return !definite[resp.Err.Code]
	case http.StatusConflict:
		return resp.Err.Code == v1.CodeKeyInUse
	}
	return false
}

// definite are v1's codes of 5xx responses that a retry would not change.
var definite = map[string]bool{
	v1.CodeOutcomeUnknown: true, v1.CodeNotProcessed: true, v1.CodeAcquirerNotConfigured: true,
	v1.CodeAcquirerUnavailable: true, v1.CodeListTimeout: true,
}

// attempt makes one attempt. It returns the response, and the wait of its Retry-After.
func (c *Client) attempt(ctx context.Context, send Send) (Response, time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	var sending httpx.Sending
	got, err := send(sending.Trace(ctx))
	if err != nil {
		c.lost(ctx, err)
		return Response{MayHaveReached: !sending.NeverSent(err)}, 0
	}
	defer got.Body.Close() //nolint:errcheck // the body was read to its end or abandoned
	body, err := readAll(got)
	if err != nil {
		c.lost(ctx, err)
		return Response{MayHaveReached: true}, 0
	}
	stored := got.Header.Get("Idempotent-Replayed") == "true"
	resp := Response{Status: got.StatusCode, resent: sending.Repeated(), Replayed: stored, Stored: stored}
	resp.unsent = got.Header.Get(httpx.UnsentHeader) != ""
	resp.distrust = func() { c.distrust(ctx) }
	if date, err := http.ParseTime(got.Header.Get("Date")); err == nil {
		resp.Date = date
	}
	if got.StatusCode/100 == 2 {
		resp.body = body
		return resp, 0
	}
	var refusal v1.ErrorBody
	if err := json.Unmarshal(body, &refusal); err == nil {
		resp.Err = refusal.Error
	}
	if resp.Err.Code == v1.CodeAcquirerNotConfigured && c.cfg.ObserveUnconfigured != nil {
		c.cfg.ObserveUnconfigured()
	}
	if reason := resp.gatewayFault(); reason != "" {
		c.warn(ctx, reason)
	}
	resp.MayHaveReached = !resp.hadNoEffect() || resp.resent && !resp.Settles()
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

// Wait returns true after d. It returns false immediately if the context would end before that.
func Wait(ctx context.Context, d time.Duration) bool {
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

// Decode reads a success into v, which is zero. A success that cannot be read is an effect whose
// response was lost.
func (resp Response) Decode(v any) error {
	if err := json.Unmarshal(resp.body, v); err != nil {
		return fmt.Errorf("read v1 response: %w", err)
	}
	return nil
}

// DecodeMatching reads a success into v, which is zero, and reports whether it matches the request.
// A success that does not match is an effect whose response was lost.
func (resp Response) DecodeMatching(v any, matches func() bool) bool {
	if resp.Decode(v) == nil && matches() {
		return true
	}
	resp.Distrust()
	return false
}

// Distrust records that the response belongs to another request.
func (resp Response) Distrust() { resp.distrust() }
