package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/pgtest"
)

var tenant = payment.Tenant{Merchant: 7}

// bundle is a store on a server, with a clock of its own.
type bundle struct {
	db    *store.DB
	clock *clock.Fake
	ids   *id.Generator
	url   string
	raw   *pgx.Conn // past the store
}

// setup opens a new store at a time before the bound of its first part.
func setup(t *testing.T) *bundle {
	t.Helper()
	return at(t, pgtest.Schema(t))
}

func at(t *testing.T, url string) *bundle {
	t.Helper()
	b := &bundle{clock: clock.NewFake(clock.System().Now().Truncate(time.Second)), url: url, raw: mustDial(t, url)}
	b.ids = id.NewGenerator(b.clock)
	b.db = b.open(t)
	return b
}

func (b *bundle) open(t *testing.T) *store.DB {
	t.Helper()
	return b.mustOpen(t, "&patience=30s&pool_max_conns=6")
}

// mustOpen opens one more store on the server of b, with parameters of its own.
func (b *bundle) mustOpen(t *testing.T, parameters string) *store.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), b.url+parameters, b.clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // its commands have reported
	return db
}

func mustDial(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) }) // its statements have reported
	return c
}

// insert writes an event with an id, and a delivery of it.
func (b *bundle) insert(ctx context.Context, n int64) error {
	return b.db.Update(ctx, func(tx *store.Tx) error {
		e := &payment.Event{ID: n, Tenant: tenant, Type: "transaction.captured", Object: 3, Sequence: 1, Data: []byte("{}")}
		_, err := tx.InsertDelivery(n, 1)
		return errors.Join(tx.InsertEvent(e), err)
	})
}

func (b *bundle) mustInsert(t *testing.T, ids ...int64) {
	t.Helper()
	for _, n := range ids {
		if err := b.insert(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
}

// mustList lists all events, oldest first, in pages of two. It does so again when a transaction that runs elsewhere on the server holds some back.
func (b *bundle) mustList(t *testing.T) (ids []int64) {
	t.Helper()
	for range 100 {
		if ids = b.list(t); len(ids) == number[int](t, b, "SELECT COUNT(*) FROM events") {
			return ids
		}
	}
	t.Fatalf("%d events are listed, and there are more", len(ids))
	return nil
}

func (b *bundle) list(t *testing.T) (ids []int64) {
	t.Helper()
	for p := (payment.Page{Limit: 2}); ; {
		l, err := b.db.Events(t.Context(), tenant, payment.EventFilter{}, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range l.Rows {
			ids = append(ids, e.ID)
			p.After = e.ID
		}
		if !l.More {
			slices.Reverse(ids)
			return ids
		}
	}
}

func (b *bundle) mustMake(t *testing.T) {
	t.Helper()
	if err := b.db.MakePartitions(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// number asks for one.
func number[T any](t *testing.T, b *bundle, query string, args ...any) (n T) {
	t.Helper()
	if err := b.raw.QueryRow(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// parts are the parts of a table and how many rows each has, by its name behind the table's.
func (b *bundle) parts(t *testing.T, table string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, name := range strings.Fields(number[string](t, b, `SELECT string_agg(inhrelid::regclass::text, ' ') FROM pg_inherits WHERE inhparent = to_regclass($1)`, table)) {
		out[strings.TrimPrefix(name, table+"_")] = number[int](t, b, "SELECT COUNT(*) FROM "+name)
	}
	return out
}

func TestPartsAreMadeAhead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	begin, span := postgres.Floor(b.clock.Now().Add(70 * 24 * time.Hour)) // the first part has ended by then
	b.clock.Advance(begin.Sub(b.clock.Now()))
	var wg sync.WaitGroup
	for range 3 { // several cores at once, each of them twice
		other := b.open(t)
		wg.Go(func() {
			for range 2 {
				if err := other.MakePartitions(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.mustMake(t)
	made := b.parts(t, "events")
	for ahead := range 3 {
		day := begin.Add(time.Duration(ahead) * span)
		if _, ok := made[day.Format("20060102")]; !ok {
			t.Errorf("no part from %s on in %v", day, made)
		}
		b.mustInsert(t, id.At(day), id.At(day.Add(span))-1)
	}
	before := len(made)
	b.mustMake(t)
	made = b.parts(t, "events")
	if len(made) != before || made["rest"] != 0 || b.parts(t, "webhook_deliveries")["rest"] != 0 {
		t.Errorf("got %v, %v", made, b.parts(t, "webhook_deliveries"))
	}
	for ahead := range 3 {
		if name := begin.Add(time.Duration(ahead) * span).Format("20060102"); made[name] != 2 {
			t.Errorf("%s has %d rows, want the first and the last of its time", name, made[name])
		}
	}
	b.clock.Advance(span)
	b.mustMake(t)
	if got := b.parts(t, "events"); len(got) != before+1 {
		t.Errorf("a span later: got %v", got)
	}
}

// TestListsCrossParts: pages go on from part to part, in the order of commits, also where the clock was set back over a boundary.
func TestListsCrossParts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.clock.Advance(70 * 24 * time.Hour)
	b.mustMake(t)
	begin, span := postgres.Floor(b.clock.Now())
	edge := id.At(begin.Add(span))
	want := []int64{5, edge - 2, edge, edge + 1, edge - 1, id.At(begin.Add(2 * span)), edge - 3}
	b.mustInsert(t, want...)
	if got := b.mustList(t); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, n := range want {
		if e, err := b.db.Event(t.Context(), tenant, n); err != nil || e.ID != n {
			t.Errorf("event %d: %v, %v", n, e, err)
		}
	}
	before, err := b.db.Events(t.Context(), tenant, payment.EventFilter{}, payment.Page{Limit: 3, Before: edge + 1})
	if err != nil || len(before.Rows) != 3 || before.Rows[0].ID != edge-3 {
		t.Errorf("got %+v, %v", before, err)
	}
	if err := b.insert(t.Context(), edge); !errors.Is(err, store.ErrDuplicate) {
		t.Errorf("the same id again: got %v", err)
	}
}

// TestNoPartForTomorrow: rows that there is no part for are kept and listed, and are in one as soon as a core leads again, while others write.
func TestNoPartForTomorrow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.clock.Advance(200 * 24 * time.Hour)
	var want []int64
	for range 20 {
		b.clock.Advance(time.Hour)
		want = append(want, b.ids.Next())
	}
	b.mustInsert(t, want...)
	if got := b.parts(t, "events"); got["rest"] != 20 || len(got) != 2 {
		t.Fatalf("got %v, want all in the rest", got)
	}
	var wg sync.WaitGroup
	var more []int64
	for range 300 {
		more = append(more, b.ids.Next())
	}
	for i := range 3 {
		wg.Go(func() {
			for _, n := range more[i*100 : (i+1)*100] {
				if err := b.insert(t.Context(), n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for err := b.db.MakePartitions(t.Context()); err != nil; err = b.db.MakePartitions(t.Context()) {
		if !errors.Is(err, store.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	wg.Wait()
	b.mustMake(t)
	got := b.mustList(t)
	slices.Sort(got)
	if want = append(want, more...); !slices.Equal(got, want) {
		t.Errorf("got %d events, want %d", len(got), len(want))
	}
	for _, table := range []string{"events", "webhook_deliveries"} {
		if got := b.parts(t, table); got["rest"] != 0 || len(got) != 4 {
			t.Errorf("%s: got %v", table, got)
		}
	}
}

// TestDropBesideReaders: a part that somebody reads stays, who writes meanwhile hardly waits, and later it goes.
func TestDropBesideReaders(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mustInsert(t, b.ids.Next(), b.ids.Next())
	old := b.ids.Next()
	b.clock.Advance(90 * 24 * time.Hour)
	b.mustMake(t)
	b.mustInsert(t, b.ids.Next())
	reader, err := mustDial(t, b.url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := reader.QueryRow(t.Context(), "SELECT COUNT(*) FROM events").Scan(&n); err != nil || n != 3 {
		t.Fatal(n, err)
	}
	never, keep := 365*24*time.Hour, -85*24*time.Hour // the second: as if so much time had passed on the server, whose clock counts
	if _, err := b.db.PurgeEvents(t.Context(), b.clock.Now().Add(never), 300*24*time.Hour); err != nil || b.parts(t, "events")["first"] != 2 {
		t.Errorf("by a clock that is a year ahead: got %v, %v", b.parts(t, "events"), err)
	}
	if _, err := b.db.PurgeEvents(t.Context(), b.clock.Now(), keep); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("while it is read: got %v", err)
	}
	b.mustInsert(t, b.ids.Next())
	if err := reader.QueryRow(t.Context(), "SELECT COUNT(*) FROM events WHERE id < $1", old).Scan(&n); err != nil || n != 2 {
		t.Errorf("the reader sees %d, %v", n, err)
	}
	if err := reader.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.db.DropDeliveries(t.Context(), b.clock.Now(), keep); err != nil {
		t.Error(err)
	}
	if _, err := b.raw.Exec(t.Context(), "ANALYZE events_first"); err != nil {
		t.Fatal(err)
	}
	purged, err := b.db.PurgeEvents(t.Context(), b.clock.Now(), keep)
	if err != nil || purged != 2 {
		t.Errorf("got %d, %v", purged, err)
	}
	if got := b.parts(t, "events"); len(b.mustList(t)) != 2 || len(got) == 0 {
		t.Errorf("got %v of %v", b.mustList(t), got)
	}
	b.mustInsert(t, 7) // of a time whose part is gone
	if got := b.parts(t, "events"); got["rest"] != 1 {
		t.Errorf("got %v", got)
	}
}

// TestPartPlans: what asks by id looks at one part, lists walk an index of each, and nothing sorts or reads a table.
func TestPartPlans(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.clock.Advance(100 * 24 * time.Hour)
	b.mustMake(t)
	for _, text := range []string{"SET plan_cache_mode = force_generic_plan", "SET enable_seqscan = off"} {
		if _, err := b.raw.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		query string
		args  string
		most  int // parts that are looked at
		never []string
	}{
		"event by id":          {"SELECT type FROM events WHERE id = $1 AND merchant_id = $1 AND live = $1", "5", 1, []string{"Seq Scan"}},
		"newest events":        {"SELECT id FROM events WHERE merchant_id = $1 AND live = 0 AND position < $1 ORDER BY position DESC, id DESC LIMIT 21", "5", 9, []string{"Seq Scan", "->  Sort"}},
		"position of an event": {"SELECT position FROM events WHERE id <= $1 ORDER BY id DESC LIMIT 1", "5", 1, []string{"Seq Scan", "->  Sort"}},
		"delivery":             {"UPDATE webhook_deliveries SET leased = 0 WHERE id = $1 AND attempts = 1", "5", 1, []string{"Seq Scan"}},
		"deliveries of one":    {"SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 AND position < $1 ORDER BY position DESC, id DESC LIMIT 21", "5", 9, []string{"Seq Scan", "->  Sort"}},
		"next pending":         {"SELECT MIN(endpoint_id) FROM webhook_deliveries WHERE status = 'pending' AND endpoint_id > $1", "5", 99, []string{"Seq Scan", "->  Sort"}},
	} {
		plan := b.explain(t, c.query, c.args)
		looked := strings.Count(plan, "Scan") - strings.Count(plan, "never executed")
		if looked > c.most {
			t.Errorf("%s: looks at %d parts, want %d:\n%s", name, looked, c.most, plan)
		}
		for _, bad := range c.never {
			if strings.Contains(plan, bad) {
				t.Errorf("%s: %s in\n%s", name, bad, plan)
			}
		}
	}
}

// explain runs a statement as one that is prepared, and tells how.
func (b *bundle) explain(t *testing.T, query, args string) string {
	t.Helper()
	return b.explainWith(t, "PREPARE asked (bigint) AS "+query, args)
}

// explainWith is explain for a statement that prepares asked.
func (b *bundle) explainWith(t *testing.T, prepare, args string) string {
	t.Helper()
	for _, text := range []string{"DEALLOCATE ALL", prepare} {
		if _, err := b.raw.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := b.raw.Query(t.Context(), fmt.Sprintf("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE asked (%s)", args), pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
