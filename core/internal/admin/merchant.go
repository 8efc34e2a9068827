package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// SameCutoff leaves a merchant's cut-off as it is.
const SameCutoff = -1

// Merchant is a merchant as `core merchants list` shows it.
type Merchant struct {
	ID        string // mer_…
	Name      string
	TimeZone  string // IANA name
	Cutoff    string // HH:MM, when its day ends there
	Disabled  bool   // its API keys are rejected
	CreatedAt time.Time
	// UnlinkedRefunds allows refunds to cards and bank accounts that paid nothing before.
	UnlinkedRefunds bool
	// KeepPersonal and KeepCustomers are the merchant's own periods in days; 0 for the periods of the
	// service.
	KeepPersonal, KeepCustomers int
}

// MerchantChange changes a merchant, or describes a new one.
type MerchantChange struct {
	Name            string // 1 to 200 characters; "" leaves it as it is
	Day             Day
	UnlinkedRefunds *bool // nil leaves it as it is, at first false
	// KeepPersonal and KeepCustomers are periods in days, 0 for the periods of the service; nil leaves
	// them as they are.
	KeepPersonal, KeepCustomers *int
}

// Same reports whether nothing is changed.
func (c MerchantChange) Same() bool { return c == MerchantChange{Day: Day{Cutoff: SameCutoff}} }

// checked returns a valid change as the store takes it.
func (c MerchantChange) checked() (payment.MerchantChange, error) {
	out := payment.MerchantChange{
		Name: c.Name, TimeZone: c.Day.TimeZone, Cutoff: c.Day.Cutoff, UnlinkedRefunds: c.UnlinkedRefunds,
	}
	out.Personal, out.Customers = c.KeepPersonal, c.KeepCustomers
	if c.Name != "" && !payment.ValidMerchantName(c.Name) {
		return out, errMerchantName
	}
	if err := checkText("merchant's name", c.Name); err != nil {
		return out, err
	}
	return out, errors.Join(c.Day.Validate(), checkKeepDays("keep personal data", c.KeepPersonal),
		checkKeepDays("keep customers", c.KeepCustomers))
}

var errMerchantName = errors.New("a merchant's name has 1 to 200 characters")

// Day is the time at which a merchant's day ends and its captures settle. At first it is midnight
// UTC.
type Day struct {
	TimeZone string // IANA name, such as Europe/Vienna; "" leaves it as it is
	Cutoff   int    // minutes after local midnight, 0 to 1439, or SameCutoff
}

// Validate returns an error if the day is not valid.
func (d Day) Validate() error {
	if d.TimeZone != "" && !payment.ValidTimeZone(d.TimeZone) {
		return fmt.Errorf("time zone %q is no IANA name", d.TimeZone)
	}
	if d.Cutoff != SameCutoff && !payment.ValidCutoff(d.Cutoff) {
		return fmt.Errorf("a cut-off is 00:00 to 23:59, not %d minutes", d.Cutoff)
	}
	return nil
}

// CreateMerchant creates a merchant whose day ends at midnight UTC, and returns its id.
func (a *Admin) CreateMerchant(ctx context.Context, name string) (string, error) {
	return a.CreateMerchantWith(ctx, MerchantChange{Name: name, Day: Day{Cutoff: SameCutoff}})
}

// CreateMerchantWith creates a merchant with the settings of c, and returns its id. c needs a
// name.
func (a *Admin) CreateMerchantWith(ctx context.Context, c MerchantChange) (string, error) {
	if c.Name == "" {
		return "", errMerchantName
	}
	checked, err := c.checked()
	if err != nil {
		return "", err
	}
	var made string
	err = a.act(ctx, "merchants.create", "", func(r engine.Request) error {
		result, err := a.engine().CreateMerchant(ctx, r, checked)
		if err != nil {
			return fmt.Errorf("create merchant: %w", err)
		}
		made = id.Format(id.Merchant, result.Object.(*payment.Merchant).ID)
		return nil
	})
	return made, err
}

// UpdateMerchant changes a merchant, mer_….
func (a *Admin) UpdateMerchant(ctx context.Context, merchant string, c MerchantChange) error {
	checked, err := c.checked()
	if err != nil {
		return err
	}
	return a.onMerchant(ctx, "merchants.update", merchant, func(r engine.Request, n int64) error {
		_, err := a.engine().UpdateMerchant(ctx, r, n, checked)
		return err
	})
}

// DisableMerchant disables a merchant, mer_…, or enables it again. A running core rejects the API
// keys of a disabled merchant within a second. It still finishes open payments.
func (a *Admin) DisableMerchant(ctx context.Context, merchant string, disabled bool) error {
	action := "merchants.enable"
	if disabled {
		action = "merchants.disable"
	}
	return a.onMerchant(ctx, action, merchant, func(r engine.Request, n int64) error {
		_, err := a.engine().DisableMerchant(ctx, r, n, disabled)
		return err
	})
}

// onMerchant runs an action on a merchant by its id.
func (a *Admin) onMerchant(ctx context.Context, action, merchant string, fn func(engine.Request, int64) error) error {
	n, err := id.Parse(id.Merchant, merchant)
	if err != nil {
		return fmt.Errorf("merchant %q is not an id: %w", merchant, err)
	}
	return a.act(ctx, action, merchant, func(r engine.Request) error {
		err := fn(r, n)
		if errors.Is(err, engine.ErrNotFound) {
			return fmt.Errorf("there is no merchant %s", merchant)
		}
		return err
	})
}

// ListMerchants returns all merchants, oldest first.
func (a *Admin) ListMerchants(ctx context.Context) ([]Merchant, error) {
	found, err := a.db.Merchants(ctx)
	if err != nil {
		return nil, fmt.Errorf("list merchants: %w", err)
	}
	out := make([]Merchant, 0, len(found))
	for _, row := range found {
		m := api.ShowMerchant(row)
		out = append(out, Merchant{
			ID: m.ID, Name: m.Name, TimeZone: m.TimeZone, Cutoff: m.Cutoff, Disabled: m.DisabledAt != nil,
			CreatedAt: m.CreatedAt.Time, UnlinkedRefunds: m.UnlinkedRefunds,
			KeepPersonal: row.Retention.Personal, KeepCustomers: row.Retention.Customers,
		})
	}
	return out, nil
}

// SetUnlinkedRefunds allows or forbids refunds of a merchant, mer_…, to cards and bank accounts
// that paid nothing before. At first they are forbidden.
func (a *Admin) SetUnlinkedRefunds(ctx context.Context, merchant string, allowed bool) error {
	return a.UpdateMerchant(ctx, merchant, MerchantChange{Day: Day{Cutoff: SameCutoff}, UnlinkedRefunds: &allowed})
}

// checkKeepDays checks the period of a merchant in days; nil and 0 are the period of the service.
func checkKeepDays(name string, days *int) error {
	if days != nil && !payment.ValidKeepDays(*days) {
		return fmt.Errorf("%s %d: want 60 to 36525 days, or 0 for the period of the service", name, *days)
	}
	return nil
}
