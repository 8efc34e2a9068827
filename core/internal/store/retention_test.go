package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// MustClaim claims n keys in one commit, and stores a response for each if they are completed. It
// returns the claims.
func (b *bundle) MustClaim(t *testing.T, prefix string, n int, completed bool) []int64 {
	t.Helper()
	var claims []int64
	err := b.db.Update(t.Context(), func(tx *store.Tx) error {
		for i := range n {
			c, err := tx.ClaimKey(0, tenant, fmt.Sprint(prefix, i), []byte("f"))
			if err == nil && completed {
				err = tx.CompleteKey(c.ID, 201, []byte("{}"))
			}
			if err != nil {
				return err
			}
			claims = append(claims, c.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

// TestPurgeIdempotencyKeys: a purge removes exactly the completed keys that have expired.
func TestPurgeIdempotencyKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustClaim(t, "open", 300, false) // more than purgeBatch, with the lowest ids
	b.MustClaim(t, "old", 700, true)
	b.clock.Advance(time.Hour)
	b.MustClaim(t, "new", 20, true)
	purge := func(at time.Duration, want int64) {
		t.Helper()
		b.clock.Set(birth.Add(at))
		if got, err := b.db.PurgeIdempotencyKeys(t.Context(), b.clock.Now()); err != nil || got != want {
			t.Errorf("after %s: got %d, %v, want %d", at, got, err, want)
		}
	}
	purge(store.KeyLifetime-time.Millisecond, 0)
	purge(store.KeyLifetime, 700)
	purge(store.KeyLifetime, 0)
	if got, want := b.MustCount(t, "idempotency_keys"), 320; got != want {
		t.Errorf("left: got %d, want %d", got, want)
	}
	purge(2*store.KeyLifetime, 20)
	purge(1000*store.KeyLifetime, 0)
	if got, want := b.MustCount(t, "idempotency_keys"), 300; got != want {
		t.Errorf("left: got %d, want %d", got, want)
	}
}

// TestLateResponsesHideNoExpiredKey: requests of two windows end a day after they claimed their
// keys, so these keys live on. The pass still removes the later keys, which have expired.
func TestLateResponsesHideNoExpiredKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	late := b.MustClaim(t, "late", 600, false)
	b.clock.Advance(time.Minute)
	b.MustClaim(t, "old", 700, true)
	b.clock.Advance(store.KeyLifetime)
	b.MustUpdate(t, func(tx *store.Tx) error {
		for _, claim := range late {
			if err := tx.CompleteKey(claim, 201, []byte("{}")); err != nil {
				return err
			}
		}
		return nil
	})
	b.MustClaim(t, "new", 20, true)
	for _, want := range []int64{700, 0} {
		if got, err := b.db.PurgeIdempotencyKeys(t.Context(), b.clock.Now()); err != nil || got != want {
			t.Errorf("got %d, %v, want %d", got, err, want)
		}
	}
	if got, want := b.MustCount(t, "idempotency_keys"), 620; got != want {
		t.Errorf("left: got %d, want %d", got, want)
	}
}

// removals is an engine that records how many rows of a table each commit removes.
type removals struct {
	store.Engine
	count func() int64
	left  int64
	each  []int64
}

// Update implements store.Engine.
func (r *removals) Update(ctx context.Context, c *store.Command) error {
	err := r.Engine.Update(ctx, c)
	left := r.count()
	if left < r.left {
		r.each = append(r.each, r.left-left)
	}
	r.left = left
	return err
}

// TestPurgeOfLargeRows: a commit of a purge removes about a megabyte, and at least one row.
func TestPurgeOfLargeRows(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 400, 400, 400, 2000, 100, 900, 25, 1, 1} // in kilobytes
	want := []int64{3, 1, 1, 2, 3}                             // rows of each commit
	const keep = 60 * 24 * time.Hour
	long := time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC) // also by the server's clock
	for table, c := range map[string]struct {
		insert func(tx *store.Tx, tenant payment.Tenant, n int, text []byte) error
		purge  func(ctx context.Context, s *coretest.Service) (int64, error)
	}{
		"idempotency_keys": {
			func(tx *store.Tx, tenant payment.Tenant, n int, text []byte) error {
				c, err := tx.ClaimKey(0, tenant, fmt.Sprint(n), []byte("f"))
				if err != nil {
					return err
				}
				return tx.CompleteKey(c.ID, 201, text)
			},
			func(ctx context.Context, s *coretest.Service) (int64, error) {
				return s.DB.PurgeIdempotencyKeys(ctx, s.Clock.Now())
			},
		},
		"events": {
			func(tx *store.Tx, tenant payment.Tenant, n int, text []byte) error {
				return tx.InsertEvent(&payment.Event{
					ID: id.At(long) + int64(n), Tenant: tenant, Type: "certificate.rotated", Object: 1, Sequence: 1, Data: text,
				})
			},
			func(ctx context.Context, s *coretest.Service) (int64, error) {
				return s.DB.PurgeEvents(ctx, s.Clock.Now(), keep)
			},
		},
	} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			onEachEngine(t, func(t *testing.T, s *coretest.Service) {
				t.Helper()
				for n, size := range sizes {
					text := bytes.Repeat([]byte("1"), size<<10)
					err := s.DB.Update(t.Context(), func(tx *store.Tx) error { return c.insert(tx, s.Tenant, n, text) })
					if err != nil {
						t.Fatal(err)
					}
				}
				s.Clock.Advance(store.KeyLifetime)
				r := &removals{count: func() int64 { return s.Number(t, "SELECT COUNT(*) FROM "+table) }, left: int64(len(sizes))}
				s.DB.Wrap(func(e store.Engine) store.Engine { r.Engine = e; return r })
				n, err := c.purge(t.Context(), s)
				if err != nil || n != int64(len(sizes)) || !slices.Equal(r.each, want) {
					t.Errorf("got %d rows, %v in each commit, and %v, want %d rows and %v", n, r.each, err, len(sizes), want)
				}
			})
		})
	}
}

// TestRemoveEndedAttempts: a commit removes a page of the attempts at steps that have ended. An
// attempt at an unfinished step stays.
func TestRemoveEndedAttempts(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, s *coretest.Service) {
		t.Helper()
		step := payment.StepID{Kind: payment.AuthorizeStep, Transaction: 1}
		err := s.DB.Update(t.Context(), func(tx *store.Tx) error {
			return tx.InsertReversal(&payment.Reversal{
				Step: step, Tenant: s.Tenant, Amount: 100, Currency: "usd", Since: tx.Now, DueAt: tx.Now,
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		s.MustExec(t, `INSERT INTO step_attempts (kind, object_id, number, attempts, running, begun_at, next_at, last_error)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
			SELECT CASE i % 2 WHEN 0 THEN 'refund' ELSE 'authorize' END, i / 2, 0, 1, 0, 1, 1, '' FROM n
			UNION ALL SELECT 'reversal', id, 0, 1, 0, 1, 1, '' FROM reversals`)
		r := &removals{count: func() int64 { return s.Number(t, "SELECT COUNT(*) FROM step_attempts") }, left: 601}
		s.DB.Wrap(func(e store.Engine) store.Engine { r.Engine = e; return r })
		if err := s.DB.RemoveEndedAttempts(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := []int64{256, 256, 88}; !slices.Equal(r.each, want) || r.left != 1 {
			t.Errorf("removed in each commit: got %v and %d left, want %v and 1", r.each, r.left, want)
		}
	})
}

// TestPurgeDuringClaims: a purge loses no key that is claimed while it runs, even if it has just
// purged an expired one of the same name.
func TestPurgeDuringClaims(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustClaim(t, "k", 2000, true)
	b.clock.Advance(store.KeyLifetime)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := i; n < 2000; n += 8 {
				err := b.db.Update(t.Context(), func(tx *store.Tx) error {
					c, err := tx.ClaimKey(0, tenant, fmt.Sprint("k", n), []byte("g"))
					if err == nil && !c.Held {
						err = fmt.Errorf("key %d is not free: %+v", n, c)
					}
					if err != nil {
						return err
					}
					return tx.CompleteKey(c.ID, 201, []byte("{}"))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	if _, err := b.db.PurgeIdempotencyKeys(t.Context(), b.clock.Now()); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if got, want := b.MustCount(t, "idempotency_keys"), 2000; got != want {
		t.Errorf("got %d keys, want %d", got, want)
	}
	var fresh int
	query := `SELECT COUNT(*) FROM idempotency_keys WHERE fingerprint = x'67'`
	if err := b.MustWrite(t).QueryRowContext(t.Context(), query).Scan(&fresh); err != nil || fresh != 2000 {
		t.Errorf("claimed during the purge: got %d, %v, want 2000", fresh, err)
	}
}

// TestPurgeEvents: an event is removed at the end of its retention, and its announcement stays.
func TestPurgeEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const keep = 60 * 24 * time.Hour
	ids := id.NewGenerator(b.clock)
	insert := func(name string) int64 {
		e := &payment.Event{
			ID: ids.Next(), Tenant: tenant, Type: "certificate.rotated", Object: tenant.Merchant, Sequence: 1,
			Data: []byte("{}"),
		}
		b.MustUpdate(t, func(tx *store.Tx) error {
			return errors.Join(tx.InsertEvent(e), tx.InsertAnnouncement(e, name))
		})
		return e.ID
	}
	old := insert("old")
	b.clock.Advance(time.Millisecond)
	young := insert("young")
	b.clock.Advance(keep - time.Millisecond)
	if n, err := b.db.PurgeEvents(t.Context(), b.clock.Now(), keep); n != 0 || err != nil {
		t.Errorf("before the end of the retention: got %d, %v, want 0", n, err)
	}
	b.clock.Advance(time.Millisecond)
	if n, err := b.db.PurgeEvents(t.Context(), b.clock.Now(), keep); n != 1 || err != nil {
		t.Errorf("at the end of the retention: got %d, %v, want 1", n, err)
	}
	if _, err := b.db.Event(t.Context(), tenant, old); !errors.Is(err, payment.ErrNotFound) {
		t.Errorf("the old event: got %v, want %v", err, payment.ErrNotFound)
	}
	if _, err := b.db.Event(t.Context(), tenant, young); err != nil {
		t.Errorf("the young event: got %v", err)
	}
	err := b.db.Update(t.Context(), func(tx *store.Tx) error {
		e, err := tx.Announced(tenant, "certificate.rotated", "old")
		if err == nil && e.ID != old {
			t.Errorf("announced by event %d, want %d", e.ID, old)
		}
		return err
	})
	if err != nil {
		t.Errorf("the announcement of the old event: %v", err)
	}
}

// TestStoredBetweenPages: StoredBetween counts all stored responses in the range, over several
// pages.
func TestStoredBetweenPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustUpdate(t, merchant(tenant.Merchant))
	insert := `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
		INSERT INTO idempotency_keys (merchant_id, live, key, fingerprint, status, body, created_at, expires_at)
		SELECT ?2, 0, 'key-' || i, x'00', 200, CASE i % 2 WHEN 0 THEN x'02' ELSE x'05' END, 1, ?3 FROM n`
	const rows = 2*store.StoredPage + 10
	_, err := b.MustWrite(t).ExecContext(t.Context(), insert, rows, tenant.Merchant, birth.Add(time.Hour).UnixMilli())
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Time]int64{birth: rows / 2, birth.Add(2 * time.Hour): 0} {
		if n, err := b.db.StoredBetween(t.Context(), []byte{2}, []byte{3}, at); n != want || err != nil {
			t.Errorf("at %s: got %d, %v, want %d", at, n, err, want)
		}
	}
}
