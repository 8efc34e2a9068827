package datadir

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/secretfile"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The names in the folder.
const (
	DatabaseFile = "causeway.db"
	// RootFile holds the root secrets, which keyed hashes and sealed responses depend on.
	RootFile = "root.secret"
	// KeysetFile holds the keys that encrypt card data, encrypted by the key-encryption key.
	KeysetFile = "vault.keyset"
	// LockFile is locked while a core serves the folder.
	LockFile = "lock"
	// secretsLock is locked while a rotation or a backup runs. A database has a lock of that name.
	secretsLock = "vault.lock"
)

// Database opens a store that several processes share.
type Database func(context.Context, clock.Clock) (*store.DB, error)

// Config locates a store and its secrets.
type Config struct {
	Data     string   // the folder; unused with a Database
	Database Database // nil for a file in Data
	// VaultKEK encrypts the keys of the card vault, and the root secret in a Database: 32 bytes in
	// base64. Zero derives it from the root secret of the folder.
	VaultKEK secret.String
	Clock    clock.Clock // nil for the system's
}

// Dir is an open store with its root secrets.
type Dir struct {
	Config
	Store *store.DB
	Roots *root.Ring
}

// Open opens the store or creates it, and only then creates the root secret if there is none.
func Open(ctx context.Context, cfg Config) (d *Dir, err error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	db, err := cfg.openStore(ctx)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	roots, err := loadRoots(ctx, cfg, db)
	if err != nil {
		return nil, err
	}
	return &Dir{Config: cfg, Store: db, Roots: roots}, nil
}

func (cfg Config) openStore(ctx context.Context) (*store.DB, error) {
	if cfg.Database != nil {
		return cfg.Database(ctx, cfg.Clock)
	}
	return openFile(ctx, filepath.Join(cfg.Data, DatabaseFile), cfg.Clock)
}

// Close closes the store.
func (d *Dir) Close() error { return d.Store.Close() }

// rootLocation returns the location of the root secrets.
func (cfg Config) rootLocation(db *store.DB) (vault.Location, error) {
	if cfg.Database == nil {
		return secretfile.Path(filepath.Join(cfg.Data, RootFile)), nil
	}
	kek, err := sharedKEK(cfg.VaultKEK)
	return sealedRow{row{db, rootSecret}, kek}, err
}

// keysetLocation returns the location of the vault's keyset.
func (d *Dir) keysetLocation() vault.Location {
	if d.Database == nil {
		return secretfile.Path(filepath.Join(d.Data, KeysetFile))
	}
	return row{d.Store, keysetSecret}
}
