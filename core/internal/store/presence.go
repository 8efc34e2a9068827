package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
)

// HoldsMerchants reports whether there is any merchant, and so perhaps keys and secrets that derive from the folder's root secret. Merchants
// are never removed.
func (db *DB) HoldsMerchants(ctx context.Context) (bool, error) {
	return db.holds(ctx, `SELECT EXISTS (SELECT 1 FROM merchants)`)
}

// AnySealed asks whether anything needs the vault's keys.
const AnySealed = `SELECT EXISTS (SELECT 1 FROM tokens WHERE number IS NOT NULL)
	OR EXISTS (SELECT 1 FROM payment_methods WHERE number IS NOT NULL)`

// HoldsSealed reports whether anything needs the vault's keys.
func (db *DB) HoldsSealed(ctx context.Context) (bool, error) { return db.holds(ctx, AnySealed) }

// BackupHoldsSealed is HoldsSealed for a database file that nobody has open.
func BackupHoldsSealed(ctx context.Context, path string) (found bool, err error) {
	db, err := openPlain(path, url.Values{"mode": {"ro"}, "immutable": {"1"}})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.QueryRowContext(ctx, AnySealed).Scan(&found); err != nil {
		return false, fmt.Errorf("look for rows: %w", err)
	}
	return found, nil
}

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
