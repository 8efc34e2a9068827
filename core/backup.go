package core

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/backup"
	"github.com/causeway-pay/causeway/core/internal/engine"
)

// backupFiles are the files of a data folder that a backup holds, and whether it must.
func backupFiles() map[string]bool {
	return map[string]bool{databaseFile: true, rootFile: true, vaultFile: false}
}

// Backup copies the data folder into the new folder to, beside a running service: the database as it is at one moment after the call, so
// that every payment answered before is in it, and the secrets that it needs. to must not exist. Whoever has the copy has the data
// folder, all but a key-encryption key of the vault that is kept elsewhere.
func Backup(ctx context.Context, cfg Config, to string) (err error) {
	cfg = cfg.withDefaults()
	if to, err = filepath.Abs(to); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("backup: %s exists", to), err)
	}
	if err := wantStore(cfg.Data); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	a, err := OpenAdmin(ctx, cfg)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return a.actOutside(ctx, "backup", to, func() error { return copyData(ctx, cfg, to) })
}

// copyData copies the data folder into the new folder to.
func copyData(ctx context.Context, cfg Config, to string) (err error) {
	// A rotation would change the keyset between the copy of it and the copy of what it opens.
	lock, err := lockOnly(filepath.Join(cfg.Data, vaultLock), "a rotation or another backup runs on this data folder")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	parent := filepath.Dir(to)
	half, err := os.MkdirTemp(parent, ".backup-*") // mode 0700
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer func() { _ = os.RemoveAll(half) }() // it was renamed when all went well
	names, err := copyFolder(ctx, cfg.Data, half)
	if err != nil {
		return err
	}
	if err := backup.Seal(half, names, cfg.Clock.Now()); err != nil {
		return err
	}
	if err := errors.Join(os.Rename(half, to), backup.SyncDir(parent)); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

// copyFolder copies the files of a backup and returns their names.
func copyFolder(ctx context.Context, from, to string) ([]string, error) {
	names := []string{databaseFile, rootFile}
	if err := backup.Copy(filepath.Join(from, rootFile), filepath.Join(to, rootFile)); err != nil {
		return nil, err
	}
	if err := backupFile(ctx, filepath.Join(from, databaseFile), filepath.Join(to, databaseFile)); err != nil {
		return nil, err
	}
	// After the database that it opens: a first start may create both meanwhile.
	err := backup.Copy(filepath.Join(from, vaultFile), filepath.Join(to, vaultFile))
	if !errors.Is(err, fs.ErrNotExist) {
		return append(names, vaultFile), err
	}
	switch found, err := backupHoldsSealed(ctx, filepath.Join(to, databaseFile)); {
	case err != nil:
		return nil, err
	case found:
		return nil, lostKeyset(from)
	}
	return names, nil
}

// Restore makes the backup in the folder from the data folder, which must be empty or missing. It believes nothing that it has not checked:
// every file's hash, and all of the database. What it could not finish it takes back.
func Restore(ctx context.Context, cfg Config, from string) (err error) {
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := wantEmpty(cfg.Data); err != nil {
		return err
	}
	lock, err := lockFolder(filepath.Join(cfg.Data, lockFile)) // nobody serves the folder while it is half there
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := wantEmpty(cfg.Data); err != nil {
		return err
	}
	m, err := backup.Read(from, backupFiles())
	if err != nil {
		return err
	}
	half, err := os.MkdirTemp(cfg.Data, ".restore-*")
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	defer func() { _ = os.RemoveAll(half) }() // its files were renamed when all went well
	for _, f := range m.Files {
		if err := f.Fetch(from, half); err != nil {
			return err
		}
	}
	if err := verifyFile(ctx, filepath.Join(half, databaseFile)); err != nil {
		return err
	}
	if err := place(half, cfg.Data, m.Files); err != nil {
		return err
	}
	return recordRestore(ctx, cfg, from)
}

// recordRestore writes the audit record of a restore: the restored store is the first that can hold
// it.
func recordRestore(ctx context.Context, cfg Config, from string) (err error) {
	a, err := OpenAdmin(ctx, cfg)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return a.recorded(ctx, a.request(), engine.Action{Name: "restore", Object: from}, audit.Done)
}

// place moves the files into the data folder, the database last: until it is there, the folder holds no data that could be mistaken for all.
func place(half, data string, files []backup.File) error {
	slices.SortFunc(files, func(a, b backup.File) int {
		switch databaseFile {
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
	return backup.SyncDir(data)
}

// wantEmpty refuses a folder that holds anything but a lock.
func wantEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	for _, e := range entries {
		if e.Name() != lockFile {
			return fmt.Errorf("restore: %s is not empty: %s is in it", dir, e.Name())
		}
	}
	return nil
}
