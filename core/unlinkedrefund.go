package core

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// SetUnlinkedRefunds says whether a merchant, mer_…, may give money to cards and bank accounts that it took none from. At first it may not.
func (a *Admin) SetUnlinkedRefunds(ctx context.Context, merchant string, allowed bool) error {
	n, err := id.Parse(id.Merchant, merchant)
	if err != nil {
		return fmt.Errorf("merchant %q is not an id: %w", merchant, err)
	}
	err = a.db.Update(ctx, func(tx *store.Tx) error { return tx.SetUnlinkedRefunds(n, allowed) })
	if errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("there is no merchant %s", merchant)
	}
	return err
}
