package store

import (
	"context"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

var (
	beginAttempt                = declare("beginAttempt")
	scheduleAttempt             = declare("scheduleAttempt")
	failAttempt                 = declare("failAttempt")
	removeAttempt               = declare("removeAttempt")
	resetAttempts               = declare("resetAttempts")
	removeEndedAttempt          = declare("removeEndedAttempt")
	selectEndedAttempts         = declare("selectEndedAttempts")
	lockUnfinishedAuthorization = declare("lockUnfinishedAuthorization")
	lockUnfinishedVoid          = declare("lockUnfinishedVoid")
	lockUnfinishedCapture       = declare("lockUnfinishedCapture")
	lockUnfinishedRefund        = declare("lockUnfinishedRefund")
	lockUnfinishedReversal      = declare("lockUnfinishedReversal")
)

// unfinished has by kind the statement that locks the object ?1 of a step, and the step ?2, if the
// step has not ended.
var unfinished = map[payment.StepKind]*Statement{
	payment.AuthorizeStep: lockUnfinishedAuthorization, payment.VoidStep: lockUnfinishedVoid,
	payment.CaptureStep: lockUnfinishedCapture, payment.RefundStep: lockUnfinishedRefund,
	payment.ReversalStep: lockUnfinishedReversal,
}

// BeginAttempt records that recovery is about to call the acquirer for an unfinished step. next
// returns the pause after a number of attempts. An attempt without a result counts as running for
// patience, even if the clock of its core is ahead of this one's. It returns ErrConflict if another
// attempt runs, or if the step has ended.
func (tx *Tx) BeginAttempt(s payment.StepID, patience time.Duration, next func(attempts int64) time.Duration) error {
	object, number := s.Object()
	first, last := tx.running(patience)
	row, err := tx.row(beginAttempt, string(s.Kind), object, number, toMillis(tx.Now), first, last)
	if err != nil {
		return err
	}
	attempts, err := scanOne(row)
	if err != nil {
		return err
	}
	if err := tx.LockUnfinished(s); err != nil {
		return err
	}
	return tx.execOne(scheduleAttempt,
		toMillis(tx.Now.Add(next(attempts))), string(s.Kind), object, number)
}

// running returns the first and the last begin, in milliseconds, of an attempt that counts as
// running for patience. With a patience of 0 no attempt counts as running: its process has ended.
func (tx *Tx) running(patience time.Duration) (first, last int64) {
	if patience == 0 {
		return 1, 0
	}
	return toMillis(tx.Now.Add(-patience)) + 1, toMillis(tx.Now.Add(ClockSlack))
}

// LockUnfinished locks a step that has not ended until the command ends. It returns ErrConflict if
// the step has ended.
func (tx *Tx) LockUnfinished(s payment.StepID) error {
	object, number := s.Object()
	row, err := tx.row(unfinished[s.Kind], object, number)
	if err != nil {
		return err
	}
	_, err = scanOne(row)
	return err
}

// FailAttempt records why the last attempt at a step failed.
func (tx *Tx) FailAttempt(s payment.StepID, why string) error {
	object, number := s.Object()
	return tx.exec(failAttempt,
		why, string(s.Kind), object, number)
}

// FinishAttempt records that the last attempt at a step succeeded. It removes the record if the
// step has ended. The record of an open step stays with the begin of that attempt, because the
// attempt may have ended the step at the acquirer. The next attempt needs no pause.
func (tx *Tx) FinishAttempt(s payment.StepID) error {
	object, number := s.Object()
	if err := tx.exec(removeEndedAttempt, string(s.Kind), object, number); err != nil {
		return err
	}
	return tx.exec(resetAttempts, string(s.Kind), object, number)
}

// RemoveAttempt removes the record of the attempts at a step that has ended.
func (tx *Tx) RemoveAttempt(s payment.StepID) error {
	object, number := s.Object()
	return tx.exec(removeAttempt, string(s.Kind), object, number)
}

// attempted is the key of the record of the attempts at a step.
type attempted struct {
	kind           string
	object, number int64
}

func scanAttempted(row Scanner) (a attempted, err error) {
	return a, row.Scan(&a.kind, &a.object, &a.number)
}

// RemoveEndedAttempts removes, page by page, the records of attempts at steps that have ended
// without recovery.
func (db *DB) RemoveEndedAttempts(ctx context.Context) error {
	rows := pass.Rows[attempted]{Kind: "step_attempts", ID: func(a attempted) int64 { return a.object }}
	_, err := purge(ctx, db, db.BeginPass(pass.Recovery), rows, func(after attempted) ([]attempted, error) {
		return backgroundRows(ctx, db, selectEndedAttempts, scanAttempted, after.kind, after.object, after.number, purgeBatch)
	}, func(tx *Tx, chunk []attempted) (int64, error) {
		args := make([][]any, len(chunk))
		for i, a := range chunk {
			args[i] = []any{a.kind, a.object, a.number}
		}
		_, err := tx.execEach(removeEndedAttempt, args)
		return int64(len(chunk)), err
	})
	return err
}

// stepIDOf is the reverse of StepID.Object. For a capture or refund it omits the transaction.
func stepIDOf(kind payment.StepKind, object, number int64) payment.StepID {
	s := payment.StepID{Kind: kind}
	switch kind {
	case payment.AuthorizeStep:
		s.Transaction, s.Attempt = object, number
	case payment.VoidStep:
		s.Transaction, s.ID = object, number
	case payment.CaptureStep, payment.RefundStep, payment.ReversalStep:
		s.ID = object
	}
	return s
}
