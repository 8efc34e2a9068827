package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	insertMLERequirement   = declare("insertMLERequirement")
	lockMLERequirement     = declare("lockMLERequirement")
	withdrawMLERequirement = declare("withdrawMLERequirement")
	selectMLERequirements  = declare("selectMLERequirements")
)

// InsertMLERequirement inserts an announced requirement and fills in AnnouncedAt. That is the
// highest confirmed time if the clock was set back, because an earlier time would shorten the
// notice. It returns a payment.MLENoticeError if the date is too early, and ErrDuplicate if the id
// is taken.
func (tx *Tx) InsertMLERequirement(r *payment.MLERequirement) error {
	r.AnnouncedAt = tx.Now
	if highest := fromMillis(toMillis(tx.db.guard.Highest())); highest.After(tx.Now) {
		r.AnnouncedAt = highest
	}
	if err := r.CheckNotice(); err != nil {
		return err
	}
	return tx.insert(insertMLERequirement,
		r.ID, strings.Join(r.Endpoints, "\n"), toMillis(r.AnnouncedAt), toMillis(r.EffectiveAt))
}

// WithdrawMLERequirement withdraws a requirement, and returns it as it was before and as it is now.
// It returns ErrNotFound if there is none. A withdrawn requirement keeps the time of its
// withdrawal.
func (tx *Tx) WithdrawMLERequirement(id int64) (before, after *payment.MLERequirement, err error) {
	row, err := tx.row(lockMLERequirement, id)
	if err != nil {
		return nil, nil, err
	}
	if before, err = scanMLERequirement(row); err != nil {
		return nil, nil, err
	}
	now := *before
	if !now.WithdrawnAt.IsZero() {
		return before, &now, nil
	}
	now.WithdrawnAt = tx.Now
	return before, &now, tx.execOne(withdrawMLERequirement, toMillis(now.WithdrawnAt), id)
}

// MLERequirements returns all announced requirements, oldest first, including withdrawn ones.
func (db *DB) MLERequirements(ctx context.Context) ([]*payment.MLERequirement, error) {
	return backgroundRows(ctx, db, selectMLERequirements, scanMLERequirement)
}

func scanMLERequirement(row Scanner) (*payment.MLERequirement, error) {
	var (
		r                               payment.MLERequirement
		endpoints                       string
		announced, effective, withdrawn int64
	)
	err := row.Scan(&r.ID, &endpoints, &announced, &effective, &withdrawn)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read a requirement of encryption: %w", err)
	}
	r.Endpoints = strings.Split(endpoints, "\n")
	r.AnnouncedAt, r.EffectiveAt, r.WithdrawnAt = fromMillis(announced), fromMillis(effective), fromMillis(withdrawn)
	return &r, nil
}
