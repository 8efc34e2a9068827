package v1client

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// v1TimeAge is how long the proxy adds its elapsed time to a Date of v1 before it reads another.
const v1TimeAge = time.Minute

// noDate is logged if responses of v1 have no valid Date header.
const noDate = "responses of v1 have no Date header: a gateway in front of v1 must not remove it"

// v1Clock derives v1's time from the Date headers of its responses. All ages of what v1 stored are
// measured by it, because the clocks of proxies may be wrong. It is behind v1 by the latency of the
// last response and up to a second, never ahead. A window lasts that much longer, never shorter.
type v1Clock struct {
	own clock.Clock // measures the time since the last Date

	mu   sync.Mutex
	date time.Time // guarded by mu: of the last success; zero before the first
	at   time.Time // guarded by mu: when it arrived, by own
}

// read stores the Date of a success. Errors may come from a gateway in front of v1.
func (c *v1Clock) read(r *http.Response) {
	date, err := http.ParseTime(r.Header.Get("Date"))
	if err != nil || r.StatusCode/100 != 2 {
		return
	}
	at := c.own.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.date, c.at = date, at
}

// now reports false if the last Date is too old, or there was none.
func (c *v1Clock) now() (time.Time, bool) {
	own := c.own.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	age := own.Sub(c.at)
	return c.date.Add(age), !c.date.IsZero() && age >= 0 && age < v1TimeAge
}

// clockTransport is a transport that reads v1's time from each response.
type clockTransport struct {
	next  http.RoundTripper
	clock *v1Clock
}

// RoundTrip implements http.RoundTripper.
func (d *clockTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := d.next.RoundTrip(r)
	if err == nil {
		d.clock.read(response)
	}
	return response, err //nolint:wrapcheck // a transport returns the error unchanged
}

// Now returns the present time of v1. It sends a request with an API key if no recent response had
// a Date. Without a time it returns the response to that request, or the zero Response if it has no
// Date either.
func (c *Client) Now(ctx context.Context, key secret.String) (time.Time, *Response) {
	if now, ok := c.clock.now(); ok {
		return now, nil
	}
	resp := c.currentKey(ctx, key)
	if resp.Status/100 != 2 {
		return time.Time{}, &resp
	}
	now, ok := c.clock.now()
	if !ok {
		c.warn(ctx, noDate)
		return time.Time{}, &Response{}
	}
	return now, nil
}
