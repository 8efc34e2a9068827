package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/datadir"
	"github.com/causeway-pay/causeway/shared/durable"
)

// files returns the files of a data folder that a backup holds, and whether it must.
func files() map[string]bool {
	return map[string]bool{datadir.DatabaseFile: true, datadir.RootFile: true, datadir.KeysetFile: false}
}

// Create copies the data folder into the new folder to: the database as of one moment after the
// call, and the secrets that it needs. A core may serve the folder meanwhile. The copy has each
// payment whose response was sent before the call. It can decrypt all data of the folder, unless
// the key-encryption key of the vault is stored elsewhere.
func Create(ctx context.Context, cfg datadir.Config, to string) (err error) {
	// A rotation would change the keyset between its copy and that of the database.
	release, err := cfg.LockSecrets()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	parent := filepath.Dir(to)
	half, err := durable.MkdirTemp(parent, ".backup-*") // mode 0700
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer func() { _ = os.RemoveAll(half) }() // renamed by then, if all succeeded
	names, err := copyFolder(ctx, cfg, half)
	if err != nil {
		return err
	}
	if err := Seal(half, names, cfg.Clock.Now()); err != nil {
		return err
	}
	if err := errors.Join(os.Rename(half, to), durable.SyncFolder(parent)); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

// copyFolder copies the files of a backup and returns their names.
func copyFolder(ctx context.Context, cfg datadir.Config, to string) ([]string, error) {
	from := cfg.Data
	names := []string{datadir.DatabaseFile, datadir.RootFile}
	if err := copyFile(filepath.Join(from, datadir.RootFile), filepath.Join(to, datadir.RootFile)); err != nil {
		return nil, err
	}
	database := filepath.Join(to, datadir.DatabaseFile)
	if err := cfg.CopyDatabase(ctx, database); err != nil {
		return nil, err
	}
	// After the database that it opens: a first start may create both meanwhile.
	err := copyFile(filepath.Join(from, datadir.KeysetFile), filepath.Join(to, datadir.KeysetFile))
	if !errors.Is(err, fs.ErrNotExist) {
		return append(names, datadir.KeysetFile), err
	}
	switch found, err := datadir.CopyHoldsSealed(ctx, database); {
	case err != nil:
		return nil, err
	case found:
		return nil, datadir.LostKeyset(from)
	}
	return names, nil
}

// Restore creates the data folder from the backup in the folder from. The data folder must be empty
// or missing. Restore checks the hash of every file and all of the database. If it fails, it
// removes the files that it created.
func Restore(ctx context.Context, cfg datadir.Config, from string) (err error) {
	if err := durable.MkdirAll(cfg.Data, 0o700); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := wantEmpty(cfg.Data); err != nil {
		return err
	}
	unlock, err := cfg.Lock() // no core serves the folder while it is incomplete
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := wantEmpty(cfg.Data); err != nil {
		return err
	}
	m, err := read(from, files())
	if err != nil {
		return err
	}
	half, err := durable.MkdirTemp(cfg.Data, ".restore-*")
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	defer func() { _ = os.RemoveAll(half) }() // its files were renamed by then, if all succeeded
	for _, f := range m.Files {
		if err := f.fetch(from, half); err != nil {
			return err
		}
	}
	if err := datadir.VerifyDatabase(ctx, filepath.Join(half, datadir.DatabaseFile)); err != nil {
		return err
	}
	return moveInto(half, cfg.Data, m.Files)
}

// moveInto moves the files into the data folder, the database last: without it, every command
// treats the folder as incomplete.
func moveInto(half, data string, files []file) error {
	slices.SortFunc(files, func(a, b file) int {
		switch datadir.DatabaseFile {
		case a.Name:
			return 1
		case b.Name:
			return -1
		}
		return 0
	})
	for i, f := range files {
		if err := os.Rename(filepath.Join(half, f.Name), filepath.Join(data, f.Name)); err != nil {
			for _, done := range files[:i] {
				err = errors.Join(err, os.Remove(filepath.Join(data, done.Name)))
			}
			return fmt.Errorf("restore: %w", err)
		}
	}
	return durable.SyncFolder(data)
}

// wantEmpty refuses a folder that contains any file except a lock.
func wantEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	for _, e := range entries {
		if e.Name() != datadir.LockFile {
			return fmt.Errorf("restore: %s is not empty: it has %s. Use an empty folder", dir, e.Name())
		}
	}
	return nil
}
