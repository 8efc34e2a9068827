package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	retireKey           = declare("retireKey")
	selectRetiredKey    = declare("selectRetiredKey")
	selectSealedTokens  = declare("selectSealedTokens")
	selectSealedMethods = declare("selectSealedMethods")
	resealToken         = declare("resealToken")
	resealMethod        = declare("resealMethod")
	countSealed         = declare("countSealed")
)

// ErrKeyRetired reports that a rotation has retired the key that encrypts the bytes to be written.
// Read the keyset again and encrypt them again.
var ErrKeyRetired = errors.New("store: sealed by a retired key")

// vaultKeys names the lock on the set of retired keys.
const vaultKeys = "vault"

// RetireKeys retires keys of the vault. From the commit on no process can write rows that they
// encrypt, so a rotation finds all such rows.
func (tx *Tx) RetireKeys(keys []uint32) error {
	if err := tx.s.Lock(vaultKeys, false); err != nil {
		return err
	}
	for _, k := range keys {
		if err := tx.exec(retireKey, k, toMillis(tx.Now)); err != nil {
			return err
		}
	}
	return nil
}

// current returns ErrKeyRetired if a key of the vault is retired. No command retires it before this
// one ends.
func (tx *Tx) current(key uint32) error {
	if err := tx.s.Lock(vaultKeys, true); err != nil {
		return err
	}
	row, err := tx.row(selectRetiredKey, key)
	if err != nil {
		return err
	}
	var one int
	switch err := row.Scan(&one); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("read retired keys: %w", err)
	}
	return ErrKeyRetired
}

// Sealed is one row that a key of the vault encrypts, as a rotation needs it.
type Sealed struct {
	ID     int64
	Tenant payment.Tenant
	Sealed payment.Sealed
}

// SealedTokens returns a page of the tokens that another key than this one encrypts, by id. The
// page begins after the id after.
func (db *DB) SealedTokens(ctx context.Context, key uint32, after int64, limit int) ([]Sealed, error) {
	return backgroundRows(ctx, db, selectSealedTokens, scanSealed, key, after, limit)
}

// SealedMethods is SealedTokens for payment methods.
func (db *DB) SealedMethods(ctx context.Context, key uint32, after int64, limit int) ([]Sealed, error) {
	return backgroundRows(ctx, db, selectSealedMethods, scanSealed, key, after, limit)
}

// ResealToken replaces the number of a token by s, if the key old still encrypts it. It does
// nothing if the number was wiped meanwhile.
func (tx *Tx) ResealToken(id int64, old uint32, s payment.Sealed) error {
	return tx.exec(resealToken,
		s.Key, s.Number, id, old)
}

// ResealMethod is ResealToken for payment methods.
func (tx *Tx) ResealMethod(id int64, old uint32, s payment.Sealed) error {
	return tx.exec(resealMethod,
		s.Key, s.Number, id, old)
}

// CountSealed counts the rows that other keys than this one encrypt.
func (tx *Tx) CountSealed(key uint32) (int, error) {
	row, err := tx.row(countSealed, key)
	if err != nil {
		return 0, err
	}
	var n int
	if err := row.Scan(&n); err != nil {
		return 0, fmt.Errorf("count what is sealed: %w", err)
	}
	return n, nil
}

func scanSealed(row Scanner) (Sealed, error) {
	var s Sealed
	if err := row.Scan(&s.ID, &s.Tenant.Merchant, &s.Tenant.Live, &s.Sealed.Key, &s.Sealed.Number); err != nil {
		return Sealed{}, fmt.Errorf("read what is sealed: %w", err)
	}
	return s, nil
}
