package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	selectUnfinishedSteps = declare("selectUnfinishedSteps")
	holdStep              = declare("holdStep")
	countRunningAttempts  = declare("countRunningAttempts")
	countAttemptsAfter    = declare("countAttemptsAfter")
	selectReversal        = declare("selectReversal")
)

// UnfinishedSteps returns a page of the unfinished steps and pending reversals that a filter
// selects, oldest first.
func (db *DB) UnfinishedSteps(
	ctx context.Context, f payment.UnfinishedFilter, limit int,
) ([]payment.Unfinished, error) {
	object, _ := f.After.Step.Object()
	return listed(ctx, db, payment.Tenant{}, selectUnfinishedSteps, scanUnfinished,
		string(f.Kind), f.Merchant, f.ID, toMillis(f.After.Since), object, string(f.After.Step.Kind), limit, f.Number)
}

func scanUnfinished(row Scanner) (payment.Unfinished, error) {
	var (
		u                                       payment.Unfinished
		object, number, begun, next, since, due int64
	)
	err := row.Scan(&u.Step.Kind, &object, &number, &u.Attempts, &u.Running, &begun, &next, &u.LastError, &u.Transaction,
		&u.Tenant.Merchant, &u.Tenant.Live, &u.Amount, &u.Held, &u.Currency, &u.Refused, &since, &due,
		&u.Client.APIKey, &u.Client.Address, &u.Reverses.Kind, &u.Reverses.ID, &u.Reverses.Attempt, &u.Account)
	if err != nil {
		return u, fmt.Errorf("read unfinished step: %w", err)
	}
	if u.Step = stepIDOf(u.Step.Kind, object, number); u.Step.Kind == payment.ReversalStep {
		u.Reverses.Transaction = u.Transaction
	}
	u.BegunAt, u.NextAt, u.Since, u.DueAt = fromMillis(begun), fromMillis(next), fromMillis(since), fromMillis(due)
	return u, nil
}

// HoldStep locks an unfinished step against recovery until the command ends. It returns ErrConflict
// if the step has ended. It returns ErrAttempt if an attempt at it, or at its pending reversal, has
// no result yet and is younger than patience.
func (tx *Tx) HoldStep(s payment.StepID, patience time.Duration) error {
	object, number := s.Object()
	err := tx.exec(holdStep,
		string(s.Kind), object, number, toMillis(tx.Now))
	if err != nil {
		return err
	}
	if err := tx.LockUnfinished(s); err != nil {
		return err
	}
	first, last := tx.running(patience)
	row, err := tx.row(countRunningAttempts,
		first, last, string(s.Kind), object, number)
	if err != nil {
		return err
	}
	running, err := scanNumber(row)
	if err == nil && running > 0 {
		err = ErrAttempt
	}
	return err
}

// AttemptedAfter reports whether recovery began an attempt at a step, or at its pending reversal,
// after that time.
func (tx *Tx) AttemptedAfter(s payment.StepID, at time.Time) (bool, error) {
	object, number := s.Object()
	row, err := tx.row(countAttemptsAfter, string(s.Kind), object, number, toMillis(at))
	if err != nil {
		return false, err
	}
	n, err := scanNumber(row)
	return n > 0, err
}

// Reversal reads a pending reversal, else ErrNotFound.
func (tx *Tx) Reversal(id int64) (*payment.Reversal, error) {
	row, err := tx.row(selectReversal, id)
	if err != nil {
		return nil, err
	}
	r, err := scanReversal(row)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	return r, err
}
