package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/durable"
)

var (
	// ErrNoStore reports that a data folder has no store.
	ErrNoStore = errors.New("there is no store")
	// ErrLost reports that a part of the store is missing that other parts need. It is a file of the
	// data folder, or a row of the database. A new one would hide the loss and make it permanent.
	ErrLost = errors.New("a part of the store is missing")
)

// A first start creates the database with its schema, then the root secret, then the keyset of the
// vault. Each is durable before the next. Merchants need the root secret, and sealed card data
// needs the keyset. A first start can die at any moment. So only a loss explains secrets without a
// database, merchants without the root secret, or sealed rows without the keyset.

// Prepare creates the data folder if there is none. It returns ErrLost if a file of the folder is
// lost. It also refuses the folder of a standalone, whose store is one folder below. A second store
// in it would never be read.
func (cfg Config) Prepare() error {
	data := cfg.Data
	if cfg.Database != nil {
		return nil
	}
	if err := wantStore(data); errors.Is(err, ErrLost) || err != nil && hasStore(standaloneStore(data)) {
		return err
	}
	if err := durable.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	return nil
}

// WantStore returns ErrNoStore if the folder has no store, or ErrLost if it had one.
func (cfg Config) WantStore() error {
	if cfg.Database != nil {
		return nil // a database that does not exist cannot be opened
	}
	return wantStore(cfg.Data)
}

func wantStore(data string) error {
	if hasStore(data) {
		return nil
	}
	if err := wantNothingLost(data); err != nil {
		return err
	}
	hint := "check --data"
	if below := standaloneStore(data); hasStore(below) {
		hint = fmt.Sprintf("this is the folder of a standalone, whose store is --data %s", below)
	}
	return fmt.Errorf("%w in %s, which has no %s: %s", ErrNoStore, data, DatabaseFile, hint)
}

// standaloneStore returns the folder in which a standalone with this data folder keeps its store.
func standaloneStore(data string) string { return filepath.Join(data, "core") }

// hasStore reports whether the folder has a database file that was ever opened. A file that cannot
// be inspected counts as one: opening it returns the reason.
func hasStore(data string) bool {
	info, err := os.Stat(filepath.Join(data, DatabaseFile))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return info.Size() > 0
}

// wantNothingLost returns ErrLost for a folder with secrets and without a database. It looks for
// the secrets first: a first start that runs at the same time has created the database by then.
func wantNothingLost(data string) error {
	for _, name := range []string{RootFile, KeysetFile} {
		if has(data, name) && !hasStore(data) {
			return fmt.Errorf("%w: %s has %s, but no %s. Check that its volume is mounted. If the database is lost, "+
				"restore a backup into an empty folder (core restore). To start without the old data, use an empty folder",
				ErrLost, data, name, DatabaseFile)
		}
	}
	return nil
}

// wantKept returns ErrLost if a location has no secret although the store holds rows that need it.
// A new secret would make the loss permanent.
func (cfg Config) wantKept(
	ctx context.Context, location vault.Location, needed func(context.Context) (bool, error), name, effect string,
) error {
	missing := func() bool {
		_, err := location.Read(ctx)
		return errors.Is(err, fs.ErrNotExist)
	}
	if !missing() {
		return nil
	}
	found, err := needed(ctx)
	switch {
	case err != nil:
		return err
	case !found || !missing(): // another process has created it meanwhile
		return nil
	case cfg.Database != nil:
		return fmt.Errorf("%w: there is no %s, without which %s. Restore the whole database from its backup",
			ErrLost, location, effect)
	}
	return lost(cfg.Data, name, effect)
}

// noCards is the effect of a lost keyset.
const noCards = "its stored cards and bank accounts cannot be read"

// LostKeyset returns the ErrLost of a folder that has sealed rows and no keyset.
func LostKeyset(data string) error {
	return lost(data, KeysetFile, noCards)
}

func lost(data, name, effect string) error {
	return fmt.Errorf("%w: %s has no %s, without which %s. Copy the file from a backup of this folder (core backup), or "+
		"restore that whole backup into an empty folder (core restore)",
		ErrLost, data, name, effect)
}

// has reports whether the folder has the file. A file that cannot be inspected counts as present:
// reading it returns the reason.
func has(data, name string) bool {
	_, err := os.Stat(filepath.Join(data, name))
	return !errors.Is(err, fs.ErrNotExist)
}
