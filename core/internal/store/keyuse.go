package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var selectKeyUse = declare("selectKeyUse")

// A key can end while a request sends its body, or while its command waits for its turn. In a
// shared store a process's cache of API keys can also be out of date. A command under an API key
// therefore reads the row of the key. Once the end of a key, or of its merchant's service, is
// committed, no later command has an effect under that key.

// UseKey returns nil if the command may run under an API key. It returns payment.ErrKeyEnded if the
// key is revoked, expired or missing, and payment.ErrMerchantDisabled if its merchant is disabled.
// Key 0 is for a command without a key.
func (tx *Tx) UseKey(key int64) error {
	if key == 0 {
		return nil
	}
	row, err := tx.row(selectKeyUse, key, toMillis(tx.Now))
	if err != nil {
		return err
	}
	return keyUse(row)
}

// useKey is Tx.UseKey for a read outside of commands.
func (db *DB) useKey(ctx context.Context, tenant payment.Tenant, key int64) error {
	if key == 0 {
		return nil
	}
	return keyUse(db.rowOf(ctx, tenant, selectKeyUse, key, toMillis(db.clock.Now())))
}

// keyUse returns the error of UseKey that the row of an API key shows.
func keyUse(row Scanner) error {
	var valid, disabled bool
	switch err := row.Scan(&valid, &disabled); {
	case errors.Is(err, sql.ErrNoRows):
		return payment.ErrKeyEnded
	case err != nil:
		return fmt.Errorf("read key: %w", err)
	case !valid:
		return payment.ErrKeyEnded
	case disabled:
		return payment.ErrMerchantDisabled
	}
	return nil
}
