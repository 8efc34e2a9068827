package postgres_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
)

// result is the result of a call.
type result struct {
	got  int
	done bool
	err  error
}

// oneBatch writes the numbers 0 to n-1 in one batch by write, and returns the queue and the
// results. The calls queue in this order while an earlier batch is held up. Call i has the context
// under(i). meanwhile runs once all calls wait.
func oneBatch(
	t *testing.T, n int, under func(i int) context.Context, meanwhile func(),
	write func(ctx context.Context, all []int) error,
) (*postgres.Queue, []result) {
	t.Helper()
	hold := make(chan struct{})
	q := postgres.NewQueue(func(ctx context.Context, all []int) error {
		if slices.Contains(all, -1) {
			<-hold
			return nil
		}
		return write(ctx, all)
	})
	var wg sync.WaitGroup
	wg.Go(func() { _, _, _ = q.Do(t.Context(), -1) }) // the earlier batch
	synctest.Wait()
	out := make([]result, n)
	for i := range out {
		wg.Go(func() {
			r := &out[i]
			r.got, r.done, r.err = q.Do(under(i), i)
		})
		synctest.Wait()
	}
	meanwhile()
	close(hold)
	wg.Wait()
	return q, out
}

// wantIdle checks that no entry waits in a queue, and that it still writes.
func wantIdle(t *testing.T, q *postgres.Queue) {
	t.Helper()
	if waiting := q.Waiting(); waiting != 0 {
		t.Errorf("%d entries wait, want 0", waiting)
	}
	if got, done, err := q.Do(t.Context(), 7); got != 7 || !done || err != nil {
		t.Errorf("afterwards: got %d, %t, %v", got, done, err)
	}
}

// TestNextBatch: when a batch is written, the next one begins immediately. It has all calls that
// wait.
func TestNextBatch(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			begun, batches := time.Now(), 0 //nolint:forbidigo // of the bubble's clock
			under := func(int) context.Context { return t.Context() }
			q, all := oneBatch(t, n, under, func() {}, func(_ context.Context, all []int) error {
				if batches++; batches > 1 || len(all) != n || time.Since(begun) > 0 {
					t.Errorf("got a batch of %d after %s, want one of all %d at the same time", len(all), time.Since(begun), n)
				}
				return nil
			})
			for i, a := range all {
				if a.got != i || !a.done || a.err != nil {
					t.Errorf("%d: got %d, %t, %v", i, a.got, a.done, a.err)
				}
			}
			if n := q.Waiting(); n != 0 {
				t.Errorf("%d entries wait, want 0", n)
			}
		})
	}
}

// TestPanicOfABatch: every call of the batch returns ErrUnavailable, as the outcome is unknown. The
// next batch begins.
func TestPanicOfABatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		panics := true
		under := func(int) context.Context { return t.Context() }
		q, all := oneBatch(t, 5, under, func() {}, func(context.Context, []int) error {
			if panics {
				panics = false
				panic("4242424242424242")
			}
			return nil
		})
		for i, a := range all {
			if a.done || !errors.Is(a.err, store.ErrUnavailable) {
				t.Errorf("%d: got %t, %v, want %v", i, a.done, a.err, store.ErrUnavailable)
			}
		}
		wantIdle(t, q)
	})
}

// TestPanicWhileRowsAreReadPostgreSQL: the rows of a batch are read in a separate goroutine, where
// a panic would end the process. The panic becomes ErrUnavailable. The outcome is unknown to the
// caller, though the batch is committed.
func TestPanicWhileRowsAreReadPostgreSQL(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	c := mustDial(t, at)
	if _, err := c.Exec(t.Context(), "CREATE TABLE written (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	const insert = "INSERT INTO written VALUES (1) RETURNING n"
	err := postgres.RunBatch(t.Context(), at, insert, func() { panic("4242424242424242") })
	if !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, store.ErrUnavailable)
	}
	n := 0
	if err := c.QueryRow(t.Context(), "SELECT COUNT(*) FROM written").Scan(&n); err != nil || n != 1 {
		t.Errorf("got %d rows, %v, want 1", n, err)
	}
}

// TestCallerGivesUp: the context of a call ends while it waits, or while it leads the batch that is
// written. Its number is still written, because the response will be stored under the idempotency
// key. Only a call whose context has ended before its begin writes nothing.
func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ends [3]context.CancelFunc
		under := func(i int) context.Context {
			ctx, cancel := context.WithCancel(t.Context())
			if ends[i] = cancel; i == 2 {
				cancel()
			}
			return ctx
		}
		q, all := oneBatch(t, 3, under, func() { ends[1]() }, func(ctx context.Context, _ []int) error {
			ends[0]() // of the leader
			return ctx.Err()
		})
		for i, a := range all[:2] {
			if a.got != i || !a.done || a.err != nil {
				t.Errorf("%d: got %d, %t, %v", i, a.got, a.done, a.err)
			}
		}
		if a := all[2]; a.done || !errors.Is(a.err, context.Canceled) {
			t.Errorf("with an ended context: got %t, %v", a.done, a.err)
		}
		wantIdle(t, q)
	})
}

// TestManyCalls: of 10,000 calls at the same time, those above MaxQueue fail at once with ErrBusy.
// The others wait for a batch for half of the patience at most.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		q := postgres.NewQueue(func(context.Context, []int) error { <-hold; return nil })
		const most = 10_000
		begun := time.Now() //nolint:forbidigo // of the bubble's clock
		var mu sync.Mutex
		var wg sync.WaitGroup
		refused, late, written := map[time.Duration]int{}, map[time.Duration]int{}, 0
		for i := range most {
			wg.Go(func() {
				_, done, err := q.Do(t.Context(), i)
				mu.Lock()
				defer mu.Unlock()
				switch took := time.Since(begun); {
				case errors.Is(err, store.ErrBusy):
					refused[took]++
				case errors.Is(err, store.ErrUnavailable):
					late[took]++
				case done && err == nil:
					written++
				}
			})
		}
		synctest.Wait()
		if got := q.Waiting(); got != postgres.MaxQueue || refused[0] != most-postgres.MaxQueue {
			t.Errorf("%d entries wait and %d calls were refused", got, refused[0])
		}
		<-time.After(postgres.Patience / 2)
		synctest.Wait()
		inBatches := q.Waiting()
		if inBatches > postgres.BatchSlots*postgres.BatchSize {
			t.Errorf("%d calls are in batches, want at most %d", inBatches, postgres.BatchSlots*postgres.BatchSize)
		}
		if got, want := late[postgres.Patience/2], postgres.MaxQueue-inBatches; got != want {
			t.Errorf("after half of the patience: %d calls failed, want %d", got, want)
		}
		close(hold)
		wg.Wait()
		if written != inBatches {
			t.Errorf("%d of %d numbers are written", written, inBatches)
		}
		wantIdle(t, q)
	})
}

// TestClockStepsWhileABatchWaits: a batch has the patience minus the wait of its first entry, and
// at least half of the patience, also if the clock steps.
func TestClockStepsWhileABatchWaits(t *testing.T) {
	t.Parallel()
	for step, want := range map[time.Duration]time.Duration{
		-25 * time.Hour: postgres.Patience, 0: postgres.Patience,
		time.Millisecond: postgres.Patience - time.Millisecond, 25 * time.Hour: postgres.Patience / 2,
	} {
		synctest.Test(t, func(t *testing.T) {
			c := clock.NewFake(time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC))
			hold := make(chan struct{})
			q := postgres.NewQueueAt(c, func(ctx context.Context, all []int) error {
				if all[0] == 1 {
					<-hold
				} else if ends, _ := ctx.Deadline(); time.Until(ends) != want {
					t.Errorf("a step of %s: the batch has %s, want %s", step, time.Until(ends), want)
				}
				return nil
			})
			var wg sync.WaitGroup
			for n := range 2 {
				wg.Go(func() {
					if _, _, err := q.Do(t.Context(), n+1); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
			}
			c.Advance(step)
			close(hold)
			wg.Wait()
		})
	}
}

// TestErrorsThatRollBack: an error of severity ERROR, in any language of the server, means that the
// batch is rolled back. Its entries are then written alone.
func TestErrorsThatRollBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  pgconn.PgError
		want bool
	}{
		{pgconn.PgError{Severity: "FEHLER", SeverityUnlocalized: "ERROR", Code: "23514"}, true},
		{pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "40P01"}, true},
		{pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "55P03"}, true},
		{pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "CW001"}, true},
		// The statement may have been cancelled during its commit.
		{pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "57014"}, false},
		{pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "25006"}, false},
		{pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "FATAL", Code: "57P01"}, false},
	} {
		if got := postgres.Undone(&c.err); got != c.want {
			t.Errorf("%+v: got %t, want %t", c.err, got, c.want)
		}
	}
}

// TestEndpointsThatDiffer: if two records of a batch guess different endpoints of one tenant, the
// batch has no guess of that tenant, and leaves both out.
func TestEndpointsThatDiffer(t *testing.T) {
	t.Parallel()
	record := func(merchant, endpoint int64) *store.OutcomeRecord {
		return &store.OutcomeRecord{
			Endpoints:   []payment.Endpoint{{ID: endpoint, Types: []string{"*", "refund.created"}}},
			Transaction: &payment.Transaction{Tenant: payment.Tenant{Merchant: merchant}},
		}
	}
	none := record(3, 0)
	none.Endpoints = nil
	got := postgres.Guesses([]*store.OutcomeRecord{
		record(1, 1), record(2, 1), record(1, 2), record(2, 1), record(1, 2), none,
	})
	if want := map[payment.Tenant]string{{Merchant: 2}: "1 * refund.created", {Merchant: 3}: ""}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestIntentsOfABatch: a batch keeps the first intent with a token. It orders intents by their
// keys, and equal keys by their tenants: two batches in different orders would wait for each other.
func TestIntentsOfABatch(t *testing.T) {
	t.Parallel()
	var all []*store.Intent
	for _, i := range []struct {
		key   string
		token int64
		of    payment.Tenant
	}{
		{"d", 5, payment.Tenant{Merchant: 1}},
		{"c", 0, payment.Tenant{Merchant: 2, Live: true}},
		{"c", 0, payment.Tenant{Merchant: 2}},
		{"c", 0, payment.Tenant{Merchant: 1, Live: true}},
		{"b", 5, payment.Tenant{Merchant: 1}},
		{"a", 6, payment.Tenant{Merchant: 2}},
		{"", 0, payment.Tenant{Merchant: 1}},
		{"", 5, payment.Tenant{Merchant: 1}},
	} {
		t := &payment.Transaction{Tenant: i.of}
		all = append(all, &store.Intent{Transaction: t, Key: i.key, Source: payment.StoredSource{Token: i.token}})
	}
	if got, want := postgres.Kept(all), []int{6, 5, 3, 2, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
