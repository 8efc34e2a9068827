package core

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/backup"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/store"
)

var (
	// ErrNoStore says that a data folder has no store, where one is wanted.
	ErrNoStore = errors.New("there is no store")
	// ErrLost says that a file of a data folder is gone that the others need: to make a new one would hide the loss, and make it final.
	ErrLost = errors.New("a file of the data folder is gone")
)

// A first start makes its files in this order, each durable before the next: the database with its schema, the root secret, the vault's
// keyset. A merchant is made only with the root secret there, and card data is sealed only with the keyset there. So whatever moment it dies
// at, secrets without a database, merchants without the root secret, and sealed rows without the keyset can only mean loss.

// makeFolder makes a data folder where there is none, and refuses one that something is lost from. It also refuses the folder of a standalone,
// whose store is one folder below: a second store beside it would never be looked at.
func (cfg Config) makeFolder() error {
	data := cfg.Data
	if cfg.Database != nil {
		return nil // nothing is kept in a folder
	}
	if err := wantStore(data); errors.Is(err, ErrLost) || err != nil && hasStore(standaloneStore(data)) {
		return err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	return nil
}

func (cfg Config) wantStore() error {
	if cfg.Database != nil {
		return nil // a database that is not there cannot be opened
	}
	return wantStore(cfg.Data)
}

// wantStore is ErrNoStore, with where there is one, for a folder that has none and none that was lost.
func wantStore(data string) error {
	if hasStore(data) {
		return nil
	}
	if err := wantNothingLost(data); err != nil {
		return err
	}
	hint := ""
	if below := standaloneStore(data); hasStore(below) {
		hint = fmt.Sprintf("; the store of the standalone whose folder this is, is --data %s", below)
	}
	return fmt.Errorf("%w in %s, no %s%s", ErrNoStore, data, databaseFile, hint)
}

// standaloneStore is where a standalone that has this folder keeps its store.
func standaloneStore(data string) string { return filepath.Join(data, "core") }

// hasStore reports whether a database file is there that has ever been opened; what cannot be looked at counts as one, for opening it says why.
func hasStore(data string) bool {
	info, err := os.Stat(filepath.Join(data, databaseFile))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return info.Size() > 0
}

// wantNothingLost is ErrLost for a folder with secrets and without a database. The secrets are looked for first: a first start that goes on
// beside this has made the database by then.
func wantNothingLost(data string) error {
	for _, name := range []string{rootFile, vaultFile} {
		if has(data, name) && !hasStore(data) {
			return fmt.Errorf("%w: %s has %s, but no %s with it. Is its volume mounted? If the database is lost, restore a backup into an empty "+
				"folder (core restore); to begin anew, take an empty folder", ErrLost, data, name, databaseFile)
		}
	}
	return nil
}

// loadRoots reads the root secrets, and makes them for a store that has nothing yet that depends on
// them.
func loadRoots(ctx context.Context, cfg Config, db *store.DB) (roots *root.Ring, err error) {
	if cfg.Database != nil {
		roots, err = loadSharedRoots(ctx, cfg, db)
	} else {
		roots, err = loadRootFile(ctx, cfg, db)
	}
	if err != nil {
		return nil, err
	}
	return roots, wantRootVersions(ctx, cfg, db, roots)
}

func loadRootFile(ctx context.Context, cfg Config, db *store.DB) (*root.Ring, error) {
	file := root.File(filepath.Join(cfg.Data, rootFile))
	roots, err := root.Open(ctx, file, cfg.Clock)
	if !errors.Is(err, fs.ErrNotExist) {
		return roots, err
	}
	found, err := db.HoldsMerchants(ctx)
	switch {
	case err != nil:
		return nil, err
	case found && !has(cfg.Data, rootFile): // nor has another first start made it meanwhile
		return nil, lost(cfg.Data, rootFile, "the API keys of its merchants are invalid and the webhooks' secrets unknown")
	}
	if err := backup.SyncDir(cfg.Data); err != nil { // the database's name, too, before there is a secret
		return nil, fmt.Errorf("data folder: %w", err)
	}
	first, err := firstRoots(cfg)
	if err == nil {
		err = file.Make(first)
	}
	if err != nil {
		return nil, err
	}
	return root.Open(ctx, file, cfg.Clock) // what another process has made first is what counts
}

// firstRoots is the stored form of fresh root secrets.
func firstRoots(cfg Config) ([]byte, error) {
	set, err := root.New(cfg.Clock.Now())
	if err != nil {
		return nil, err
	}
	return set.Bytes()
}

// wantRootVersions is ErrLost for a store with valid API keys under a version of the root secret
// that is not there, as when an older copy of it was put back.
func wantRootVersions(ctx context.Context, cfg Config, db *store.DB, roots *root.Ring) error {
	uses, err := db.RootUses(ctx, cfg.Clock.Now())
	if err != nil {
		return fmt.Errorf("root secret: %w", err)
	}
	for _, u := range uses {
		if !slices.ContainsFunc(roots.Set().Versions(), func(v root.Version) bool { return v.Number == u.Version }) {
			return fmt.Errorf("%w: the root secret has no version %d, under which %d API keys are hashed. Put the root secret back that belongs "+
				"to this database, or restore both from one backup", ErrLost, u.Version, u.Keys)
		}
	}
	return nil
}

// wantKeyset is ErrLost for a store with sealed rows and without the keys that open them.
func wantKeyset(ctx context.Context, data string, db *store.DB) error {
	if has(data, vaultFile) {
		return nil
	}
	found, err := db.HoldsSealed(ctx)
	if err != nil {
		return err
	}
	if found && !has(data, vaultFile) { // nor has another process made it meanwhile
		return lostKeyset(data)
	}
	return nil
}

func lostKeyset(data string) error {
	return lost(data, vaultFile, "its stored cards and bank accounts cannot be read")
}

func lost(data, name, effect string) error {
	return fmt.Errorf("%w: %s has no %s, without which %s. Put the file back from a backup of this folder (it is in the folder that core backup "+
		"made), or restore that backup whole into an empty folder (core restore)", ErrLost, data, name, effect)
}

// has reports whether the folder has the file; what cannot be looked at counts as there, for reading it says why.
func has(data, name string) bool {
	_, err := os.Stat(filepath.Join(data, name))
	return !errors.Is(err, fs.ErrNotExist)
}
