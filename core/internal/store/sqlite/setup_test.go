package sqlite_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/sqlite"
	"github.com/causeway-pay/causeway/shared/clock"
)

var birth = time.Date(2026, time.November, 21, 9, 30, 0, 123_456_789, time.UTC)

var tenant = payment.Tenant{Merchant: 7}

// bundle is an open store and its file.
type bundle struct {
	path   string
	clock  *clock.Fake
	db     *store.DB
	engine *sqlite.Engine
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{path: filepath.Join(t.TempDir(), "causeway.db"), clock: clock.NewFake(birth)}
	b.db = b.MustOpen(t)
	return b
}

func (b *bundle) MustOpen(t *testing.T) *store.DB {
	t.Helper()
	db, engine, err := sqlite.OpenOn(t.Context(), b.path, "", b.clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	b.engine = engine
	return db
}

// MustWrite opens the file without the store, to write rows that the store would reject.
func (b *bundle) MustWrite(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(b.path)+"?_pragma=busy_timeout(300000)&_pragma=foreign_keys(1)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // its statements have reported
	return db
}

// block holds the writer inside a command until release is called.
func (b *bundle) block(t *testing.T) (release func()) {
	t.Helper()
	held, free := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- b.db.Update(context.Background(), func(*store.Tx) error { close(held); <-free; return nil })
	}()
	<-held
	var once sync.Once
	release = func() {
		once.Do(func() {
			close(free)
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(release)
	return release
}

// queue starts a command and returns once it waits for the writer.
func (b *bundle) queue(fn func(*store.Tx) error) (done <-chan error) {
	before := b.db.Waiting()
	out := make(chan error, 1)
	go func() { out <- b.db.Update(context.Background(), fn) }()
	for b.db.Waiting() == before {
		runtime.Gosched()
	}
	return out
}

func merchant(id int64) func(*store.Tx) error {
	return func(tx *store.Tx) error { return tx.InsertMerchant(id, "shop") }
}

// MustCount counts the rows of a table without the store.
func (b *bundle) MustCount(t *testing.T, table string) int {
	t.Helper()
	var n int
	if err := b.MustWrite(t).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
