package command

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
)

// quiet is the least time between two of these log lines.
const quiet = 10 * time.Second

// complain logs why v1 does not respond. While v1 is down every request has the same reason, so
// most lines are only counted.
func (x *Executor) complain(ctx context.Context, reason string) {
	now := x.cfg.Clock.Now().UnixNano()
	last := x.complained.Load()
	if last != 0 && now-last < int64(quiet) || !x.complained.CompareAndSwap(last, now) {
		x.unsaid.Add(1)
		return
	}
	x.cfg.Log.WarnContext(ctx, "compat-proxy: no response from v1", slog.String("error", reason),
		slog.Int64("more", x.unsaid.Swap(0)))
}

// distrust closes the idle connections. One of them delivered a response to another request, and
// the next response may be wrong too.
func (x *Executor) distrust(ctx context.Context) {
	if c, ok := x.cfg.Transport.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
	x.complain(ctx, "response does not match the request: idle connections closed")
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
		return "no response in time"
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
	return "response is not HTTP, or the connection broke"
}

// between returns the reason to log for a response that is not v1's, and "" for one that is.
func (a answer) between() string {
	if !a.transient() || a.err.Code != "" {
		return ""
	}
	return "status " + strconv.Itoa(a.status) + " from a gateway in front of v1"
}
