package executor

import (
	"context"
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
)

// minTimeDivisor sets the time that a command needs: it begins only if TotalTimeout/minTimeDivisor
// is left.
const minTimeDivisor = 10

// Begin returns the context of one legacy request. Its deadline, TotalTimeout from now, bounds all
// commands of the request together. Keep TotalTimeout below the 60 seconds after which the
// proxy's HTTP server ends a response.
func (x *Executor) Begin(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, x.cfg.TotalTimeout)
}

// MayBegin reports whether a command that runs under ctx has enough time left to begin.
func (x *Executor) MayBegin(ctx context.Context) bool {
	deadline, bounded := ctx.Deadline()
	return !bounded || time.Until(deadline) >= x.cfg.TotalTimeout/minTimeDivisor
}

// detached returns a context with the deadline of ctx, at most TotalTimeout from now. It does not
// end when ctx is canceled or its client hangs up.
func (x *Executor) detached(ctx context.Context) (context.Context, context.CancelFunc) {
	left := x.cfg.TotalTimeout
	if deadline, bounded := ctx.Deadline(); bounded {
		left = min(left, time.Until(deadline))
	}
	return context.WithTimeout(context.WithoutCancel(ctx), left)
}

// notBegun returns the result of a command that had too little time left.
func notBegun() command.Result {
	return command.Result{Outcome: command.Unavailable, Status: http.StatusServiceUnavailable, Code: command.CodeNotBegun}
}
