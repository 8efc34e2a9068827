package engine

import (
	"context"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
)

// step is one request to the acquirer from its intent to its outcome: an authorization, a capture,
// a void, a refund or an unlinked refund. All kinds share attempt.go and differ only in these
// methods.
//
// A step is never concluded from one attempt while another may be under way. Recovery marks a step
// before it sends anything (store.Tx.ReclaimStep). From then on an error proves nothing, because it
// applies to one attempt only. A step closed without proof gets a pending reversal in the same
// commit. An approval that finds its step closed corrects the step or is reversed (late.go).
type step interface {
	about() about
	// attempt sends the request, under the same reference in each attempt. repeated is false in the
	// first attempt. A step whose card number is gone inquires instead.
	attempt(ctx context.Context, acq acquirer.Acquirer, repeated bool) (acquirer.Response, error)
	// commit writes the acquirer's result, and returns the response that was stored with it. It
	// returns store.ErrConflict if the step is not open.
	commit(ctx context.Context, from origin, a acquirer.Response) (Result, error)
	// cancel closes the step as one that had no effect.
	cancel(tx *store.Tx) error
	// missing closes a step that the acquirer does not have. For a capture, void or refund, the
	// acquirer must have proved that it cannot arrive later.
	missing(ctx context.Context) error
	// leave leaves the open step to recovery, and returns the transaction for the response, nil if
	// there is none or it cannot be read.
	leave(ctx context.Context) *payment.Transaction
	// correct records the approval a of a step that was closed without this effect. If it recorded the
	// effect, it returns the response to a success, otherwise the zero Result. look is the pending
	// reversal that found the approval, nil for a response.
	correct(tx *store.Tx, a acquirer.Response, look *payment.Reversal) (Result, correction, error)
}

// about describes a step.
type about struct {
	payment.StepID
	tenant    payment.Tenant
	claim     int64  // the idempotency key that the step holds, 0 for none
	account   int64  // the acquirer account, 0 for the simulator
	reference string // the acquirer's idempotency key
	tag       string // the acquirer's, of the reference
	details   []byte // of the object that shows the payment source; nil if the step has none
	amount    int64  // minor units
	currency  string
	captured  bool          // the step takes money; after its settlement, only a refund can return it
	drawn     int64         // the object that used the token up
	method    string        // the payment method that the request named, "" for none
	secrets   vault.Secrets // of the token, if method is one
}

// origin is the attempt that a result belongs to: a request's, or recovery's.
type origin struct {
	request  string            // request id
	recovery bool              // of recovery
	look     *payment.Reversal // the pending reversal that found the result; nil for none
}

// reversal returns the pending reversal of a step that is closed at a time. It is due immediately.
func (o about) reversal(at time.Time) *payment.Reversal {
	return &payment.Reversal{
		Step: o.StepID, Tenant: o.tenant, Amount: o.amount, Currency: o.currency, Captured: o.captured, Since: at, DueAt: at,
		Account: o.account, Tag: o.tag, Last4: last4(o.details),
	}
}

// correction is the effect of an approval on its step (step.correct).
type correction string

const (
	notClosed     correction = "not_closed"     // the step is open, or has this effect
	recorded      correction = "recorded"       // the step was closed, and now has the effect
	leftToLook    correction = "left_to_look"   // a pending reversal decides (mustLook)
	samePart      correction = "same_part"      // the payment was declined because of this unwanted part
	notRecordable correction = "not_recordable" // the step is closed, and the acquirer must reverse the effect
)
