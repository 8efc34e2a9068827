package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/audit"
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

// resolveExceptions is the action of ResolveException in the audit record.
const resolveExceptions = "settlements.resolve"

// ResolveException ends the settlement exception of a capture, cap_…, and returns it as it was.
func (a *Admin) ResolveException(
	ctx context.Context, capture string, in operator.SettlementResolve,
) (out operator.SettlementException, err error) {
	n, err := id.Parse(id.Capture, capture)
	if err != nil {
		return out, fmt.Errorf("capture %q: %w", capture, err)
	}
	if err := checkText("reason", in.Reason); err != nil {
		return out, err
	}
	d, err := in.Resolution()
	if err != nil {
		return out, err
	}
	found, err := a.db.SettlementExceptions(ctx, payment.ExceptionFilter{Capture: n}, 1)
	if err != nil {
		return out, fmt.Errorf("read the settlement exception: %w", err)
	}
	if len(found) > 0 {
		out = api.ShowException(&found[0], nil)
	}
	return out, a.act(ctx, resolveExceptions, capture, func(r engine.Request) error {
		_, err := a.engine().ResolveException(ctx, r, n, d)
		switch {
		case errors.Is(err, payment.ErrNotFound):
			return a.ended(ctx, capture)
		case errors.Is(err, engine.ErrFailedReport):
			return fmt.Errorf("the report of %s, %d %s, is that it did not settle (%s). If the money is on the "+
				"acquirer's statement, repeat the command with --despite-failed-report. Both outcomes are final",
				capture, out.Amount, out.Currency, out.Report)
		}
		return err
	})
}

// ended returns the error for an exception that does not exist. If an operator has resolved it, the
// error names the operator and the time.
func (a *Admin) ended(ctx context.Context, capture string) error {
	var by *audit.Record
	err := a.eachAuditRecord(ctx, func(r *audit.Record) error {
		if r.Action == resolveExceptions && r.Object == capture && r.Outcome == audit.Done {
			by = r
		}
		return nil
	})
	if err != nil || by == nil {
		return errors.Join(ErrNoException, err)
	}
	return fmt.Errorf("%s was resolved by %s at %s. Both outcomes are final: see core audit list",
		capture, by.Actor, by.At.Format(time.RFC3339))
}
