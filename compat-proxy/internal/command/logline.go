package command

import (
	"context"

	"github.com/causeway-pay/causeway/shared/httpx"
)

// logObjects puts the ids of the objects of a result into the log line of the request. A token is
// none of them: v1 keeps its id out of log lines too.
func logObjects(ctx context.Context, r Result) {
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
