package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	driver "modernc.org/sqlite"

	"github.com/causeway-pay/causeway/core/internal/store/sqlite"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/sqlitewal"
)

// TestConnectionsAreDurable: each connection's effective journal mode and synchronous level are
// verified. Without shared memory, as on some network file systems, SQLite keeps another journal
// mode and returns no error.
func TestConnectionsAreDurable(t *testing.T) {
	t.Parallel()
	const wal, flush = "&_pragma=journal_mode(WAL)", "&_pragma=synchronous(FULL)"
	for more, durable := range map[string]bool{
		wal + flush:                               true,
		wal + "&_pragma=synchronous(EXTRA)":       true,
		wal + "&_pragma=synchronous(NORMAL)":      false,
		wal + "&_pragma=synchronous(OFF)":         false,
		"&vfs=unix-dotfile" + wal + flush:         false,
		"&_pragma=journal_mode(DELETE)" + flush:   false,
		"&_pragma=journal_mode(MEMORY)" + flush:   false,
		"&mode=memory&cache=shared" + wal + flush: false,
	} {
		source := "file:" + filepath.ToSlash(filepath.Join(t.TempDir(), "x.db")) + "?_pragma=busy_timeout(5000)" + more
		db := sql.OpenDB(sqlitewal.Connector{SQLite: &driver.Driver{}, DSN: source})
		err := db.PingContext(t.Context())
		if durable && err != nil || !durable && !errors.Is(err, sqlitewal.ErrNotDurable) {
			t.Errorf("%s: got %v, want it to be durable: %t", more, err, durable)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestStoreWithoutSharedMemory: a store on a file system without shared memory is refused. The VFS
// simulates such a file system.
func TestStoreWithoutSharedMemory(t *testing.T) {
	t.Parallel()
	db, _, err := sqlite.OpenOn(context.Background(), filepath.Join(t.TempDir(), "x.db"), "unix-dotfile", clock.System())
	if err == nil {
		t.Fatalf("opened, %v", db.Close())
	}
	if !errors.Is(err, sqlitewal.ErrNotDurable) {
		t.Errorf("got %v", err)
	}
}
