package store

import (
	"context"
	"fmt"
)

var (
	merchantsExist = declare("merchantsExist")
	sealedExist    = declare("sealedExist")
)

// HoldsMerchants reports whether any merchant exists. If so, keys and secrets may exist that derive
// from the folder's root secret. Merchants are never removed.
func (db *DB) HoldsMerchants(ctx context.Context) (bool, error) {
	return db.holds(ctx, merchantsExist)
}

// HoldsSealed reports whether the vault's keys encrypt any row.
func (db *DB) HoldsSealed(ctx context.Context) (bool, error) { return db.holds(ctx, sealedExist) }

func (db *DB) holds(ctx context.Context, s *Statement, args ...any) (bool, error) {
	var found bool
	if err := db.count(ctx, s, args...).Scan(&found); err != nil {
		return false, fmt.Errorf("look for rows: %w", err)
	}
	return found, nil
}
