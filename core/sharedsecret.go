package core

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

// The names of the secrets of a database that several cores share. They are rows there, encrypted by the key-encryption key of the vault, so that
// every core that is given that key has the same.
const (
	rootSecret   = "root"
	keysetSecret = "vault.keyset"
)

// errNoKEK refuses a database without the key that its secrets are encrypted by: one that derived from them would lie beside what it protects.
var errNoKEK = errors.New("a store on PostgreSQL needs " + kekVariable + " (or " + kekVariable + "_FILE): its secrets are rows there, encrypted by that key")

// sharedKEK is the key that the secrets of a database are encrypted by.
func (cfg Config) sharedKEK() ([]byte, error) {
	if cfg.VaultKEK.IsZero() {
		return nil, errNoKEK
	}
	return kekBytes(cfg.VaultKEK, nil)
}

// sharedRoots is where the root secrets of a database are kept: a row, sealed by the key-encryption
// key.
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

// replace writes next in the place of was, the row's content. A rotation that another one has
// overtaken changes nothing.
func (r sharedRoots) replace(tx *store.Tx, was, next []byte) error {
	sealed, err := vault.SealSmall(r.kek, next, rootSecret)
	if err != nil {
		return err
	}
	return tx.ReplaceSecret(rootSecret, was, sealed)
}

// loadSharedRoots reads the root secrets from the database, and makes them for one that has nothing
// yet that depends on them. Of several cores that start at once, one makes them.
func loadSharedRoots(ctx context.Context, cfg Config, db *store.DB) (*root.Ring, error) {
	kek, err := cfg.sharedKEK()
	if err != nil {
		return nil, err
	}
	place := sharedRoots{db, kek}
	roots, err := root.Open(ctx, place, cfg.Clock)
	if !errors.Is(err, fs.ErrNotExist) {
		return roots, err
	}
	if err := makeSharedRoots(ctx, cfg, place); err != nil {
		return nil, err
	}
	return root.Open(ctx, place, cfg.Clock) // what another core has made first is what counts
}

func makeSharedRoots(ctx context.Context, cfg Config, place sharedRoots) error {
	found, err := place.db.HoldsMerchants(ctx)
	if err != nil {
		return err
	}
	if found {
		if _, err := place.db.Secret(ctx, rootSecret); !errors.Is(err, payment.ErrNotFound) {
			return err // another core has made it meanwhile
		}
		return lostRow(rootSecret, "the API keys of its merchants are invalid and the webhooks' secrets unknown")
	}
	first, err := firstRoots(cfg)
	if err != nil {
		return err
	}
	sealed, err := vault.SealSmall(place.kek, first, rootSecret)
	if err != nil {
		return err
	}
	return insertOnce(ctx, place.db, rootSecret, sealed)
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
	return fmt.Errorf("%w: the table secrets has no row %q, without which %s. Restore the database whole from its backup", ErrLost, name, effect)
}

// sharedKeyset is the vault's keyset as a row.
type sharedKeyset struct{ db *store.DB }

// String implements vault.Place.
func (sharedKeyset) String() string { return "the row " + keysetSecret + " of the table secrets" }

// Read implements vault.Place.
func (k sharedKeyset) Read() ([]byte, error) {
	b, err := k.db.Secret(context.Background(), keysetSecret) // the store bounds how long it takes
	if errors.Is(err, payment.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return b, err
}

// Make implements vault.Place. Where rows are sealed that the keyset should open, a new one would make the loss final.
func (k sharedKeyset) Make(next []byte) error {
	ctx := context.Background()
	found, err := k.db.HoldsSealed(ctx)
	if err != nil {
		return err
	}
	if found {
		if _, err := k.Read(); !errors.Is(err, fs.ErrNotExist) {
			return err // another core has made it meanwhile
		}
		return lostRow(keysetSecret, "its stored cards and bank accounts cannot be read")
	}
	return insertOnce(ctx, k.db, keysetSecret, next)
}

// Replace implements vault.Place. A rotation that another one has overtaken changes nothing.
func (k sharedKeyset) Replace(was, next []byte) error {
	return k.db.Update(context.Background(), func(tx *store.Tx) error { return tx.ReplaceSecret(keysetSecret, was, next) })
}

// rewrapShared encrypts the secrets of a database by Config.VaultKEK, which until now were encrypted by old, in one commit. Done already, it does
// nothing.
func rewrapShared(ctx context.Context, cfg Config, old secret.String) (err error) {
	kek, err := cfg.sharedKEK()
	if err != nil {
		return err
	}
	if old.IsZero() {
		return errors.New("the secrets of a database are encrypted by a key that was given: set " + oldKEKVariable + " to it")
	}
	oldKEK, err := kekBytes(old, nil)
	if err != nil {
		return err
	}
	db, err := cfg.openStore(ctx)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	release, err := db.Hold(ctx, vaultLock)
	if err != nil {
		return held(err)
	}
	defer func() { err = errors.Join(err, release()) }()
	next, err := encryptedBy(ctx, db, kek, oldKEK)
	if err != nil {
		return err
	}
	return db.Update(ctx, func(tx *store.Tx) error {
		for _, name := range slices.Sorted(maps.Keys(next)) { // in one order, so that two processes do not wait for each other
			if err := tx.ReplaceSecret(name, next[name].was, next[name].now); err != nil {
				return err
			}
		}
		return nil
	})
}

// replaced is a secret as it was kept and is to be.
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
			continue // not made yet
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

// held says what it means that another process has the lock of the vault.
func held(err error) error {
	if errors.Is(err, store.ErrHeld) {
		return fmt.Errorf("another rotation runs on this database: %w", err)
	}
	return err
}
