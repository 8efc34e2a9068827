package engine_test

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// mustEvent writes an event of a number. It calls during before the write, when the command has a
// number.
func mustEvent(t *testing.T, s *coretest.Service, n int64, during func()) {
	t.Helper()
	err := s.DB.Update(context.WithoutCancel(t.Context()), func(tx *store.Tx) error {
		if err := tx.InsertMerchant(n, "other"); err != nil { // any write
			return err
		}
		if during != nil {
			during()
		}
		return tx.InsertEvent(&payment.Event{ID: n, Tenant: s.Tenant, Type: "customer.created", Object: 1, Sequence: 1, Data: []byte("{}")})
	})
	if err != nil {
		t.Error(err)
	}
}

func eventIDs(t *testing.T, s *coretest.Service, p payment.Page) (ids []int64) {
	t.Helper()
	p.Limit = 100
	found, err := s.DB.Events(t.Context(), s.Tenant, payment.EventFilter{}, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found.Rows {
		ids = append(ids, e.ID)
	}
	return ids
}

// TestAForeignTransactionHoldsNoEventsBackPostgreSQL: an open transaction of another program keeps
// no event from the list, and delays no list.
func TestAForeignTransactionHoldsNoEventsBackPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	foreign, err := s.Database.MustInspect(t).BeginTx(t.Context(), &sql.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = foreign.Rollback() }() // it wrote nothing that is to stay
	if _, err := foreign.ExecContext(t.Context(), "INSERT INTO test_clocks (merchant_id, offset_ms) VALUES (1, 1)"); err != nil {
		t.Fatal(err)
	}
	for n := int64(1); n <= 10; n++ {
		mustEvent(t, s, n, nil)
		s.Database.WaitForCommands(t, s.Inspect)
		if got := eventIDs(t, s, payment.Page{}); len(got) != int(n) || got[0] != n {
			t.Fatalf("after event %d: got %v", n, got)
		}
	}
	// Each list takes a second if lists wait. A busy machine delays some of them.
	programtest.WaitFor(t, "a list returns within 900 ms", func() bool {
		begun := time.Now() //nolint:forbidigo // the test measures time
		eventIDs(t, s, payment.Page{})
		return time.Since(begun) < 900*time.Millisecond
	})
}

// TestASlowWriterIsWaitedForPostgreSQL: a command of another core has a number and no event yet,
// while later events are committed. A client that pages reads its event, when it comes, after the
// events that it has read.
func TestASlowWriterIsWaitedForPostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenOnce(t)
	other := s.Beside(t)
	mustEvent(t, s, 1, nil)
	entered, free := make(chan struct{}), make(chan struct{})
	var slow sync.WaitGroup
	slow.Go(func() {
		mustEvent(t, other, 2, func() {
			close(entered)
			<-free
		})
	})
	<-entered
	mustEvent(t, s, 3, nil)
	if got := eventIDs(t, s, payment.Page{Before: 1}); len(got) != 0 {
		t.Errorf("listed %v before what may come ahead of it", got)
	}
	close(free)
	slow.Wait()
	var got []int64
	programtest.WaitFor(t, "a page lists the other events", func() bool { // not within a second of one that waited in vain
		got = eventIDs(t, s, payment.Page{Before: 1})
		return len(got) != 0
	})
	if !slices.Equal(got, []int64{3, 2}) {
		t.Errorf("after the first: got %v, want 3 and 2", got)
	}
}
