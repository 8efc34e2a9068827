package store

import (
	"context"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

const reversalColumns = `id, transaction_id, attempt, merchant_id, live, amount, currency, captured, held, asked, refused, version, since, due_at`

// InsertReversal writes down that the authorization of a payment is not wanted any more. One that is written down already is due again when r
// is, and counts anew from r.Since; what it holds is kept where r does not know.
func (tx *Tx) InsertReversal(r *payment.Reversal) error {
	return tx.exec(`INSERT INTO reversals (transaction_id, attempt, merchant_id, live, amount, currency, captured, held, since, due_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (transaction_id, attempt) DO UPDATE SET held = MAX(reversals.held, excluded.held), version = reversals.version + 1,
			since = excluded.since, due_at = MIN(reversals.due_at, excluded.due_at)`,
		r.Transaction, r.Attempt, r.Tenant.Merchant, r.Tenant.Live, r.Amount, r.Currency, r.Captured, r.Held, toMillis(r.Since), toMillis(r.DueAt))
}

// PostponeReversal writes what r has become and when it is due next. ErrConflict when somebody else changed or ended it.
func (tx *Tx) PostponeReversal(r *payment.Reversal) error {
	return tx.change(`UPDATE reversals SET held = ?, asked = ?, refused = ?, since = ?, due_at = ?, version = version + 1
		WHERE id = ? AND version = ?`,
		r.Held, r.Asked, r.Refused, toMillis(r.Since), toMillis(r.DueAt), r.ID, r.Version)
}

// EndReversal removes r: nothing is held. ErrConflict when somebody else changed or ended it.
func (tx *Tx) EndReversal(r *payment.Reversal) error {
	return tx.change(`DELETE FROM reversals WHERE id = ? AND version = ?`, r.ID, r.Version)
}

// DueReversals lists the reversals of all tenants with an id above after that are due at a time, by id.
func (db *DB) DueReversals(ctx context.Context, at time.Time, after int64, limit int) ([]*payment.Reversal, error) {
	return collect(ctx, db, `SELECT `+reversalColumns+` FROM reversals INDEXED BY reversals_due WHERE due_at <= ? AND id > ?
		ORDER BY id LIMIT ?`, scanReversal, toMillis(at), after, limit)
}

func scanReversal(row Scanner) (*payment.Reversal, error) {
	var (
		r          payment.Reversal
		since, due int64
	)
	err := row.Scan(&r.ID, &r.Transaction, &r.Attempt, &r.Tenant.Merchant, &r.Tenant.Live, &r.Amount, &r.Currency, &r.Captured,
		&r.Held, &r.Asked, &r.Refused, &r.Version, &since, &due)
	if err != nil {
		return nil, fmt.Errorf("read reversal: %w", err)
	}
	r.Since, r.DueAt = fromMillis(since), fromMillis(due)
	return &r, nil
}
