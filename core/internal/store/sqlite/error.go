package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/sqlitewal"
)

// roomToOpen is how many bytes it takes at most to open a file: the index of the write-ahead log
// and a few pages.
const roomToOpen = 256 << 10

// ErrDiskFull reports that the disk has no room for the writes of the store.
var ErrDiskFull = errors.New("the disk is full")

// Explain adds ErrDiskFull to an error of the database file at path if the disk is full. SQLite
// returns an I/O error if it finds no room for the index of its write-ahead log.
func Explain(err error, path string) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
	default:
		return err
	}
	free, ok := room(filepath.Dir(path))
	if !ok || free >= roomToOpen {
		return err
	}
	return fmt.Errorf("%w: %d bytes are free where %s is; make room and start again: %w", ErrDiskFull, free, path, err)
}

// room returns how many bytes are free for this process on the file system of a folder.
func room(dir string) (free uint64, ok bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, false
	}
	return fs.Bavail * uint64(fs.Bsize), true //nolint:gosec // a block's size is positive
}

// explained adds an error of the store to an error of SQLite. It adds ErrDuplicate for a second row
// with the same primary or unique key, and ErrUnavailable if a retry may succeed.
func explained(err error) error {
	switch {
	case sqlitewal.Duplicate(err):
		return fmt.Errorf("%w: %w", store.ErrDuplicate, err)
	case sqlitewal.Unavailable(err):
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return err
}
