package store

import (
	"context"
	"fmt"
)

// HoldsMerchants reports whether there is any merchant, and so perhaps keys and secrets that derive
// from the folder's root secret. Merchants are never removed.
func (db *DB) HoldsMerchants(ctx context.Context) (bool, error) {
	return db.holds(ctx, `SELECT EXISTS (SELECT 1 FROM merchants)`)
}

// AnySealed selects whether the vault's keys encrypt any row.
const AnySealed = `SELECT EXISTS (SELECT 1 FROM tokens WHERE number IS NOT NULL)
	OR EXISTS (SELECT 1 FROM payment_methods WHERE number IS NOT NULL)`

// HoldsSealed reports whether the vault's keys encrypt any row.
func (db *DB) HoldsSealed(ctx context.Context) (bool, error) { return db.holds(ctx, AnySealed) }

func (db *DB) holds(ctx context.Context, text string, args ...any) (bool, error) {
	s, err := db.query(ctx, text)
	if err != nil {
		return false, err
	}
	var found bool
	if err := s.Row(ctx, args...).Scan(&found); err != nil {
		return false, fmt.Errorf("look for rows: %w", err)
	}
	return found, nil
}
