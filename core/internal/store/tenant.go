package store

import (
	"context"
	"fmt"
	"time"
)

// Merchant is whom payments are taken for.
type Merchant struct {
	ID        int64
	Name      string
	CreatedAt time.Time
}

// InsertMerchant writes a merchant.
func (tx *Tx) InsertMerchant(id int64, name string) error {
	return tx.insert(`INSERT INTO merchants (id, name, created_at) VALUES (?, ?, ?)`, id, name, toMillis(tx.Now))
}

// Merchants lists all merchants, oldest first.
func (db *DB) Merchants(ctx context.Context) ([]Merchant, error) {
	return collect(ctx, db, `SELECT id, name, created_at FROM merchants ORDER BY id`, func(row scanner) (Merchant, error) {
		var (
			m       Merchant
			created int64
		)
		if err := row.Scan(&m.ID, &m.Name, &created); err != nil {
			return Merchant{}, fmt.Errorf("read merchant: %w", err)
		}
		m.CreatedAt = fromMillis(created)
		return m, nil
	})
}
