package datadir

import (
	"context"
	"path/filepath"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/sqlite"
	"github.com/causeway-pay/causeway/shared/clock"
)

// Only this file of the product imports the engine of files.

func openFile(ctx context.Context, path string, c clock.Clock) (*store.DB, error) {
	return sqlite.Open(ctx, path, c)
}

// Explain adds the remedy to an error of the store.
func (cfg Config) Explain(err error) error {
	return sqlite.Explain(err, filepath.Join(cfg.Data, DatabaseFile))
}

// CopyDatabase copies the database of the folder, as of one moment, into the new file to. A core
// may write meanwhile. The file is not synced.
func (cfg Config) CopyDatabase(ctx context.Context, to string) error {
	return sqlite.Backup(ctx, filepath.Join(cfg.Data, DatabaseFile), to)
}

// CopyHoldsSealed reports whether a copy of a database has sealed rows, which need a keyset.
func CopyHoldsSealed(ctx context.Context, path string) (bool, error) {
	return sqlite.BackupHoldsSealed(ctx, path)
}

// VerifyDatabase reads all of a database file that no process has open. It returns an error if the
// file is damaged.
func VerifyDatabase(ctx context.Context, path string) error { return sqlite.Verify(ctx, path) }
