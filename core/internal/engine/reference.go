package engine

import (
	"strconv"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// authorizationReference returns the acquirer's reference of an authorization. A confirmation that
// failed was reversed, so the next one has another reference.
func authorizationReference(t *payment.Transaction) string {
	name := id.Format(id.Transaction, t.ID)
	if t.Attempt <= 1 {
		return name
	}
	return name + "_" + strconv.FormatInt(t.Attempt, 10)
}

// The acquirer's references of other requests.
func captureReference(c *payment.Capture) string { return id.Format(id.Capture, c.ID) }

func refundReference(r *payment.Refund) string { return id.Format(id.Refund, r.ID) }

// voidReference names a void by its transaction and its number. The number alone is not unique: two
// cores can draw the same number for voids of two transactions.
func voidReference(t *payment.Transaction) string {
	return "void_" + id.Format(id.Transaction, t.ID)[4:] + "_" + id.Format(id.Transaction, t.OperationID)[4:]
}

// partReference names the reversal of an authorization of less than its payment accepts.
func partReference(t *payment.Transaction) string {
	return "part_" + authorizationReference(t)[4:]
}

// stepReference returns the acquirer's idempotency key of a step.
func stepReference(s payment.StepID) string {
	switch s.Kind {
	case payment.CaptureStep:
		return captureReference(&payment.Capture{ID: s.ID})
	case payment.VoidStep:
		return voidReference(&payment.Transaction{ID: s.Transaction, OperationID: s.ID})
	case payment.RefundStep:
		return refundReference(&payment.Refund{ID: s.ID})
	case payment.AuthorizeStep, payment.ReversalStep:
	}
	return authorizationReference(&payment.Transaction{ID: s.Transaction, Attempt: s.Attempt})
}

// reversalReference returns the reference of the next release request. Each release request after a
// response gets a new reference, because the acquirer replays a response under the old one. So does
// the next one after a refund that certainly had no effect. Drop and release requests have
// different references, because a drop may arrive before the step.
func reversalReference(r *payment.Reversal, known bool) string {
	name := "reverse_"
	if known {
		name = "late_"
	}
	name += stepReference(r.Step)
	if r.Asked == 0 {
		return name
	}
	return name + "_r" + strconv.FormatInt(r.Asked, 10)
}
