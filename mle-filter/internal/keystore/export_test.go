package keystore

import "context"

// OpenOn opens a file on a VFS of SQLite.
func OpenOn(ctx context.Context, path, vfs string) (*Engine, error) {
	return openSQLiteOn(ctx, path, vfs, false)
}
