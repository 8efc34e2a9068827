package v1client

import (
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// Call is one attempt at a v1 call, for a metric. It contains no text of a client.
type Call struct {
	Route   string // method and template
	Status  int    // 0 without a response
	Attempt int    // from 1
	Took    time.Duration
}

// observedTransport is a transport that reports every attempt.
type observedTransport struct {
	next    http.RoundTripper
	clock   clock.Clock
	observe func(Call)
}

// RoundTrip implements http.RoundTripper. It reports no attempt that ended with the client of the
// legacy request, because v1 did not fail.
func (o *observedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	start := o.clock.Now()
	response, err := o.next.RoundTrip(r)
	c := Call{
		Route: r.Method + " " + template(r.URL.Path), Attempt: 1 + httpx.ResendFrom(r.Context()),
		Took: o.clock.Now().Sub(start),
	}
	if err == nil {
		c.Status = response.StatusCode
	}
	if err == nil || !httpx.ClientGone(r.Context()) {
		o.observe(c)
	}
	return response, err
}
