package store

import "context"

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
