package engine

import (
	"context"
	"errors"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// unwantedPart reports whether the acquirer approved less than a payment may be taken for.
func unwantedPart(t *payment.Transaction, a acquirer.Answer) bool {
	return a.Approved && 0 < a.Amount && a.Amount < t.Amount && !t.Partial
}

// releasePart has the acquirer reverse an approval of less than the payment may be taken for, and reports whether that is done. The payment stays
// open until then, so whatever happens in between, recovery finds the approval again and comes back here: the reference makes asking
// again safe.
func (e *Engine) releasePart(ctx context.Context, t *payment.Transaction, held int64) bool {
	acq, err := e.acquirer(t.Tenant)
	if err != nil {
		return false
	}
	a, err := call(ctx, func(ctx context.Context) (acquirer.Answer, error) {
		return acq.Void(ctx, acquirer.Follow{
			Reference: partReference(t), Authorization: authorizationReference(t), Amount: held, Currency: t.Currency,
		})
	})
	if err != nil || !a.Approved {
		e.Log.ErrorContext(ctx, "partial approval that was not asked for: not reversed yet",
			slog.String("transaction", authorizationReference(t)), slog.Any("error", err))
		return false
	}
	return true
}

// errStillHeld: an approval of less than the payment accepts could not be reversed yet. The payment stays open until it is.
var errStillHeld = errors.New("engine: a partial approval is not reversed yet")

// tooLittle turns an approval that was reversed into the decline it is for the merchant. What else the acquirer said stays.
func tooLittle(a acquirer.Answer) acquirer.Answer {
	return acquirer.Answer{
		Code: a.Code, NetworkTransactionID: a.NetworkTransactionID, ResponseCode: a.ResponseCode, Checks: a.Checks, Balance: a.Balance,
		DeclineCode: insufficientFunds,
	}
}

// insufficientFunds is the contract's decline code for a card that has less than the amount.
const insufficientFunds = "insufficient_funds"
