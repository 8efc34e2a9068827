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

// quiet is for how long one complaint stands for all that come after it.
const quiet = 10 * time.Second

// complain tells the log why v1 does not answer. While it does not, every request has the same to say, so most of it is left out.
func (x *Executor) complain(ctx context.Context, reason string) {
	now := x.cfg.Clock.Now().UnixNano()
	last := x.complained.Load()
	if last != 0 && now-last < int64(quiet) || !x.complained.CompareAndSwap(last, now) {
		x.unsaid.Add(1)
		return
	}
	x.cfg.Log.WarnContext(ctx, "compat-proxy: no answer from v1", slog.String("error", reason), slog.Int64("more", x.unsaid.Swap(0)))
}

// distrust lets go of the connections that are kept: over one of them came an answer that was not to what was asked, and the next may be of
// the same kind.
func (x *Executor) distrust(ctx context.Context) {
	if c, ok := x.cfg.Transport.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
	x.complain(ctx, "the answer is not to what was asked; kept connections are closed")
}

// causes are the errors whose own text says nothing of what was sent or answered.
var causes = []error{
	io.EOF, io.ErrUnexpectedEOF, http.ErrSchemeMismatch, upstream.ErrTooLarge, upstream.ErrProtocol,
}

// cause is what may be told of why a call was not answered. The texts of other errors repeat what came.
func cause(err error) string {
	var certificate *tls.CertificateVerificationError
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
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
	return "the answer is not HTTP, or the connection broke"
}

// between is what to say of an answer that is not v1's; "" for any that is.
func (a answer) between() string {
	if !a.transient() || a.err.Code != "" {
		return ""
	}
	return "status " + strconv.Itoa(a.status) + " from something in front of v1"
}
