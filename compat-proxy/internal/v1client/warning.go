package v1client

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// warnInterval is the least time between two of these log lines.
const warnInterval = 10 * time.Second

// warn logs why v1 gave no usable response. While v1 is unavailable, every request has the same
// reason, so most lines are only counted.
func (c *Client) warn(ctx context.Context, reason string) {
	now, next := clock.MonotonicOf(c.cfg.Clock), c.nextWarning.Load()
	if int64(now) < next || !c.nextWarning.CompareAndSwap(next, int64(now+warnInterval)) {
		c.suppressed.Add(1)
		return
	}
	c.cfg.Log.WarnContext(ctx, "compat-proxy: v1 gave no usable response", slog.String("error", reason),
		slog.Int64("suppressed", c.suppressed.Swap(0)))
}

// lost logs the error of an attempt without a response, unless the client of the legacy request has
// gone away. V1 is not the reason then.
func (c *Client) lost(ctx context.Context, err error) {
	if !httpx.ClientGone(ctx) {
		c.warn(ctx, cause(err))
	}
}

// distrust closes the idle connections. One of them delivered a response to another request, and
// the next response may be wrong too.
func (c *Client) distrust(ctx context.Context) {
	if t, ok := c.cfg.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
	c.warn(ctx, "the response belongs to another request: all idle connections were closed")
}

// causes are the errors whose text contains nothing of a request or a response.
var causes = []error{
	io.EOF, io.ErrUnexpectedEOF, http.ErrSchemeMismatch, upstream.ErrTooLarge, upstream.ErrProtocol,
}

// cause returns a text for the log. The texts of other errors repeat bytes of the response.
func cause(err error) string {
	var certificate *tls.CertificateVerificationError
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "v1 did not respond in time"
	case errors.As(err, &certificate):
		return certificate.Error()
	case errors.As(err, &op):
		return op.Error()
	}
	for _, known := range causes {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "the connection broke, or the response is not HTTP"
}

// gatewayFault returns the reason to log for a response that is not v1's, and "" for one that is.
func (resp Response) gatewayFault() string {
	if !resp.transient() || resp.Err.Code != "" {
		return ""
	}
	return "a gateway in front of v1 returned status " + strconv.Itoa(resp.Status)
}
