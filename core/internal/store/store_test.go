package store_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

var birth = time.Date(2026, time.November, 21, 9, 30, 0, 123_456_789, time.UTC)

var tenant = payment.Tenant{Merchant: 7}

// bundle is an open store and its file.
type bundle struct {
	path  string
	clock *clock.Fake
	db    *store.DB
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{path: filepath.Join(t.TempDir(), "causeway.db"), clock: clock.NewFake(birth)}
	b.db = b.MustOpen(t)
	return b
}

func (b *bundle) MustOpen(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), b.path, b.clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// MustWrite opens the file past the store, to write what the store would not.
func (b *bundle) MustWrite(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(b.path)+"?_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)")
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

// MustCount counts rows past the store.
func (b *bundle) MustCount(t *testing.T, table string) int {
	t.Helper()
	var n int
	if err := b.MustWrite(t).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestGroupIsolation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	failure := errors.New("no")
	release := b.block(t)
	first := b.queue(merchant(1))
	failing := b.queue(func(tx *store.Tx) error { return errors.Join(tx.InsertMerchant(2, "shop"), failure) })
	panicking := b.queue(func(tx *store.Tx) error {
		if err := tx.InsertMerchant(3, "shop"); err != nil {
			return err
		}
		panic("4242424242424242")
	})
	duplicate := b.queue(func(tx *store.Tx) error {
		return errors.Join(tx.InsertMerchant(4, "shop"), tx.InsertMerchant(1, "shop"))
	})
	last := b.queue(merchant(5))
	release()
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := <-failing; !errors.Is(err, failure) {
		t.Errorf("failing: got %v", err)
	}
	if err := <-panicking; err == nil || strings.Contains(err.Error(), "4242") {
		t.Errorf("panicking: got %v, want an error without the value", err)
	}
	if err := <-duplicate; !errors.Is(err, store.ErrDuplicate) {
		t.Errorf("duplicate: got %v, want %v", err, store.ErrDuplicate)
	}
	if err := <-last; err != nil {
		t.Error(err)
	}
	if got, want := b.MustCount(t, "merchants"), 2; got != want {
		t.Errorf("merchants: got %d, want %d", got, want)
	}
	if err := b.db.Update(t.Context(), merchant(6)); err != nil {
		t.Errorf("the writer after a panic: %v", err)
	}
}

func TestOneGroupHasOneTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	var seen []time.Time
	note := func(tx *store.Tx) error { seen = append(seen, tx.Now); return nil }
	one, two := b.queue(note), b.queue(note)
	b.clock.Advance(time.Millisecond) // which their commit does not go by
	release()
	if err := errors.Join(<-one, <-two); err != nil {
		t.Fatal(err)
	}
	if !seen[0].Equal(seen[1]) {
		t.Errorf("two commands that waited together have the times %s and %s", seen[0], seen[1])
	}
	if got, want := seen[0], birth.Truncate(time.Millisecond); !got.Equal(want) {
		t.Errorf("now: got %s, want %s", got, want)
	}
}

func TestEqualKeysInOneGroup(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	var claims [3]store.Claim
	claim := func(i int, fingerprint string, complete bool) func(*store.Tx) error {
		return func(tx *store.Tx) (err error) {
			if claims[i], err = tx.ClaimKey(0, tenant, "k", []byte(fingerprint)); err != nil || !complete {
				return err
			}
			return tx.CompleteKey(claims[i].ID, 201, []byte("answer"))
		}
	}
	one, two, three := b.queue(claim(0, "same", true)), b.queue(claim(1, "same", false)), b.queue(claim(2, "other", false))
	release()
	if err := errors.Join(<-one, <-two, <-three); err != nil {
		t.Fatal(err)
	}
	if !claims[0].Held || claims[1].Held || claims[2].Held {
		t.Errorf("held: got %t %t %t, want the first alone", claims[0].Held, claims[1].Held, claims[2].Held)
	}
	if c := claims[1]; !c.SameRequest || c.Status != 201 || string(c.Answer) != "answer" {
		t.Errorf("the equal request: got %+v", c)
	}
	if claims[2].SameRequest {
		t.Error("another request passes for the same")
	}
}

// TestOpenKeysDoNotExpire: a request whose outcome is not known after a day still holds its key.
func TestOpenKeysDoNotExpire(t *testing.T) {
	t.Parallel()
	b := setup(t)
	claim := func() (c store.Claim) {
		err := b.db.Update(t.Context(), func(tx *store.Tx) (err error) { c, err = tx.ClaimKey(0, tenant, "k", []byte("f")); return err })
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := claim()
	b.clock.Advance(store.KeyLifetime + time.Hour)
	if got := claim(); got.Held || got.ID != first.ID || got.Status != 0 || !got.SameRequest {
		t.Errorf("got %+v, want the claim of %d still running", got, first.ID)
	}
}

func TestQueueFull(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	done := make(chan error, store.MaxQueue)
	for range store.MaxQueue {
		go func() { done <- b.db.Update(context.Background(), func(*store.Tx) error { return nil }) }()
	}
	for b.db.Waiting() < store.MaxQueue {
		runtime.Gosched()
	}
	if err := b.db.Update(t.Context(), merchant(1)); !errors.Is(err, store.ErrBusy) {
		t.Errorf("got %v, want %v", err, store.ErrBusy)
	}
	release()
	for range store.MaxQueue {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if err := b.db.Update(t.Context(), merchant(1)); err != nil {
		t.Errorf("once there is room again: %v", err)
	}
}

func TestUpdateUnderAnEndedContext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.db.Update(ended, merchant(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestCloseDrains(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	var waiting []<-chan error
	for i := range 50 {
		waiting = append(waiting, b.queue(merchant(int64(i+1))))
	}
	closed := make(chan error, 1)
	go func() { closed <- b.db.Close() }()
	for !b.db.Closing() {
		runtime.Gosched()
	}
	if err := b.db.Update(t.Context(), merchant(99)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v, want %v", err, store.ErrClosed)
	}
	release()
	for _, w := range waiting {
		if err := <-w; err != nil {
			t.Error(err)
		}
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := b.db.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if info, err := os.Stat(b.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the file: got %v, %v, want 0600", info.Mode(), err)
	}
	if _, err := os.Stat(b.path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the write-ahead log after a close: got %v, want it gone", err)
	}
	if got, want := b.MustCount(t, "merchants"), 50; got != want {
		t.Errorf("merchants: got %d, want %d", got, want)
	}
}
