package datadir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/durable"
)

// Lock keeps other cores from serving the folder: each would reclaim the running payments of the
// others. The lock ends with the process, however that ends. Any number of cores serve a Database.
func (cfg Config) Lock() (unlock func() error, err error) {
	if cfg.Database != nil {
		return func() error { return nil }, nil
	}
	return lock(filepath.Join(cfg.Data, LockFile), "another service uses this data folder: stop it first")
}

// LockSecrets excludes other rotations and backups of the folder.
func (cfg Config) LockSecrets() (release func() error, err error) {
	return lock(filepath.Join(cfg.Data, secretsLock), "a rotation or backup of this folder is in progress: retry after it")
}

// lockSecrets is LockSecrets for a Database, too.
func (d *Dir) lockSecrets(ctx context.Context) (release func() error, err error) {
	if d.Database == nil {
		return d.LockSecrets()
	}
	release, err = d.Store.Hold(ctx, secretsLock)
	if errors.Is(err, store.ErrHeld) {
		err = fmt.Errorf("another rotation of this database is in progress: retry when it has ended: %w", err)
	}
	return release, err
}

// lock locks a file. taken is the error's text if another process has locked it.
func lock(path, taken string) (unlock func() error, err error) {
	f, err := durable.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%s (%s is locked): %w", taken, path, err), f.Close())
	}
	return f.Close, nil
}
