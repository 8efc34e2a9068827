package sqlite_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// ping returns the result of a probe. It repeats a probe that took too long on a busy machine.
func (b *bundle) ping(t *testing.T) error {
	t.Helper()
	for {
		err := b.db.PingWriter(t.Context())
		if !errors.Is(err, store.ErrStalled) {
			return err
		}
		runtime.Gosched()
	}
}

func TestHealthOfAStoreThatCannotWrite(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct{ on, off string }{
		"full":      {"PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000"},
		"read-only": {"PRAGMA query_only = 1", ""}, // the writer cannot undo it
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			exec := func(text string) {
				t.Helper()
				if err := b.engine.Exec(text); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.db.Update(t.Context(), merchant(1)); err != nil {
				t.Fatal(err)
			}
			exec(fault.on)
			if err := b.ping(t); err != nil {
				t.Errorf("within a second of a commit: %v", err)
			}
			b.clock.Advance(time.Second)
			if err := b.ping(t); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("got %v, want it to be unavailable", err)
			}
			if err := b.db.Ping(t.Context()); err != nil {
				t.Errorf("the database can be read: %v", err)
			}
			if fault.off == "" {
				return
			}
			exec(fault.off)
			b.clock.Advance(time.Second)
			if err := b.ping(t); err != nil {
				t.Errorf("once it can be written: %v", err)
			}
		})
	}
}

// TestSmallCommitsOnAFullDisk: on a full disk a small commit can succeed although a payment cannot.
// So it does not make the store healthy.
func TestSmallCommitsOnAFullDisk(t *testing.T) {
	t.Parallel()
	b := setup(t)
	limit := func(pages string) {
		t.Helper()
		if err := b.engine.Exec("PRAGMA max_page_count = " + pages); err != nil {
			t.Fatal(err)
		}
	}
	limit("1")
	large := func(tx *store.Tx) error { return tx.InsertMerchant(2, string(make([]byte, 1<<16))) }
	if err := b.db.Update(t.Context(), large); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("got %v, want it to be unavailable", err)
	}
	for id := range int64(3) {
		if err := b.db.Update(t.Context(), merchant(10+id)); err != nil {
			t.Fatal("a small commit: ", err)
		}
		if err := b.ping(t); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("after a small commit: got %v, want it to be unavailable", err)
		}
		b.clock.Advance(time.Second)
	}
	limit("1000000")
	if err := b.ping(t); err != nil {
		t.Errorf("once there is room: %v", err)
	}
}
