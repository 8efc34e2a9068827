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

// maxAnswer bounds what is read of one v1 answer.
const maxAnswer = 4 << 20

// answer is the last word of v1 on one call, after all attempts.
type answer struct {
	status int      // 0: v1 never answered
	body   []byte   // of a success
	err    v1.Error // of anything else, empty when the body was not v1's
	// maybe tells that an attempt may have reached v1 without its answer reaching us.
	maybe bool
	// resent tells that the transport sent the request a second time by itself, which it does when a connection that it had kept breaks
	// under a request with an Idempotency-Key. Nobody tells what became of the first time.
	resent bool
	// replayed tells that this is the answer to an earlier request under the same key, and that none of our attempts can be that.
	replayed bool
	// stored tells that v1 had the answer before the last attempt, whoever it was for.
	stored bool
	// claimed reports that v1 may have claimed the key, and freed it since if it stored no response.
	claimed bool
	// unsent reports that the response is a gateway's, which sent v1 no part of the attempt.
	unsent bool
	// date is when v1 sent it, by v1's clock; zero if the response has no time.
	date time.Time
	// distrust is what to do when it turns out not to be the answer to what was asked.
	distrust func()
}

// send is one attempt at a call.
type send func(ctx context.Context) (*http.Response, error)

// call sends a call and repeats it while the same Idempotency-Key makes that safe: without a
// response, after a 502, 503 or 504, and after a 409 while an earlier attempt runs.
func (x *Executor) call(ctx context.Context, send send) answer {
	return x.callAfter(ctx, &earlier{}, "", send)
}

// callAfter is call after earlier attempts under the same Idempotency-Key. It adds its own to them.
// It also repeats after the code again, if that is not empty.
func (x *Executor) callAfter(ctx context.Context, before *earlier, again string, send send) answer {
	for attempt := 1; ; attempt++ {
		a, after := x.attempt(httpx.WithResend(ctx, attempt-1), send)
		before.add(&a)
		repeat := a.transient() || again != "" && a.err.Code == again
		if !repeat || attempt == x.cfg.Attempts {
			return a
		}
		if !wait(ctx, max(after, x.cfg.Backoff<<(2*(attempt-1)))) {
			return a
		}
	}
}

// transient reports whether the same call may be sent again: it got no response, or one of a hop, or
// v1 was overloaded, had too many changes of the merchant under way, or was still at it.
func (a answer) transient() bool {
	switch a.status {
	case http.StatusTooManyRequests:
		return a.err.Code == codeTooManyChanges
	case 0, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return !definite[a.err.Code]
	case http.StatusConflict:
		return a.err.Code == CodeKeyInUse
	}
	return false
}

// codeTooManyChanges is v1's code for a change that waited for its turn in vain.
const codeTooManyChanges = "too_many_changes"

// codeRateLimited is v1's code for a call beyond the merchant's rate limit.
const codeRateLimited = "rate_limited"

// definite are the codes with which v1 answers a 5xx that asking again would not change.
var definite = map[string]bool{
	CodeOutcomeUnknown: true, CodeNotProcessed: true, CodeAcquirerNotConfigured: true, CodeAcquirerUnavailable: true,
	CodeListTimeout: true,
}

// attempt sends once and reads the answer. The duration is what the answer asks to wait for.
func (x *Executor) attempt(ctx context.Context, send send) (answer, time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, x.cfg.CallTimeout)
	defer cancel()
	var sending httpx.Sending
	resp, err := send(sending.Trace(ctx))
	if err != nil {
		x.complain(ctx, cause(err))
		return answer{maybe: !sending.NeverSent(err)}, 0
	}
	defer resp.Body.Close() //nolint:errcheck // the body was read to its end or given up
	body, err := readAll(resp)
	if err != nil {
		x.complain(ctx, cause(err))
		return answer{maybe: true}, 0
	}
	stored := resp.Header.Get("Idempotent-Replayed") == "true"
	a := answer{status: resp.StatusCode, resent: sending.Repeated(), replayed: stored, stored: stored}
	a.unsent = resp.Header.Get(httpx.UnsentHeader) != ""
	a.distrust = func() { x.distrust(ctx) }
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		a.date = date
	}
	if resp.StatusCode/100 == 2 {
		a.body = body
		return a, 0
	}
	var refusal v1.ErrorBody
	if err := json.Unmarshal(body, &refusal); err == nil {
		a.err = refusal.Error
	}
	if said := a.between(); said != "" {
		x.complain(ctx, said)
	}
	a.maybe = !a.hadNoEffect() || a.resent && !a.settles()
	return a, retryAfter(resp.Header)
}

// readAll reads an answer's body. One that says that it is beyond the bound is not waited for.
func readAll(resp *http.Response) ([]byte, error) {
	if resp.ContentLength > maxAnswer {
		return nil, upstream.ErrTooLarge
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) //nolint:wrapcheck // the caller only looks at what it is
}

// retryAfter reads the header's seconds; its date form is not one that v1 sends.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// wait returns true after d, and false at once when the context would end before that.
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

// from returns r with the origin of the response: v1 made what it describes at made.
func (r Result) from(a answer, made time.Time) Result {
	r.replayed, r.stored, r.claimed, r.made = a.replayed, a.stored, a.claimed, made
	return r
}

// result turns an answer that is not a success into a result.
func (a answer) result() Result {
	r := Result{
		Outcome: Refused, Status: a.status, Code: a.err.Code, Transaction: a.err.Transaction,
		replayed: a.replayed, stored: a.stored, claimed: a.claimed,
	}
	if a.err.Param != nil {
		r.Param = *a.err.Param
	}
	switch {
	case a.maybe || a.err.Code == CodeOutcomeUnknown:
		r.Outcome = Uncertain
	case a.err.Code == CodeNotProcessed:
		r.Outcome = Refused
	case a.status == http.StatusPaymentRequired:
		r.Outcome = Declined
	case a.status == http.StatusNotFound:
		r.Outcome = NotFound
	case a.status == 0 || a.status >= 500 || a.status == http.StatusTooManyRequests || a.status/100 == 3:
		r.Outcome = Unavailable
	}
	return r
}

// decode reads a success into v, which is zero. A success that can not be read is an effect whose answer was lost.
func (a answer) decode(v any) error {
	if err := json.Unmarshal(a.body, v); err != nil {
		return fmt.Errorf("read v1 answer: %w", err)
	}
	return nil
}
