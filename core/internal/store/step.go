package store

import "github.com/causeway-pay/causeway/core/internal/payment"

var (
	correctCaptureOfTransaction = declare("correctCaptureOfTransaction")
	correctCapture              = declare("correctCapture")
	correctRefund               = declare("correctRefund")
	correctRefundOfTransaction  = declare("correctRefundOfTransaction")
	correctRefundOfCapture      = declare("correctRefundOfCapture")
	correctVoid                 = declare("correctVoid")
	voidCaptures                = declare("voidCaptures")
	reclaimAuthorization        = declare("reclaimAuthorization")
	reclaimVoid                 = declare("reclaimVoid")
	reclaimCapture              = declare("reclaimCapture")
	reclaimRefund               = declare("reclaimRefund")
)

// reclaimable marks an unfinished step with the time ?3, by its kind, unless it is marked. ?1 and
// ?2 name the step, as stepArgs does.
var reclaimable = map[payment.StepKind]*Statement{
	payment.AuthorizeStep: reclaimAuthorization, payment.VoidStep: reclaimVoid,
	payment.CaptureStep: reclaimCapture, payment.RefundStep: reclaimRefund,
}

// stepArgs names a step in a statement: its transaction, and its attempt or its own id.
func stepArgs(s payment.StepID) (transaction, step int64) {
	if s.Kind == payment.AuthorizeStep {
		return s.Transaction, s.Attempt
	}
	return s.Transaction, s.ID
}

// ReclaimStep marks an unfinished step that recovery is about to take up: from now on its first
// attempt is not the only one. ErrConflict if the step has ended, or is marked.
func (tx *Tx) ReclaimStep(s payment.StepID) error {
	transaction, step := stepArgs(s)
	return tx.change(reclaimable[s.Kind], transaction, step, toMillis(tx.Now))
}

// KeepStep locks an unfinished step that its first attempt is about to close because that attempt
// had no effect. Until the command ends, recovery cannot take the step up. ErrConflict if the step
// has ended, or if recovery has taken it up: the first attempt then no longer proves anything.
func (tx *Tx) KeepStep(s payment.StepID) error {
	transaction, step := stepArgs(s)
	return tx.change(reclaimable[s.Kind], transaction, step, 0)
}

// CorrectCapture records that the acquirer took a failed capture after all. ErrConflict if the
// capture did not fail, or if the transaction has less left to capture or is in another step; then
// nothing is changed.
func (tx *Tx) CorrectCapture(c *payment.Capture) error {
	return tx.whole(func() error {
		err := tx.change(correctCaptureOfTransaction,
			c.Amount, c.Final, toMillis(tx.Now), c.Transaction)
		if err != nil {
			return err
		}
		err = tx.change(correctCapture, toMillis(tx.Now), c.ID)
		if err != nil {
			return err
		}
		c.State, c.FailureCode, c.FailureMessage, c.UpdatedAt = payment.StepSucceeded, "", "", tx.Now
		return nil
	})
}

// CorrectRefund records that the acquirer made a failed refund after all. ErrConflict if the refund
// did not fail, or if its transaction or capture has less left to refund; then nothing is changed.
func (tx *Tx) CorrectRefund(r *payment.Refund) error {
	return tx.whole(func() error {
		if err := tx.takeRefundable(r); err != nil {
			return err
		}
		err := tx.change(correctRefund, toMillis(tx.Now), r.ID)
		if err != nil {
			return err
		}
		r.State, r.FailureCode, r.FailureMessage, r.UpdatedAt = payment.StepSucceeded, "", "", tx.Now
		return nil
	})
}

// takeRefundable adds a refund to the refunded amounts of its transaction and capture. ErrConflict
// if they have less left.
func (tx *Tx) takeRefundable(r *payment.Refund) error {
	if r.Transaction == 0 {
		return nil
	}
	err := tx.change(correctRefundOfTransaction, r.Amount, toMillis(tx.Now), r.Transaction)
	if err != nil || r.Capture == 0 {
		return err
	}
	return tx.change(correctRefundOfCapture,
		r.Amount, toMillis(tx.Now), r.Capture)
}

// CorrectVoid records that the acquirer made a refused void after all. ErrConflict if the
// transaction can no longer be voided.
func (tx *Tx) CorrectVoid(transaction int64) error {
	err := tx.change(correctVoid, toMillis(tx.Now), transaction)
	if err != nil {
		return err
	}
	return tx.voidCaptures(transaction)
}

func (tx *Tx) voidCaptures(transaction int64) error {
	return tx.exec(voidCaptures,
		toMillis(tx.Now), transaction)
}
