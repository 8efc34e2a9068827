package core

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/causeway-pay/causeway/core/internal/auth"
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
	return kekBytes(cfg.VaultKEK, auth.Root{})
}

// loadSharedRoot reads the root secret from the database, and makes it for one that has nothing yet that depends on it. Of several cores that
// start at once, one makes it.
func loadSharedRoot(ctx context.Context, cfg Config, db *store.DB) (auth.Root, error) {
	kek, err := cfg.sharedKEK()
	if err != nil {
		return auth.Root{}, err
	}
	sealed, err := db.Secret(ctx, rootSecret)
	if errors.Is(err, store.ErrNotFound) {
		if err = makeSharedRoot(ctx, kek, db); err == nil {
			sealed, err = db.Secret(ctx, rootSecret) // what another core has made first is what counts
		}
	}
	if err != nil {
		return auth.Root{}, fmt.Errorf("root secret: %w", err)
	}
	plain, err := vault.OpenSmall(kek, sealed, rootSecret)
	if err != nil {
		return auth.Root{}, err
	}
	return auth.RootOf("in the database", plain)
}

func makeSharedRoot(ctx context.Context, kek []byte, db *store.DB) error {
	found, err := db.HoldsMerchants(ctx)
	if err != nil {
		return err
	}
	if found {
		if _, err := db.Secret(ctx, rootSecret); !errors.Is(err, store.ErrNotFound) {
			return err // another core has made it meanwhile
		}
		return lostRow(rootSecret, "the API keys of its merchants are invalid and the webhooks' secrets unknown")
	}
	_, plain, err := auth.MakeRoot()
	if err != nil {
		return err
	}
	sealed, err := vault.SealSmall(kek, plain, rootSecret)
	if err != nil {
		return err
	}
	return insertOnce(ctx, db, rootSecret, sealed)
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
	if errors.Is(err, store.ErrNotFound) {
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
	oldKEK, err := kekBytes(old, auth.Root{})
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
		for name, change := range next {
			if err := tx.ReplaceSecret(name, change.was, change.now); err != nil {
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
		if errors.Is(err, store.ErrNotFound) {
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
