package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// CreateMerchant creates a merchant whose day ends at midnight UTC, and returns its id.
func (a *Admin) CreateMerchant(ctx context.Context, name string) (string, error) {
	return a.CreateMerchantWith(ctx, operator.MerchantUpdate{Name: &name})
}

// CreateMerchantWith creates a merchant with the settings of u, and returns its id. u needs a name.
func (a *Admin) CreateMerchantWith(ctx context.Context, u operator.MerchantUpdate) (string, error) {
	if u.Name == nil {
		u.Name = new(string)
	}
	c, err := merchantChange(u)
	if err != nil {
		return "", err
	}
	var made string
	err = a.act(ctx, "merchants.create", "", func(r engine.Request) error {
		m, _, err := a.engine().CreateMerchant(ctx, r, c)
		if err != nil {
			return fmt.Errorf("create merchant: %w", err)
		}
		made = id.Format(id.Merchant, m.ID)
		return nil
	})
	return made, err
}

// merchantChange checks the settings of a merchant.
func merchantChange(u operator.MerchantUpdate) (payment.MerchantChange, error) {
	c, err := u.Change()
	if err != nil {
		return c, err
	}
	return c, checkText("merchant's name", c.Name)
}

// UpdateMerchant changes a merchant, mer_….
func (a *Admin) UpdateMerchant(ctx context.Context, merchant string, u operator.MerchantUpdate) error {
	c, err := merchantChange(u)
	if err != nil {
		return err
	}
	return a.onMerchant(ctx, "merchants.update", merchant, func(r engine.Request, n int64) error {
		_, err := a.engine().UpdateMerchant(ctx, r, n, c)
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
		return fmt.Errorf("merchant %q: %w", merchant, err)
	}
	return a.act(ctx, action, merchant, func(r engine.Request) error {
		err := fn(r, n)
		if errors.Is(err, payment.ErrNotFound) {
			return fmt.Errorf("merchant %s does not exist: see core merchants list", merchant)
		}
		return err
	})
}

// ListMerchants returns all merchants, oldest first.
func (a *Admin) ListMerchants(ctx context.Context) ([]operator.Merchant, error) {
	found, err := a.db.Merchants(ctx)
	if err != nil {
		return nil, fmt.Errorf("list merchants: %w", err)
	}
	out := make([]operator.Merchant, 0, len(found))
	for _, m := range found {
		out = append(out, api.ShowMerchant(m))
	}
	return out, nil
}

// SetUnlinkedRefunds allows or forbids unlinked refunds of a merchant, mer_…. For a new merchant
// they are forbidden.
func (a *Admin) SetUnlinkedRefunds(ctx context.Context, merchant string, allowed bool) error {
	return a.UpdateMerchant(ctx, merchant, operator.MerchantUpdate{UnlinkedRefunds: &allowed})
}
