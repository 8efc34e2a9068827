package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// unwantedPart reports whether the acquirer approved less than the payment accepts.
func unwantedPart(t *payment.Transaction, a acquirer.Response) bool {
	return a.Approved && 0 < a.Amount && a.Amount < t.Amount && !t.Partial
}

// releasePart requests the release of an approval of less than the payment accepts, unless it was
// released before. It returns errStillHeld if the request has no response within the attempt's
// time. The payment then stays open, and recovery repeats the request under the same reference. The
// response to that reference is final. If it is a refusal, releasePart returns the minor units that
// the acquirer holds, and a pending reversal continues under other references.
func (e *Engine) releasePart(
	ctx context.Context, t *payment.Transaction, part acquirer.Response,
) (refused int64, err error) {
	if part.Released {
		return 0, nil
	}
	acq, err := e.acquirer(t.Tenant)
	if err != nil {
		return 0, err
	}
	a, err := acq.Void(ctx, acquirer.Follow{
		Reference: partReference(t), Original: acquirer.Sent{Reference: authorizationReference(t)},
		Amount: part.Amount, Currency: t.Currency,
	})
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errStillHeld, err)
	}
	if a.Approved {
		return 0, nil
	}
	e.Log.ErrorContext(ctx, "authorize: the acquirer refused to release an unwanted partial approval; its pending reversal retries",
		slog.String("transaction", authorizationReference(t)), slog.Int64("held", part.Amount),
		slog.String("response_code", a.ResponseCode))
	return part.Amount, nil
}

// errStillHeld: the release of an unwanted part has no response yet. The payment stays open until
// it has one.
var errStillHeld = errors.New("engine: the release of a partial approval has no response yet")

// declinedFor reports whether an attempt at a payment was declined because only a part was
// approved.
func declinedFor(t *payment.Transaction, attempt int64, part acquirer.Response) bool {
	final := t.Status == payment.Declined && t.Attempt == attempt
	waits := t.Status == payment.RequiresConfirmation && t.Attempt == attempt+1
	return (final || waits) && t.Result.DeclineCode == insufficientFunds &&
		t.Result.ResponseCode == part.ResponseCode && t.Result.Code == part.Code
}

// tooLittle turns an unwanted part into the decline that the merchant gets. It returns other
// results unchanged.
func tooLittle(a acquirer.Response) acquirer.Response {
	return acquirer.Response{
		Code: a.Code, NetworkTransactionID: a.NetworkTransactionID, NetworkLinkID: a.NetworkLinkID, ResponseCode: a.ResponseCode,
		Checks: a.Checks, Balance: a.Balance, DeclineCode: insufficientFunds,
	}
}

// insufficientFunds is the contract's decline code for a card that has less than the amount.
const insufficientFunds = "insufficient_funds"
