package admin

import (
	"context"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// DueErasure is personal data of one merchant and mode that is past its period and not yet erased.
type DueErasure struct {
	Merchant string // mer_…
	Mode     string // test or live
	// Kind is transactions, refunds, events, customers or payment_methods for rows past their period.
	// delayed_ precedes it for rows whose erasure was delayed. Other kinds are deleted_customers and
	// inactive_customers.
	Kind   string
	Rows   int64
	Oldest time.Time
}

// PersonalDataDue lists the personal data that is due for erasure. keep and customers are the
// periods of the service, 0 for no end; merchants with their own periods keep these. Inactive
// customers were not changed within their period. The count includes customers that have paid
// since, which are not deleted.
func (a *Admin) PersonalDataDue(ctx context.Context, keep, customers time.Duration) ([]DueErasure, error) {
	const day = 24 * time.Hour
	found, err := a.db.DueErasures(ctx, a.dir.Clock.Now(),
		payment.Retention{Personal: int(keep / day), Customers: int(customers / day)})
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
			Merchant: id.Format(id.Merchant, d.Tenant.Merchant), Mode: mode, Kind: d.Kind, Rows: d.Rows, Oldest: d.Oldest,
		})
	}
	return out, nil
}
