package store_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
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
	db, err := (&coretest.Database{Path: b.path}).Open(t.Context(), b.clock)
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

// MustWrite opens the file without the store, for writes that the store would refuse.
func (b *bundle) MustWrite(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(b.path)+"?_pragma=busy_timeout(300000)&_pragma=foreign_keys(1)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // each statement has reported its error
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

// TestEqualKeysInOneBatch: three requests with one key are in one batch. The first one holds the
// key, the equal one gets the response, and the other one is refused.
func TestEqualKeysInOneBatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	var claims [3]store.Claim
	claim := func(i int, fingerprint string, complete bool) func(*store.Tx) error {
		return func(tx *store.Tx) (err error) {
			if claims[i], err = tx.ClaimKey(0, tenant, "k", []byte(fingerprint)); err != nil || !complete {
				return err
			}
			return tx.CompleteKey(claims[i].ID, 201, []byte("response"))
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
	if c := claims[1]; !c.SameRequest || c.Status != 201 || string(c.Body) != "response" {
		t.Errorf("the equal request: got %+v, want the stored response", c)
	}
	if claims[2].SameRequest {
		t.Error("another request counts as the same")
	}
}

// TestOpenKeysDoNotExpire: a request that is not completed after a day still holds its key.
func TestOpenKeysDoNotExpire(t *testing.T) {
	t.Parallel()
	b := setup(t)
	claim := func() (c store.Claim) {
		b.MustUpdate(t, func(tx *store.Tx) (err error) {
			c, err = tx.ClaimKey(0, tenant, "k", []byte("f"))
			return err
		})
		return c
	}
	first := claim()
	b.clock.Advance(store.KeyLifetime + time.Hour)
	if got := claim(); got.Held || got.ID != first.ID || got.Status != 0 || !got.SameRequest {
		t.Errorf("got %+v, want claim %d, not completed", got, first.ID)
	}
}
