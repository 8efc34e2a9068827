package executor

import (
	"context"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// showReplay shows a command with a stored result in the log line of the request, and in the
// metrics.
func (x *Executor) showReplay(ctx context.Context, kind command.Kind) {
	httpx.EventFrom(ctx).AddWord("replayed", string(kind))
	if x.cfg.ObserveReplay != nil {
		x.cfg.ObserveReplay(kind)
	}
}

// logObjects adds the ids of a result's objects to the log line of the request. It leaves tokens
// out, as v1 does.
func logObjects(ctx context.Context, r command.Result) {
	event := httpx.EventFrom(ctx)
	if r.Capture != nil {
		event.AddWord(httpx.WordObject, r.Capture.ID)
	}
	if r.Refund != nil {
		event.AddWord(httpx.WordObject, r.Refund.ID)
	}
	if r.Transaction != nil {
		event.AddWord(httpx.WordObject, r.Transaction.ID)
	}
	if r.Customer != nil {
		event.AddWord(httpx.WordObject, r.Customer.ID)
	}
	for _, m := range r.Methods {
		event.AddWord(httpx.WordObject, m.ID)
	}
}
