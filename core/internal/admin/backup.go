package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/backup"
	"github.com/causeway-pay/causeway/core/internal/datadir"
	"github.com/causeway-pay/causeway/core/internal/engine"
)

// Backup copies the data folder into the new folder to, which must not exist.
func Backup(ctx context.Context, cfg datadir.Config, to string) (err error) {
	if to, err = filepath.Abs(to); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("backup: %s exists: choose a new folder", to), err)
	}
	a, err := Open(ctx, cfg)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return a.actOutside(ctx, "backup", to, func() error { return backup.Create(ctx, a.dir.Config, to) })
}

// Restore creates the data folder, which must be empty or missing, from the backup in the folder
// from. It writes the audit record into the restored store, because no other store exists.
func Restore(ctx context.Context, cfg datadir.Config, from string) (err error) {
	if err := backup.Restore(ctx, cfg, from); err != nil {
		return err
	}
	a, err := Open(ctx, cfg)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return a.recorded(ctx, a.request(), engine.Action{Name: "restore", Object: from}, audit.Done)
}
