package core

import (
	"context"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
)

// DueErasure is personal data of one merchant and mode that is past its period and not yet erased.
type DueErasure struct {
	Merchant string // mer_…
	Mode     string // test or live
	Kind     string // transactions, refunds, events, delayed_transactions, deleted_customers, customers
	Rows     int64  // 1000 at most
	More     bool   // there are more rows
	Oldest   time.Time
}

// PersonalDataDue lists the personal data that is to be erased and is not yet. keep and customers are
// the periods of the service, 0 for no end; merchants with their own periods keep these. Of
// customers it counts those that were not changed within their period; those that have paid since
// are not deleted.
func (a *Admin) PersonalDataDue(ctx context.Context, keep, customers time.Duration) ([]DueErasure, error) {
	found, err := a.db.DueErasures(ctx, a.cfg.Clock.Now(), int(keep/day), int(customers/day))
	if err != nil {
		return nil, err
	}
	out := make([]DueErasure, 0, len(found))
	for _, d := range found {
		mode := "test"
		if d.Tenant.Live {
			mode = "live"
		}
		out = append(out, DueErasure{
			Merchant: id.Format(id.Merchant, d.Tenant.Merchant), Mode: mode, Kind: d.Kind, Rows: d.Rows, More: d.More, Oldest: d.Oldest,
		})
	}
	return out, nil
}
