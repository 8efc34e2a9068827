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

// reclaimable has by kind the statement that marks an unfinished step with the time ?3, unless it
// is marked. ?1 and ?2 identify the step, as stepArgs does. ?4 is its account.
var reclaimable = map[payment.StepKind]*Statement{
	payment.AuthorizeStep: reclaimAuthorization, payment.VoidStep: reclaimVoid,
	payment.CaptureStep: reclaimCapture, payment.RefundStep: reclaimRefund,
}

// stepArgs identifies a step in a statement: by its transaction, and by its attempt or id.
func stepArgs(s payment.StepID) (transaction, step int64) {
	if s.Kind == payment.AuthorizeStep {
		return s.Transaction, s.Attempt
	}
	return s.Transaction, s.ID
}

// ReclaimStep marks an unfinished step at an account that recovery reclaims: from now on its first
// attempt is not the only one. It returns ErrConflict if the step has ended, has moved to another
// account, or is marked already.
func (tx *Tx) ReclaimStep(s payment.StepID, account int64) error {
	transaction, step := stepArgs(s)
	return tx.execOne(reclaimable[s.Kind], transaction, step, toMillis(tx.Now), account)
}

// LockUnreclaimed locks an unfinished step at an account that its first attempt is about to close
// or to move, because that attempt had no effect. Until the command ends, recovery cannot reclaim
// the step. It returns ErrConflict if the step has ended, or if recovery has reclaimed it: the
// first attempt then proves nothing.
func (tx *Tx) LockUnreclaimed(s payment.StepID, account int64) error {
	transaction, step := stepArgs(s)
	return tx.execOne(reclaimable[s.Kind], transaction, step, 0, account)
}

// CorrectCapture records that a capture which was recorded as failed succeeded at the acquirer. It
// returns ErrConflict if the capture is not recorded as failed, or if another step is in progress.
// It also does if the transaction has less left to capture. Nothing is changed then.
func (tx *Tx) CorrectCapture(c *payment.Capture) error {
	return tx.savepoint(func() error {
		err := tx.execOne(correctCaptureOfTransaction,
			c.Amount, c.Final, toMillis(tx.Now), c.Transaction)
		if err != nil {
			return err
		}
		err = tx.execOne(correctCapture, toMillis(tx.Now), c.ID, c.AcquirerID)
		if err != nil {
			return err
		}
		c.State, c.FailureCode, c.FailureMessage, c.UpdatedAt = payment.StepSucceeded, "", "", tx.Now
		return nil
	})
}

// CorrectRefund records that a refund which was recorded as failed succeeded at the acquirer. It
// returns ErrConflict if the refund is not recorded as failed, or if its transaction or capture has
// less left to refund. Nothing is changed then.
func (tx *Tx) CorrectRefund(r *payment.Refund) error {
	return tx.savepoint(func() error {
		if err := tx.takeRefundable(r); err != nil {
			return err
		}
		err := tx.execOne(correctRefund, toMillis(tx.Now), r.AcquirerID, r.ID)
		if err != nil {
			return err
		}
		r.State, r.FailureCode, r.FailureMessage, r.UpdatedAt = payment.StepSucceeded, "", "", tx.Now
		return nil
	})
}

// takeRefundable adds a refund to the refunded amounts of its transaction and capture. It returns
// ErrConflict if one of them has less left.
func (tx *Tx) takeRefundable(r *payment.Refund) error {
	if r.Transaction == 0 {
		return nil
	}
	err := tx.execOne(correctRefundOfTransaction, r.Amount, toMillis(tx.Now), r.Transaction)
	if err != nil {
		return err
	}
	return tx.execOne(correctRefundOfCapture,
		r.Amount, toMillis(tx.Now), r.Capture)
}

// CorrectVoid records that a void which was recorded as refused succeeded at the acquirer. It
// returns ErrConflict if the transaction can no longer be voided.
func (tx *Tx) CorrectVoid(transaction int64) error {
	err := tx.execOne(correctVoid, toMillis(tx.Now), transaction)
	if err != nil {
		return err
	}
	return tx.voidCaptures(transaction)
}

func (tx *Tx) voidCaptures(transaction int64) error {
	return tx.exec(voidCaptures,
		toMillis(tx.Now), transaction)
}
