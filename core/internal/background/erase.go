package background

import (
	"context"
	"errors"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/api"
)

// eraser erases personal data that is older than its period, and that of deleted customers.
type eraser struct {
	Config
	passes int
}

// pass erases the data that is due. Once a day it also reads all customers, and the events of
// erased objects.
func (e *eraser) pass(ctx context.Context) error {
	eng, now := e.Engine, e.Engine.Clock.Now
	daily := e.passes%int(day/eraseEvery) == 0
	e.passes++
	var failed error
	erased := func(of string, n int64, err error) {
		e.Metrics.PersonalErased(n, err)
		failed = errors.Join(failed, err)
		if n > 0 {
			eng.Log.InfoContext(ctx, "personal data erased", slog.String("of", of), slog.Int64("rows", n))
		}
	}
	if daily {
		n, err := eng.DeleteInactiveCustomers(ctx, int(e.KeepCustomers/day))
		erased("customers", n, err)
	}
	n, err := eng.Store.ErasePersonal(ctx, now(), int(e.KeepPersonal/day), api.Impersonal)
	erased("payments", n, err)
	erased("announcements of deletions", 0, eng.AnnounceDeletions(ctx))
	n, err = eng.Store.EraseCustomerEvents(ctx, now(), api.Erased)
	erased("events of deleted customers", n, err)
	if daily {
		n, err := eng.Store.ErasePersonalEvents(ctx, now(), api.Impersonal)
		erased("events", n, err)
	}
	return failed
}
