package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

var (
	selectCodeKey         = declare("selectCodeKey")
	selectCodeKeys        = declare("selectCodeKeys")
	insertCodeKey         = declare("insertCodeKey")
	resealCodeKey         = declare("resealCodeKey")
	insertCode            = declare("insertCode")
	deleteCode            = declare("deleteCode")
	otherCodeKeysExist    = declare("otherCodeKeysExist")
	deleteCodesWithoutKey = declare("deleteCodesWithoutKey")
)

// ErrCodeKeyGone reports that the key of a security code was destroyed meanwhile. Encrypt the code
// again.
var ErrCodeKeyGone = errors.New("store: the key of a security code is gone")

// CodeKey reads the newest key that encrypts security codes in an hour, else ErrNotFound.
func (db *DB) CodeKey(ctx context.Context, hour int64) (payment.CodeKey, error) {
	return scanCodeKey(db.row(ctx, selectCodeKey, hour))
}

// CodeKeys returns all keys of security codes that exist.
func (db *DB) CodeKeys(ctx context.Context) ([]payment.CodeKey, error) {
	return backgroundRows(ctx, db, selectCodeKeys, scanCodeKey)
}

// InsertCodeKey inserts the key that encrypts security codes from now on. It returns ErrKeyRetired
// if the vault's key that encrypted it is retired: encrypt it again.
func (tx *Tx) InsertCodeKey(k payment.CodeKey) error {
	if err := tx.current(k.Vault); err != nil {
		return err
	}
	return tx.insert(insertCodeKey, k.ID, k.Hour, k.Vault, k.Sealed)
}

// ResealCodeKey replaces the bytes of a code key by k's, if the vault's key old still encrypts
// them.
func (tx *Tx) ResealCodeKey(old uint32, k payment.CodeKey) error {
	return tx.exec(resealCodeKey, k.Vault, k.Sealed, k.ID, old)
}

// insertCode inserts the security code of a token, if there is one. It returns ErrCodeKeyGone if
// the key of the code was destroyed.
func (tx *Tx) insertCode(token int64, c payment.SealedCode) error {
	if len(c.Text) == 0 {
		return nil
	}
	n, err := tx.execCount(insertCode, token, c.Key.ID, c.Text)
	if err == nil && n == 0 {
		err = ErrCodeKeyGone
	}
	return err
}

// deleteCode removes the security code of a token, if it has one.
func (tx *Tx) deleteCode(token int64) error {
	return tx.exec(deleteCode, token)
}

// DestroyCodeKeys removes the keys of all hours, except first to last, from the database. Once it
// returns nil, they are also removed from its files. No copy of a code that one of them encrypted
// can then be decrypted. Its transaction calls hours again, because the clock may have jumped
// since. While a dump or another long read holds the table, it returns ErrUnavailable on PostgreSQL
// and ErrBusy on SQLite. Try again then.
func (db *DB) DestroyCodeKeys(ctx context.Context, hours func() (first, last int64)) error {
	first, last := hours()
	over, err := db.holds(ctx, otherCodeKeysExist, first, last)
	if err != nil {
		return err
	}
	if over {
		err = db.Update(ctx, func(tx *Tx) error { return tx.destroyCodeKeys(hours) })
	}
	if err == nil {
		err = db.engine.Scrub(ctx)
	}
	if err != nil {
		return fmt.Errorf("destroy keys of security codes: %w", err)
	}
	return nil
}

func (tx *Tx) destroyCodeKeys(hours func() (first, last int64)) error {
	if err := tx.s.Exclude("code_keys"); err != nil {
		return err
	}
	first, last := hours()
	var live []payment.CodeKey
	err := tx.each(selectCodeKeys, func(row Scanner) error {
		k, err := scanCodeKey(row)
		if first <= k.Hour && k.Hour <= last {
			live = append(live, k)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := tx.s.Empty("code_keys"); err != nil {
		return err
	}
	for _, k := range live {
		if err := tx.insert(insertCodeKey, k.ID, k.Hour, k.Vault, k.Sealed); err != nil {
			return err
		}
	}
	return tx.exec(deleteCodesWithoutKey)
}

func scanCodeKey(row Scanner) (payment.CodeKey, error) {
	var k payment.CodeKey
	err := row.Scan(&k.ID, &k.Hour, &k.Vault, &k.Sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return k, payment.ErrNotFound
	}
	if err != nil {
		return k, fmt.Errorf("read code key: %w", err)
	}
	return k, nil
}
