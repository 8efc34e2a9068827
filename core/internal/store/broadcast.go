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

// InsertBroadcast writes a broadcast to the merchants there are. ErrDuplicate when there is one of that type and name. What is not given is
// filled in.
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

// Broadcast reads one broadcast inside the group, else ErrNotFound.
func (tx *Tx) Broadcast(kind, name string) (*payment.Broadcast, error) {
	row, err := tx.row(selectBroadcast, kind, name)
	if err != nil {
		return nil, err
	}
	return scanBroadcast(row)
}

// MoveBroadcast writes that all merchants up to place had their turn, and that told more of them
// have their events. It finishes the broadcast after the last merchant if it failed for none.
// ErrConflict if the place is not b.Place any more.
func (tx *Tx) MoveBroadcast(b *payment.Broadcast, place, told int64) error {
	return tx.change(moveBroadcast, place, told, toMillis(tx.Now), b.Type, b.Name, b.Place)
}

// FailBroadcast writes that a broadcast failed for a merchant and is tried again at a time.
func (tx *Tx) FailBroadcast(b *payment.Broadcast, merchant int64, due time.Time) error {
	return tx.exec(saveBroadcastFailure, b.Type, b.Name, merchant, toMillis(due))
}

// MendBroadcast removes the failure of a broadcast for a merchant that has its events now.
// ErrConflict if there is none.
func (tx *Tx) MendBroadcast(b *payment.Broadcast, merchant int64) error {
	return tx.change(deleteBroadcastFailure, b.Type, b.Name, merchant)
}

// FailedRecipients returns merchants for which a broadcast failed and is to be tried again at a
// time, at most limit. One that is due too far ahead is due now.
func (db *DB) FailedRecipients(ctx context.Context, b *payment.Broadcast, at time.Time, pause time.Duration, limit int) ([]int64, error) {
	return collect(ctx, db, selectFailedRecipients, scanNumber,
		b.Type, b.Name, toMillis(at)+1, tooFarAhead(at, pause), limit)
}

// OpenBroadcasts lists those that are not finished, oldest first.
func (db *DB) OpenBroadcasts(ctx context.Context) ([]*payment.Broadcast, error) {
	return collect(ctx, db, selectOpenBroadcasts, scanBroadcast)
}

// Recipients returns the next merchants of a broadcast, at most limit, disabled ones included.
func (db *DB) Recipients(ctx context.Context, b *payment.Broadcast, limit int) ([]int64, error) {
	return collect(ctx, db, selectRecipients, scanNumber, b.Place, b.Until, limit)
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
