package sqlite_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// lead starts a command that is the first of its batch and waits in it. behind is the next command of the
// batch.
func (b *bundle) lead(t *testing.T, fn, behind func(*store.Tx) error) (first, second error) {
	t.Helper()
	held, free := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- b.db.Update(context.Background(), func(tx *store.Tx) error { close(held); <-free; return fn(tx) })
	}()
	<-held
	queued := b.queue(behind)
	close(free)
	return <-done, <-queued
}

// The first command of a group has no savepoint: its failure takes back the group, which begins anew.
func TestFirstOfAGroupFails(t *testing.T) {
	t.Parallel()
	b := setup(t)
	failure := errors.New("no")
	for i, failing := range []func(*store.Tx) error{
		func(tx *store.Tx) error { return errors.Join(tx.InsertMerchant(1, "shop"), failure) },
		func(tx *store.Tx) error {
			return errors.Join(tx.InsertMerchant(1, "shop"), tx.InsertMerchant(1, "shop"))
		},
		func(tx *store.Tx) error { panic(tx.InsertMerchant(1, "shop")) },
	} {
		first, second := b.lead(t, failing, merchant(int64(10+i)))
		if first == nil || second != nil {
			t.Errorf("%d: got %v and %v, want an error and none", i, first, second)
		}
		if got, want := b.MustCount(t, "merchants"), i+1; got != want {
			t.Errorf("%d: got %d merchants, want %d", i, got, want)
		}
	}
}

// A first command that ignores a full disk must not let those behind it write outside of the batch's
// transaction.
func TestFirstOfAGroupHidesThatTheGroupIsGone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.engine.Exec("PRAGMA max_page_count = 100", "PRAGMA cache_size = 10"); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("no")
	first, second := b.lead(t, func(tx *store.Tx) error {
		_ = tx.InsertMerchant(1, strings.Repeat("n", 1<<20))
		return nil
	}, func(tx *store.Tx) error {
		return errors.Join(tx.InsertMerchant(2, "shop"), failure)
	})
	if !errors.Is(first, store.ErrUnavailable) || !errors.Is(second, failure) {
		t.Errorf("got %v and %v", first, second)
	}
	if first, second = b.lead(t, func(tx *store.Tx) error {
		_ = tx.InsertMerchant(3, strings.Repeat("n", 1<<20))
		return nil
	}, merchant(4)); !errors.Is(first, store.ErrUnavailable) || second != nil {
		t.Errorf("got %v and %v", first, second)
	}
	if got, want := b.MustCount(t, "merchants"), 1; got != want {
		t.Errorf("got %d merchants, want %d", got, want)
	}
}

// A command that joins a group which has begun is not dated before it was asked for.
func TestTimeOfACommandThatJoinsAGroup(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var began, joined time.Time
	first, second := b.lead(t, func(tx *store.Tx) error {
		began = tx.Now
		return nil
	}, func(tx *store.Tx) error {
		joined = tx.Now
		return nil
	})
	if err := errors.Join(first, second); err != nil {
		t.Fatal(err)
	}
	if joined.Before(began) {
		t.Errorf("got %s after %s", joined, began)
	}
	held, free := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- b.db.Update(context.Background(), func(*store.Tx) error { close(held); <-free; return nil })
	}()
	<-held
	b.clock.Advance(time.Minute)
	asked := b.clock.Now().Truncate(time.Millisecond) // as the store keeps it
	queued := b.queue(func(tx *store.Tx) error { joined = tx.Now; return nil })
	close(free)
	if err := errors.Join(<-done, <-queued); err != nil {
		t.Fatal(err)
	}
	if joined.Before(asked) {
		t.Errorf("got %s, want %s: when it was asked for", joined, asked)
	}
}
