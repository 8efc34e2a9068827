package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// SettlementOutcome is how an operator ends a settlement exception.
type SettlementOutcome string

// The outcomes.
const (
	OutcomeSettled    SettlementOutcome = "settled"     // the money arrived
	OutcomeNotSettled SettlementOutcome = "not_settled" // it never will: the capture stays unsettled
)

// SettlementResolution is an operator's decision about a settlement exception.
type SettlementResolution struct {
	Outcome SettlementOutcome
	Reason  string // 10 to 500 characters: by which statement or person
	// DespiteFailedReport confirms that the money arrived although the acquirer's report is that the
	// settlement failed.
	DespiteFailedReport bool
}

// ErrFailedReport reports a resolution as settled that contradicts the acquirer's report, without
// DespiteFailedReport.
var ErrFailedReport = errors.New("engine: the acquirer's report is that the capture did not settle")

// ResolvedException is a settlement exception. Its resolution is nil unless an operator has ended
// it.
type ResolvedException struct {
	*payment.SettlementException
	Resolution *SettlementResolution
}

// ResolveException ends the settlement exception of a capture as an operator decides, with the
// event and the audit record in one commit. It moves no money. It returns payment.ErrNotFound if
// there is no such exception, and ErrFailedReport.
func (e *Engine) ResolveException(
	ctx context.Context, r Request, capture int64, d SettlementResolution,
) (Result, error) {
	defer e.running.enter(ctx, r)()
	out, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		x, err := tx.SettlementException(capture)
		if err != nil {
			return nil, err
		}
		if d.Outcome == OutcomeSettled && x.Kind == payment.FailedSettlement && !d.DespiteFailedReport {
			return nil, ErrFailedReport
		}
		if err := e.endException(tx, x, d.Outcome); errors.Is(err, store.ErrConflict) {
			return nil, fmt.Errorf("the capture has changed: %w", store.ErrChanged)
		} else if err != nil {
			return nil, err
		}
		result := e.existing(&ResolvedException{x, &d})
		return &result, e.Audit(tx, r, Action{
			Name: "settlements.resolve", Object: id.Format(id.Capture, capture),
			Before: string(e.shown(&ResolvedException{x, nil})), After: string(result.Body),
		})
	})
	return value(out), err
}

func (e *Engine) endException(tx *store.Tx, x *payment.SettlementException, outcome SettlementOutcome) error {
	if outcome == OutcomeNotSettled {
		return tx.EndException(x.Capture)
	}
	day, err := lastDay(tx, x.Tenant.Merchant)
	if err != nil {
		return err
	}
	totals := store.DayTotals{}
	whole, err := tx.SettleCapture(x.Tenant, x.Transaction, x.Capture, day, totals)
	if err == nil && whole {
		_, err = e.announceSettled(tx, x.Tenant, x.Transaction)
	}
	if err != nil {
		return err
	}
	return tx.AddToDay(x.Tenant, day, totals)
}

// lastDay returns when the last day of a merchant ended.
func lastDay(tx *store.Tx, merchant int64) (time.Time, error) {
	m, err := tx.Merchant(merchant)
	if err != nil {
		return time.Time{}, err
	}
	zone, err := time.LoadLocation(m.TimeZone)
	if err != nil {
		return time.Time{}, fmt.Errorf("time zone of the merchant: %w", err)
	}
	return payment.LastCutoff(tx.Now, zone, m.Cutoff), nil
}
