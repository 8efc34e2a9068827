package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// unwantedPart reports whether the acquirer approved less than the payment accepts.
func unwantedPart(t *payment.Transaction, a acquirer.Response) bool {
	return a.Approved && 0 < a.Amount && a.Amount < t.Amount && !t.Partial
}

// releasePart requests the release of an approval of less than the payment accepts, unless it was
// released before. It returns errStillHeld if the request has no response within the attempt's
// time. The payment then stays open, and recovery repeats the request under the same reference. The
// response to that reference is final. If it is a refusal, releasePart returns the minor units that
// the acquirer holds, and a pending reversal continues under other references. It does so, too, if
// the payment is not open any more, because then the tag of the request cannot be stored.
func (e *Engine) releasePart(
	ctx context.Context, t *payment.Transaction, part acquirer.Response, repeated bool,
) (refused int64, err error) {
	if part.Released {
		return 0, nil
	}
	acq, err := e.account(ctx, t.Tenant, t.Account)
	if err != nil {
		return 0, err
	}
	err = e.tagRelease(ctx, acq, t)
	if errors.Is(err, store.ErrConflict) {
		return part.Amount, nil // the payment has ended, or another attempt releases the part
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errStillHeld, err)
	}
	original := sentAuthorization(t)
	original.ID, original.Amount = part.ID, part.Amount
	a, err := releaseByVoid(ctx, acq, acquirer.Follow{
		Reference: partReference(t), Tag: t.VoidTag, Again: repeated, Original: original,
		Amount: part.Amount, Currency: t.Currency, Last4: last4(t.Details),
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

// tagRelease stores the tag of the release of a part before the request, unless it has one. A tag
// of "" needs no commit.
func (e *Engine) tagRelease(ctx context.Context, acq acquirer.Acquirer, t *payment.Transaction) error {
	if t.VoidTag != "" {
		return nil
	}
	tag, err := prepare(ctx, acq)
	if err != nil || tag == "" {
		return err
	}
	tagged := *t
	tagged.VoidTag = tag
	if err := e.Store.Finish(ctx, t.Tenant, func(tx *store.Tx) error { return tx.TagRelease(&tagged) }); err != nil {
		return err
	}
	t.VoidTag = tag
	return nil
}

// releaseByVoid voids a payment. If an earlier attempt proves to have had no effect, it sends the
// void as a first one under the same reference. A payment is voided at most once.
func releaseByVoid(ctx context.Context, acq acquirer.Acquirer, r acquirer.Follow) (acquirer.Response, error) {
	a, err := acq.Void(ctx, r)
	if r.Again && errors.Is(err, acquirer.ErrNotFound) {
		r.Again = false
		return acq.Void(ctx, r)
	}
	return a, err
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
		ID: a.ID, Code: a.Code, NetworkTransactionID: a.NetworkTransactionID, NetworkLinkID: a.NetworkLinkID, ResponseCode: a.ResponseCode,
		Checks: a.Checks, Balance: a.Balance, DeclineCode: insufficientFunds,
	}
}

// insufficientFunds is the contract's decline code for a card that has less than the amount.
const insufficientFunds = "insufficient_funds"
