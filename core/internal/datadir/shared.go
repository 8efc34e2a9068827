package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
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
var errNoKEK = errors.New("a store on PostgreSQL needs " + KEKVariable + " (or " + KEKVariable +
	"_FILE): its secrets are rows there, encrypted by that key")

// sharedKEK returns the key that encrypts the secrets of a database.
func sharedKEK(kek secret.String) ([]byte, error) {
	if kek.IsZero() {
		return nil, errNoKEK
	}
	return kekBytes(kek, nil)
}

// sharedRoots is the row with the root secrets, sealed by the key-encryption key.
type sharedRoots struct {
	db  *store.DB
	kek []byte
}

// String implements root.Place.
func (sharedRoots) String() string { return "in the database" }

// Read implements root.Place.
func (r sharedRoots) Read(ctx context.Context) ([]byte, error) {
	sealed, err := r.db.Secret(ctx, rootSecret)
	if errors.Is(err, payment.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	if err != nil {
		return nil, fmt.Errorf("root secret: %w", err)
	}
	return vault.OpenSmall(r.kek, sealed, rootSecret)
}

// replace replaces was, the content of the row. A rotation after another one changes nothing.
func (r sharedRoots) replace(tx *store.Tx, was, next []byte) error {
	sealed, err := vault.SealSmall(r.kek, next, rootSecret)
	if err != nil {
		return err
	}
	return tx.ReplaceSecret(rootSecret, was, sealed)
}

// loadSharedRoots reads the root secrets from the database. It creates them for a database in which
// nothing depends on them yet. If several cores start at the same time, one creates them.
func loadSharedRoots(ctx context.Context, cfg Config, db *store.DB) (*root.Ring, error) {
	kek, err := sharedKEK(cfg.VaultKEK)
	if err != nil {
		return nil, err
	}
	row := sharedRoots{db, kek}
	roots, err := root.Open(ctx, row, cfg.Clock)
	if !errors.Is(err, fs.ErrNotExist) {
		return roots, err
	}
	if err := createSharedRoots(ctx, cfg, row); err != nil {
		return nil, err
	}
	return root.Open(ctx, row, cfg.Clock) // another core may have created them first
}

func createSharedRoots(ctx context.Context, cfg Config, row sharedRoots) error {
	found, err := row.db.HoldsMerchants(ctx)
	if err != nil {
		return err
	}
	if found {
		if _, err := row.db.Secret(ctx, rootSecret); !errors.Is(err, payment.ErrNotFound) {
			return err // another core has created it meanwhile
		}
		return lostRow(rootSecret, "the API keys of its merchants are invalid and the webhooks' secrets unknown")
	}
	first, err := firstRoots(cfg)
	if err != nil {
		return err
	}
	sealed, err := vault.SealSmall(row.kek, first, rootSecret)
	if err != nil {
		return err
	}
	return insertOnce(ctx, row.db, rootSecret, sealed)
}

// insertOnce writes a secret unless another process was faster.
func insertOnce(ctx context.Context, db *store.DB, name string, sealed []byte) error {
	err := db.Update(ctx, func(tx *store.Tx) error { return tx.InsertSecret(name, sealed) })
	if errors.Is(err, store.ErrDuplicate) {
		return nil
	}
	return err
}

func lostRow(name, effect string) error {
	return fmt.Errorf("%w: the table secrets has no row %q, without which %s. Restore the database whole from its backup",
		ErrLost, name, effect)
}

func (d *Dir) changeSharedRoots(ctx context.Context, change func(*root.Set) (*root.Set, error)) (*root.Set, error) {
	kek, err := sharedKEK(d.VaultKEK)
	if err != nil {
		return nil, err
	}
	row := sharedRoots{d.Store, kek}
	was, err := d.Store.Secret(ctx, rootSecret)
	if err == nil {
		_, err = d.Roots.Read(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("root secret: %w", err)
	}
	set, err := change(d.Roots.Set())
	if err != nil {
		return nil, err
	}
	next, err := set.Bytes()
	if err != nil {
		return nil, err
	}
	if err := d.Store.Update(ctx, func(tx *store.Tx) error { return row.replace(tx, was, next) }); err != nil {
		return nil, fmt.Errorf("root secret: %w", err)
	}
	_, err = d.Roots.Read(ctx)
	return set, err
}

// sharedKeyset is the vault's keyset as a row.
type sharedKeyset struct{ db *store.DB }

// String implements vault.Place.
func (sharedKeyset) String() string { return "the row " + keysetSecret + " of the table secrets" }

// Read implements vault.Place.
func (k sharedKeyset) Read() ([]byte, error) {
	b, err := k.db.Secret(context.Background(), keysetSecret) // the store has its own time limit
	if errors.Is(err, payment.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return b, err
}

// Make implements vault.Place. It refuses to create a keyset if sealed rows exist: a new keyset
// would make the loss of theirs permanent.
func (k sharedKeyset) Make(next []byte) error {
	ctx := context.Background()
	found, err := k.db.HoldsSealed(ctx)
	if err != nil {
		return err
	}
	if found {
		if _, err := k.Read(); !errors.Is(err, fs.ErrNotExist) {
			return err // another core has created it meanwhile
		}
		return lostRow(keysetSecret, "its stored cards and bank accounts cannot be read")
	}
	return insertOnce(ctx, k.db, keysetSecret, next)
}

// Replace implements vault.Place. A rotation after another one changes nothing.
func (k sharedKeyset) Replace(was, next []byte) error {
	return k.db.Update(context.Background(), func(tx *store.Tx) error { return tx.ReplaceSecret(keysetSecret, was, next) })
}

// rewrapShared encrypts the secrets of a database by kek instead of old, in one commit. It does
// nothing if they are already.
func (d *Dir) rewrapShared(ctx context.Context, kek, old secret.String) (err error) {
	newKEK, err := sharedKEK(kek)
	if err != nil {
		return err
	}
	if old.IsZero() {
		return errors.New("the secrets of a database are encrypted by a key that was given: set " + OldKEKVariable + " to it")
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
