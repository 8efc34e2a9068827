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
	selectNewestMerchantID = declare("selectNewestMerchantID")
	insertBroadcast        = declare("insertBroadcast")
	selectBroadcast        = declare("selectBroadcast")
	moveBroadcast          = declare("moveBroadcast")
	saveBroadcastFailure   = declare("saveBroadcastFailure")
	deleteBroadcastFailure = declare("deleteBroadcastFailure")
	selectFailedRecipients = declare("selectFailedRecipients")
	selectOpenBroadcasts   = declare("selectOpenBroadcasts")
	selectRecipients       = declare("selectRecipients")
)

// InsertBroadcast inserts a broadcast to all merchants that exist now, and fills in Until and
// CreatedAt. It returns ErrDuplicate if a broadcast of this type and name exists.
func (tx *Tx) InsertBroadcast(b *payment.Broadcast) error {
	row, err := tx.row(selectNewestMerchantID)
	if err != nil {
		return err
	}
	if err := row.Scan(&b.Until); err != nil {
		return fmt.Errorf("read the newest merchant: %w", err)
	}
	b.CreatedAt = tx.Now
	return tx.insert(insertBroadcast, b.Type, b.Name, b.Data, b.Until, toMillis(tx.Now))
}

// Broadcast reads one broadcast as part of the command, else ErrNotFound.
func (tx *Tx) Broadcast(kind, name string) (*payment.Broadcast, error) {
	row, err := tx.row(selectBroadcast, kind, name)
	if err != nil {
		return nil, err
	}
	return scanBroadcast(row)
}

// MoveBroadcast stores place, the last processed merchant, and adds to the count of recipients.
// After the last merchant it finishes the broadcast, unless that failed for a merchant. It returns
// ErrConflict if the stored place is not b.Place: another core has moved it.
func (tx *Tx) MoveBroadcast(b *payment.Broadcast, place, recipients int64) error {
	return tx.execOne(moveBroadcast, place, recipients, toMillis(tx.Now), b.Type, b.Name, b.Place)
}

// FailBroadcast records that a broadcast failed for a merchant, and when its next attempt is due.
func (tx *Tx) FailBroadcast(b *payment.Broadcast, merchant int64, due time.Time) error {
	return tx.exec(saveBroadcastFailure, b.Type, b.Name, merchant, toMillis(due))
}

// MendBroadcast removes the failure of a broadcast for a merchant that now has its events. It
// returns ErrConflict if there is none.
func (tx *Tx) MendBroadcast(b *payment.Broadcast, merchant int64) error {
	return tx.execOne(deleteBroadcastFailure, b.Type, b.Name, merchant)
}

// FailedRecipients returns at most limit merchants for which a broadcast failed and whose next
// attempt is due. pause is the time between two attempts. An attempt that is due too far ahead is
// due now: see tooFarAhead.
func (db *DB) FailedRecipients(
	ctx context.Context, b *payment.Broadcast, at time.Time, pause time.Duration, limit int,
) ([]int64, error) {
	return backgroundRows(ctx, db, selectFailedRecipients, scanNumber,
		b.Type, b.Name, toMillis(at)+1, tooFarAhead(at, pause), limit)
}

// OpenBroadcasts lists the unfinished broadcasts, oldest first.
func (db *DB) OpenBroadcasts(ctx context.Context) ([]*payment.Broadcast, error) {
	return backgroundRows(ctx, db, selectOpenBroadcasts, scanBroadcast)
}

// Recipients returns the next merchants of a broadcast, at most limit, including disabled
// merchants.
func (db *DB) Recipients(ctx context.Context, b *payment.Broadcast, limit int) ([]int64, error) {
	return backgroundRows(ctx, db, selectRecipients, scanNumber, b.Place, b.Until, limit)
}

func scanBroadcast(row Scanner) (*payment.Broadcast, error) {
	var (
		b                 payment.Broadcast
		created, finished int64
	)
	err := row.Scan(&b.Type, &b.Name, &b.Data, &b.Until, &b.Place, &b.Told, &created, &finished)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, payment.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read broadcast: %w", err)
	}
	b.CreatedAt, b.FinishedAt = fromMillis(created), fromMillis(finished)
	return &b, nil
}
