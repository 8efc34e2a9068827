package store_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// rerunning is an engine that runs each read of several rows twice.
type rerunning struct {
	store.Engine
	between func() // called between the runs
}

// Each implements store.Engine.
func (r rerunning) Each(
	ctx context.Context, p store.Purpose, s *store.Statement, begin func(), scan func(store.Scanner) error, args ...any,
) error {
	if err := r.Engine.Each(ctx, p, s, begin, scan, args...); err != nil {
		return err
	}
	r.between()
	return r.Engine.Each(ctx, p, s, begin, scan, args...)
}

// mustRerun opens a store that runs each read of several rows twice.
func mustRerun(t *testing.T, between func(*coretest.Service)) *coretest.Service {
	t.Helper()
	s := coretest.Open(t)
	s.DB.Wrap(func(e store.Engine) store.Engine { return rerunning{e, func() { between(s) }} })
	return s
}

func nothing(*coretest.Service) {}

// TestAgedCustomersReadAgain: the customers of a page are returned once, although the engine has
// read the page twice.
func TestAgedCustomersReadAgain(t *testing.T) {
	t.Parallel()
	s := mustRerun(t, nothing)
	since := s.Clock.Now()
	first := id.At(since.Add(-time.Hour))
	for n := range int64(3) {
		s.MustExec(t, `INSERT INTO customers (id, merchant_id, live, details, version, created_at, updated_at)
			VALUES (?, ?, 0, '{}', 1, 0, 0)`, first+n, s.Tenant.Merchant)
	}
	aged, next, err := s.DB.AgedCustomers(t.Context(), s.Tenant, since, 0)
	if want := []int64{first, first + 1, first + 2}; err != nil || !slices.Equal(aged, want) || next != 0 {
		t.Errorf("got %v, next %d, %v: want %v and 0", aged, next, err, want)
	}
}

// TestDueErasuresReadAgain: a row is counted once, although the engine has read its page twice.
func TestDueErasuresReadAgain(t *testing.T) {
	t.Parallel()
	s := mustRerun(t, nothing)
	for range 3 {
		s.MustExec(t, `INSERT INTO delayed_erasures (name, id, merchant_id, live, due_at)
			VALUES ('refunds', ?, ?, 0, ?)`, s.IDs.Next(), s.Tenant.Merchant, s.Clock.Now().UnixMilli())
	}
	due, err := s.DB.DueErasures(t.Context(), s.Clock.Now(), payment.Retention{})
	if err != nil || len(due) != 1 || due[0].Kind != "delayed_refunds" || due[0].Rows != 3 {
		t.Errorf("got %+v, %v: want 3 delayed refunds", due, err)
	}
}

// TestSweepReadsAgain: a sweep of a full page of events continues with the next page, although the
// engine has read the first one twice.
func TestSweepReadsAgain(t *testing.T) {
	t.Parallel()
	s := mustRerun(t, nothing)
	from, own := s.IDs.Next(), s.Tenant.Merchant
	s.MustExec(t, `INSERT INTO erased_objects (merchant_id, live, object_id, erased_at) VALUES (?, 0, ?, ?)`,
		own, from, s.Clock.Now().UnixMilli())
	s.MustExec(t, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO events (id, merchant_id, live, type, object_id, sequence, data, created_at)
		SELECT CAST(? AS BIGINT) + i, ?, 0, 'customer.updated', CAST(? AS BIGINT) + i, 1, '{}', 0 FROM n`,
		store.SweepPage, from, own, from)
	s.MustExec(t, `INSERT INTO events (id, merchant_id, live, type, object_id, sequence, data, created_at)
		VALUES (?, ?, 0, 'transaction.captured', ?, 1, '{"name":"Erika"}', 0)`, from+store.SweepPage+1, own, from)
	erased, err := s.DB.ErasePersonalEvents(t.Context(), s.Clock.Now(), func(_ string, data []byte) []byte {
		return []byte(strings.ReplaceAll(string(data), "Erika", ""))
	})
	if err != nil || erased != 1 {
		t.Errorf("got %d events, %v: want 1", erased, err)
	}
}

// TestRootUsesReadAgain: the versions of a first run do not count if the keys have others in the
// next one.
func TestRootUsesReadAgain(t *testing.T) {
	t.Parallel()
	s := mustRerun(t, func(s *coretest.Service) { s.MustExec(t, "UPDATE api_keys SET root_version = 2") })
	s.MustExec(t, "DELETE FROM api_keys")
	s.MustExec(t, `INSERT INTO api_keys (id, merchant_id, live, kind, hash, root_version, hint, scopes, created_at)
		VALUES (?, ?, 0, 'secret', ?, 1, '', '', 0)`, s.IDs.Next(), s.Tenant.Merchant, []byte{1})
	uses, err := s.DB.RootUses(t.Context(), s.Clock.Now())
	if want := map[int64]int64{2: 1}; err != nil || !maps.Equal(uses, want) {
		t.Errorf("got %v, %v: want %v", uses, err, want)
	}
}
