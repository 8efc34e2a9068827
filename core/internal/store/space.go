package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// roomToOpen is how much room opening takes at most, in bytes, before a payment is written: the index of the write-ahead log and a few pages.
const roomToOpen = 256 << 10

// ErrDiskFull says that there is no room on the disk for what the store has to write.
var ErrDiskFull = errors.New("the disk is full")

// Explain says that the disk is full where that is why err came of the database file: SQLite calls it an I/O error when it finds no room for
// its index of the write-ahead log.
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

// room is how many bytes are free for this process on the file system of a folder.
func room(dir string) (free uint64, ok bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, false
	}
	return fs.Bavail * uint64(fs.Bsize), true //nolint:gosec // a block's size is positive
}
