package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// SameCutoff leaves a merchant's cut-off as it is.
const SameCutoff = -1

// Day says when a merchant's day ends: what was captured until then settles. At first it is midnight UTC.
type Day struct {
	TimeZone string // IANA name, such as Europe/Vienna; "" leaves it as it is
	Cutoff   int    // minutes after local midnight, 0 to 1439, or SameCutoff
}

// SetDay changes when the day of a merchant, mer_…, ends.
func (a *Admin) SetDay(ctx context.Context, merchant string, d Day) error {
	n, err := id.Parse(id.Merchant, merchant)
	if err != nil {
		return fmt.Errorf("merchant %q is not an id: %w", merchant, err)
	}
	if err := d.Validate(); err != nil {
		return err
	}
	err = a.db.Update(ctx, func(tx *store.Tx) error { return tx.SetDay(n, d.TimeZone, d.Cutoff) })
	if errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("there is no merchant %s", merchant)
	}
	return err
}

// Validate says what is wrong with a day, or nil.
func (d Day) Validate() error {
	// "Local" is the machine's, which is nobody's time zone.
	if _, err := time.LoadLocation(d.TimeZone); err != nil || d.TimeZone == "Local" {
		return fmt.Errorf("time zone %q is no IANA name", d.TimeZone)
	}
	if d.Cutoff != SameCutoff && (d.Cutoff < 0 || d.Cutoff >= payment.DayMinutes) {
		return fmt.Errorf("a cut-off is 00:00 to 23:59, not %d minutes", d.Cutoff)
	}
	return nil
}
