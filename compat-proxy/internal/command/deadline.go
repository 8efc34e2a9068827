package command

import (
	"context"
	"net/http"
	"time"
)

// CodeNotBegun is not a v1 code: the legacy request had too little time left, and nothing of the
// command was sent.
const CodeNotBegun = "not_begun"

// leastShare is a divisor: a command begins only with at least this share of TotalTimeout left.
const leastShare = 10

// Begin returns the context of one legacy request. Its deadline, TotalTimeout from now, bounds all
// commands that run under it together. The proxy's HTTP servers end a response 60 seconds after the
// request began.
func (x *Executor) Begin(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, x.cfg.TotalTimeout)
}

// MayBegin reports whether a command that runs under ctx has enough time left to begin.
func (x *Executor) MayBegin(ctx context.Context) bool {
	deadline, bounded := ctx.Deadline()
	return !bounded || time.Until(deadline) >= x.cfg.TotalTimeout/leastShare
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

// notBegun is the result of a command that had too little time left.
func notBegun() Result {
	return Result{Outcome: Unavailable, Status: http.StatusServiceUnavailable, Code: CodeNotBegun}
}
