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

// ErrNoException reports that no such settlement exception exists. A late report may have ended it.
var ErrNoException = errors.New("the settlement exception does not exist, or it has ended: see core settlements list")

// SettlementExceptions returns the captures of live mode that no report settles, oldest first, at
// most limit. merchant is mer_… or "" for all.
func (a *Admin) SettlementExceptions(
	ctx context.Context, merchant string, limit int,
) ([]operator.SettlementException, error) {
	var f payment.ExceptionFilter
	if merchant != "" {
		n, err := id.Parse(id.Merchant, merchant)
		if err != nil {
			return nil, fmt.Errorf("merchant %q: %w", merchant, err)
		}
		f.Merchant = n
	}
	found, err := a.db.SettlementExceptions(ctx, f, limit)
	if err != nil {
		return nil, fmt.Errorf("list settlement exceptions: %w", err)
	}
	out := make([]operator.SettlementException, 0, len(found))
	for _, x := range found {
		out = append(out, api.ShowException(&x, nil))
	}
	return out, nil
}

// ResolveException ends the settlement exception of a capture, cap_…: settled or not_settled. The
// reason has 10 to 500 characters.
func (a *Admin) ResolveException(ctx context.Context, capture, outcome, reason string) error {
	n, err := id.Parse(id.Capture, capture)
	if err != nil {
		return fmt.Errorf("capture %q: %w", capture, err)
	}
	if err := checkText("reason", reason); err != nil {
		return err
	}
	d, err := operator.SettlementResolve{Outcome: outcome, Reason: reason}.Resolution()
	if err != nil {
		return err
	}
	return a.act(ctx, "settlements.resolve", capture, func(r engine.Request) error {
		_, err := a.engine().ResolveException(ctx, r, n, d)
		if errors.Is(err, payment.ErrNotFound) {
			return ErrNoException
		}
		return err
	})
}
