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

// ErrKeyRetired says that what is to be written is sealed by a key that a rotation has retired meanwhile; look at the keyset again and seal anew.
var ErrKeyRetired = errors.New("store: sealed by a retired key")

// vaultKeys is what a command locks that goes by which keys of the vault are retired.
const vaultKeys = "vault"

// RetireKeys ends writing under these keys of the vault. From the commit on no process can add anything that they sealed, so what a
// rotation finds is all there is.
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

// current reports ErrKeyRetired for a key that may not be written under.
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

// Sealed is one row of the vault's, as a rotation needs it.
type Sealed struct {
	ID     int64
	Tenant payment.Tenant
	Sealed payment.Sealed
}

// SealedTokens lists what tokens hold under other keys than this one, by id. Only those with an id above after.
func (db *DB) SealedTokens(ctx context.Context, key uint32, after int64, limit int) ([]Sealed, error) {
	return collect(ctx, db, selectSealedTokens, scanSealed, key, after, limit)
}

// SealedMethods lists what payment methods hold under other keys than this one, by id. Only those with an id above after.
func (db *DB) SealedMethods(ctx context.Context, key uint32, after int64, limit int) ([]Sealed, error) {
	return collect(ctx, db, selectSealedMethods, scanSealed, key, after, limit)
}

// ResealToken writes s in place of the number that the key old sealed, unless the number was wiped
// meanwhile.
func (tx *Tx) ResealToken(id int64, old uint32, s payment.Sealed) error {
	return tx.exec(resealToken,
		s.Key, s.Number, id, old)
}

// ResealMethod writes s in the place of what was sealed by the key old, unless it is gone.
func (tx *Tx) ResealMethod(id int64, old uint32, s payment.Sealed) error {
	return tx.exec(resealMethod,
		s.Key, s.Number, id, old)
}

// CountSealed is how much is sealed by other keys than this one.
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
