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

// asked is what became of who asked.
type asked struct {
	got  int
	done bool
	err  error
}

// gathered has numbers from 0 to n written as one group, while the one before is held up: it asks for each in turn under a context of its own, calls
// meanwhile when all wait for their group, lets the first go, and returns what became of all. What is written is write's to say.
func gathered(t *testing.T, n int, under func(i int) context.Context, meanwhile func(), write func(ctx context.Context, all []int) error) (*postgres.Queue, []asked) {
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
	wg.Go(func() { _, _, _ = q.Do(t.Context(), -1) }) // the first
	synctest.Wait()
	out := make([]asked, n)
	for i := range out {
		wg.Go(func() {
			a := &out[i]
			a.got, a.done, a.err = q.Do(under(i), i)
		})
		synctest.Wait()
	}
	meanwhile()
	close(hold)
	wg.Wait()
	return q, out
}

// wantWhole wants a queue in which no member waits, and which writes on.
func wantWhole(t *testing.T, q *postgres.Queue) {
	t.Helper()
	if waiting := q.Waiting(); waiting != 0 {
		t.Errorf("%d wait, though all have ended", waiting)
	}
	if got, done, err := q.Do(t.Context(), 7); got != 7 || !done || err != nil {
		t.Errorf("afterwards: got %d, %t, %v", got, done, err)
	}
}

// TestLeadGoesToWhoWaits: once a group is written the next one is, of all that have come meanwhile, without a pause.
func TestLeadGoesToWhoWaits(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			begun, groups := time.Now(), 0 //nolint:forbidigo // of the bubble's clock
			q, all := gathered(t, n, func(int) context.Context { return t.Context() }, func() {}, func(_ context.Context, all []int) error {
				if groups++; groups > 1 || len(all) != n || time.Since(begun) > 0 {
					t.Errorf("a group of %d after %s, want one of all %d at once", len(all), time.Since(begun), n)
				}
				return nil
			})
			for i, a := range all {
				if a.got != i || !a.done || a.err != nil {
					t.Errorf("%d: got %d, %t, %v", i, a.got, a.done, a.err)
				}
			}
			if n := q.Waiting(); n != 0 {
				t.Errorf("%d wait after the end", n)
			}
		})
	}
}

// TestPanicOfAGroup: nobody of it waits for good; none knows what was done; the lead is handed on.
func TestPanicOfAGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		panics := true
		q, all := gathered(t, 5, func(int) context.Context { return t.Context() }, func() {}, func(context.Context, []int) error {
			if panics {
				panics = false
				panic("4242424242424242")
			}
			return nil
		})
		for i, a := range all {
			if a.done || !errors.Is(a.err, store.ErrUnavailable) {
				t.Errorf("%d: got %t, %v, want that nobody knows", i, a.done, a.err)
			}
		}
		wantWhole(t, q)
	})
}

// TestPanicAtAnAnswerPostgreSQL: what reads the server's answer runs in a goroutine of its own, where a panic would end the process. What was written
// stays, so that nobody knows.
func TestPanicAtAnAnswerPostgreSQL(t *testing.T) {
	t.Parallel()
	at := pgtest.Schema(t)
	c := mustDial(t, at)
	if _, err := c.Exec(t.Context(), "CREATE TABLE written (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	err := postgres.Ask(t.Context(), at, "INSERT INTO written VALUES (1) RETURNING n", func() { panic("4242424242424242") })
	if !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want that nobody knows", err)
	}
	n := 0
	if err := c.QueryRow(t.Context(), "SELECT COUNT(*) FROM written").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// TestClientGoneFromItsGroup: a member whose context ends while it waits, or while its group is written, or who leads it, is written all the same: what has
// begun ends, and his answer is kept under his key. Only what comes with an ended context is not begun.
func TestClientGoneFromItsGroup(t *testing.T) {
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
		q, all := gathered(t, 3, under, func() { ends[1]() }, func(ctx context.Context, _ []int) error {
			ends[0]() // who leads
			return ctx.Err()
		})
		for i, a := range all[:2] {
			if a.got != i || !a.done || a.err != nil {
				t.Errorf("%d: got %d, %t, %v", i, a.got, a.done, a.err)
			}
		}
		if a := all[2]; a.done || !errors.Is(a.err, context.Canceled) {
			t.Errorf("who was gone before: got %t, %v", a.done, a.err)
		}
		wantWhole(t, q)
	})
}

// TestManyWaitForAGroup: of ten thousand at once all are refused at once who are one too many, and of the others none waits for longer than half of the
// patience for a group that is not begun.
func TestManyWaitForAGroup(t *testing.T) {
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
			t.Errorf("%d wait and %d were refused", got, refused[0])
		}
		<-time.After(postgres.Patience / 2)
		synctest.Wait()
		inGroups := q.Waiting()
		if got := late[postgres.Patience/2]; got != postgres.MaxQueue-inGroups || inGroups > postgres.BatchSlots*postgres.BatchSize {
			t.Errorf("after half of the patience %d were told, and %d are in groups", got, inGroups)
		}
		close(hold)
		wg.Wait()
		if written != inGroups {
			t.Errorf("%d of %d are written", written, inGroups)
		}
		wantWhole(t, q)
	})
}

// TestClockStepsWhileAGroupWaits: a group has its patience, less what its first member has waited for and at least half of it, whatever the clock does.
func TestClockStepsWhileAGroupWaits(t *testing.T) {
	t.Parallel()
	for step, want := range map[time.Duration]time.Duration{
		-25 * time.Hour: postgres.Patience, 0: postgres.Patience, time.Millisecond: postgres.Patience - time.Millisecond, 25 * time.Hour: postgres.Patience / 2,
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

// TestErrorsThatUndo: whatever language the server speaks, a group of which it has refused one is known to be undone, and the others are tried alone.
func TestErrorsThatUndo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said pgconn.PgError
		want bool
	}{
		{pgconn.PgError{Severity: "FEHLER", SeverityUnlocalized: "ERROR", Code: "23514"}, true},
		{pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "40P01"}, true},
		{pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "55P03"}, true},
		{pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "CW001"}, true},
		{pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "57014"}, false}, // it may have been at its commit
		{pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "25006"}, false},
		{pgconn.PgError{Severity: "ERROR", SeverityUnlocalized: "FATAL", Code: "57P01"}, false},
	} {
		if got := postgres.Undone(&c.said); got != c.want {
			t.Errorf("%+v: got %t", c.said, got)
		}
	}
}

// TestEndpointsThatDiffer: if two records of a batch guess different endpoints of one tenant, the batch
// has no guess of that tenant, and leaves both out.
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
	got := postgres.Guesses([]*store.OutcomeRecord{record(1, 1), record(2, 1), record(1, 2), record(2, 1), record(1, 2), none})
	if want := map[payment.Tenant]string{{Merchant: 2}: "1 * refund.created", {Merchant: 3}: ""}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestIntentsOfABatch: a batch keeps the first intent with a token. It orders intents by their keys,
// and equal keys by their tenants: two batches in different orders would wait for each other.
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
