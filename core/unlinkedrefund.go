package core

import "context"

// SetUnlinkedRefunds says whether a merchant, mer_…, may give money to cards and bank accounts that it took none from. At first it may not.
func (a *Admin) SetUnlinkedRefunds(ctx context.Context, merchant string, allowed bool) error {
	return a.UpdateMerchant(ctx, merchant, MerchantChange{Day: Day{Cutoff: SameCutoff}, UnlinkedRefunds: &allowed})
}
