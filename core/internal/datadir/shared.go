package datadir

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The names of the secrets of a database that several cores share. They are rows, encrypted by the
// key-encryption key of the vault, so that every core with that key has the same secrets.
const (
	rootSecret   = "root"
	keysetSecret = "vault.keyset"
)

// errNoKEK refuses a database without the key that encrypts its secrets: a key derived from them
// would be stored with the values that it protects.
var errNoKEK = errors.New(KEKVariable + " and " + KEKVariable + "_FILE are not set: a store on PostgreSQL needs " +
	"one of them, because this key encrypts its secrets. Make it with `openssl rand -base64 32`")

// sharedKEK returns the key that encrypts the secrets of a database.
func sharedKEK(kek secret.String) ([]byte, error) {
	if kek.IsZero() {
		return nil, errNoKEK
	}
	return kekBytes(kek, nil)
}

// row is a secret of a database, by its name. It implements vault.Location.
type row struct {
	db   *store.DB
	name string
}

// String returns the row, for errors.
func (r row) String() string { return "the row " + r.name + " of the table secrets" }

// Read implements vault.Location.
func (r row) Read(ctx context.Context) ([]byte, error) {
	b, err := r.db.Secret(ctx, r.name)
	if errors.Is(err, payment.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return b, err
}

// Make implements vault.Location.
func (r row) Make(ctx context.Context, first []byte) error {
	err := r.db.Update(ctx, func(tx *store.Tx) error { return tx.InsertSecret(r.name, first) })
	if errors.Is(err, store.ErrDuplicate) {
		return nil // another process created it first
	}
	return err
}

// Replace implements vault.Location. It changes nothing if another rotation was first.
func (r row) Replace(ctx context.Context, was, next []byte) error {
	return r.db.Update(ctx, func(tx *store.Tx) error { return tx.ReplaceSecret(r.name, was, next) })
}

// sealedRow is a row whose content the key-encryption key encrypts.
type sealedRow struct {
	row
	kek []byte
}

// Read implements root.Location.
func (r sealedRow) Read(ctx context.Context) ([]byte, error) {
	sealed, err := r.row.Read(ctx)
	if err != nil {
		return nil, err
	}
	return vault.OpenSmall(r.kek, sealed, r.name)
}

// Make creates the row with the content first, unless the row exists.
func (r sealedRow) Make(ctx context.Context, first []byte) error {
	sealed, err := vault.SealSmall(r.kek, first, r.name)
	if err != nil {
		return err
	}
	return r.row.Make(ctx, sealed)
}

// Replace replaces the content if it equals was. Otherwise it returns store.ErrConflict.
func (r sealedRow) Replace(ctx context.Context, was, next []byte) error {
	stored, err := r.row.Read(ctx)
	if err != nil {
		return err
	}
	content, err := vault.OpenSmall(r.kek, stored, r.name)
	if err == nil && !bytes.Equal(content, was) {
		err = store.ErrConflict
	}
	if err != nil {
		return err
	}
	sealed, err := vault.SealSmall(r.kek, next, r.name)
	if err != nil {
		return err
	}
	return r.row.Replace(ctx, stored, sealed)
}

// rewrapShared encrypts the secrets of a database by kek instead of old, in one commit. It does
// nothing if kek encrypts them already.
func (d *Dir) rewrapShared(ctx context.Context, kek, old secret.String) (err error) {
	newKEK, err := sharedKEK(kek)
	if err != nil {
		return err
	}
	if old.IsZero() {
		return errors.New(OldKEKVariable + " is not set: set it to the key that encrypts the secrets of the database now")
	}
	oldKEK, err := kekBytes(old, nil)
	if err != nil {
		return err
	}
	release, err := d.lockSecrets(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	next, err := encryptedBy(ctx, d.Store, newKEK, oldKEK)
	if err != nil {
		return err
	}
	return d.Store.Update(ctx, func(tx *store.Tx) error {
		for _, name := range slices.Sorted(maps.Keys(next)) { // one order: two processes never deadlock
			if err := tx.ReplaceSecret(name, next[name].was, next[name].now); err != nil {
				return err
			}
		}
		return nil
	})
}

// replaced is the stored form of a secret before and after a change.
type replaced struct{ was, now []byte }

// encryptedBy returns the secrets of a database that are encrypted by old, encrypted by kek.
func encryptedBy(ctx context.Context, db *store.DB, kek, old []byte) (map[string]replaced, error) {
	next := map[string]replaced{}
	for name, again := range map[string]func(sealed []byte) ([]byte, error){
		rootSecret: func(sealed []byte) ([]byte, error) {
			plain, err := vault.OpenSmall(old, sealed, rootSecret)
			if err != nil {
				return nil, err
			}
			return vault.SealSmall(kek, plain, rootSecret)
		},
		keysetSecret: func(sealed []byte) ([]byte, error) { return vault.Reencrypt(sealed, old, kek) },
	} {
		sealed, err := db.Secret(ctx, name)
		if errors.Is(err, payment.ErrNotFound) {
			continue // not created yet
		}
		if err != nil {
			return nil, err
		}
		if opens(name, sealed, kek) {
			continue
		}
		now, err := again(sealed)
		if err != nil {
			return nil, err
		}
		next[name] = replaced{sealed, now}
	}
	return next, nil
}

// opens reports whether a secret is encrypted by a key already.
func opens(name string, sealed, kek []byte) bool {
	var err error
	if name == rootSecret {
		_, err = vault.OpenSmall(kek, sealed, name)
	} else {
		_, err = vault.Reencrypt(sealed, kek, kek)
	}
	return err == nil
}
