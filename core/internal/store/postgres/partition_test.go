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

// bundle is a store on a server, with a fake clock.
type bundle struct {
	db    *store.DB
	clock *clock.Fake
	ids   *id.Generator
	url   string
	raw   *pgx.Conn // a connection without the store
}

// setup opens a new store. Its clock is in the span of the first partition.
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

// mustOpen opens another store on the server of b, with parameters in its URL.
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

// mustList lists all events, oldest first, in pages of two. It tries again while a transaction
// elsewhere on the server holds the low-water mark back.
func (b *bundle) mustList(t *testing.T) (ids []int64) {
	t.Helper()
	for range 100 {
		if ids = b.list(t); len(ids) == number[int](t, b, "SELECT COUNT(*) FROM events") {
			return ids
		}
	}
	t.Fatalf("the list has %d events, and the table has more", len(ids))
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

// number runs a query and returns its single value.
func number[T any](t *testing.T, b *bundle, query string, args ...any) (n T) {
	t.Helper()
	if err := b.raw.QueryRow(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// partitions returns the number of rows of each partition of a table. The keys are the names
// without the name of the table.
func (b *bundle) partitions(t *testing.T, table string) map[string]int {
	t.Helper()
	const text = `SELECT string_agg(inhrelid::regclass::text, ' ') FROM pg_inherits WHERE inhparent = to_regclass($1)`
	out := map[string]int{}
	for _, name := range strings.Fields(number[string](t, b, text, table)) {
		out[strings.TrimPrefix(name, table+"_")] = number[int](t, b, "SELECT COUNT(*) FROM "+name)
	}
	return out
}

func TestPartitionsAreCreatedAhead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	begin, span := postgres.Floor(b.clock.Now().Add(70 * 24 * time.Hour)) // after the span of the first partition
	b.clock.Advance(begin.Sub(b.clock.Now()))
	var wg sync.WaitGroup
	for range 3 { // several cores at the same time, each of them twice
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
	made := b.partitions(t, "events")
	for ahead := range 3 {
		day := begin.Add(time.Duration(ahead) * span)
		if _, ok := made[day.Format("20060102")]; !ok {
			t.Errorf("no partition begins at %s: got %v", day, made)
		}
		b.mustInsert(t, id.At(day), id.At(day.Add(span))-1)
	}
	before := len(made)
	b.mustMake(t)
	made = b.partitions(t, "events")
	deliveries := b.partitions(t, "webhook_deliveries")
	if len(made) != before || made["rest"] != 0 || deliveries["rest"] != 0 {
		t.Errorf("got %v, %v", made, deliveries)
	}
	for ahead := range 3 {
		if name := begin.Add(time.Duration(ahead) * span).Format("20060102"); made[name] != 2 {
			t.Errorf("%s has %d rows, want the first and the last of its span", name, made[name])
		}
	}
	b.clock.Advance(span)
	b.mustMake(t)
	if got := b.partitions(t, "events"); len(got) != before+1 {
		t.Errorf("a span later: got %v", got)
	}
}

// TestListsCrossPartitions: pages continue from partition to partition, in the order of commits,
// also if the clock was set back across a boundary.
func TestListsCrossPartitions(t *testing.T) {
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
		t.Errorf("the same id again: got %v, want %v", err, store.ErrDuplicate)
	}
}

// TestRowsWithoutAPartition: rows that no partition covers go to the default partition, and lists
// have them. They are in a regular partition once a core leads again, while other cores write.
func TestRowsWithoutAPartition(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.clock.Advance(200 * 24 * time.Hour)
	var want []int64
	for range 20 {
		b.clock.Advance(time.Hour)
		want = append(want, b.ids.Next())
	}
	b.mustInsert(t, want...)
	if got := b.partitions(t, "events"); got["rest"] != 20 || len(got) != 2 {
		t.Fatalf("got %v, want all rows in the default partition", got)
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
		if got := b.partitions(t, table); got["rest"] != 0 || len(got) != 4 {
			t.Errorf("%s: got %v", table, got)
		}
	}
}

// TestDropWhileAPartitionIsRead: a partition that a transaction reads is not dropped. Commands
// write meanwhile. It is dropped once the transaction has ended.
func TestDropWhileAPartitionIsRead(t *testing.T) {
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
	_, err = b.db.PurgeEvents(t.Context(), b.clock.Now().Add(365*24*time.Hour), 300*24*time.Hour)
	if got := b.partitions(t, "events"); err != nil || got["first"] != 2 {
		t.Errorf("by a clock that is a year ahead: got %v, %v", got, err)
	}
	const keep = -85 * 24 * time.Hour // as if that time had passed on the server, whose clock counts
	if _, err := b.db.PurgeEvents(t.Context(), b.clock.Now(), keep); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("while it is read: got %v, want %v", err, store.ErrUnavailable)
	}
	b.mustInsert(t, b.ids.Next())
	err = reader.QueryRow(t.Context(), "SELECT COUNT(*) FROM events WHERE id < $1", old).Scan(&n)
	if err != nil || n != 2 {
		t.Errorf("the reader: got %d rows, %v, want 2", n, err)
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
	if got := b.partitions(t, "events"); len(b.mustList(t)) != 2 || len(got) == 0 {
		t.Errorf("got %v of %v", b.mustList(t), got)
	}
	b.mustInsert(t, 7) // an id of the dropped partition
	if got := b.partitions(t, "events"); got["rest"] != 1 {
		t.Errorf("got %v", got)
	}
}

// TestPartitionPlans: a statement by id reads one partition. Lists read an index of each partition,
// in order. No statement sorts or scans a table.
func TestPartitionPlans(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.clock.Advance(100 * 24 * time.Hour)
	b.mustMake(t)
	for _, text := range []string{"SET plan_cache_mode = force_generic_plan", "SET enable_seqscan = off"} {
		if _, err := b.raw.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	scan, scanOrSort := []string{"Seq Scan"}, []string{"Seq Scan", "->  Sort"}
	for name, c := range map[string]struct {
		query string
		most  int // partitions that are read
		never []string
	}{
		"event by id": {"SELECT type FROM events WHERE id = $1 AND merchant_id = $1 AND live = $1", 1, scan},
		"newest events": {`SELECT id FROM events WHERE merchant_id = $1 AND live = 0 AND position < $1
			ORDER BY position DESC, id DESC LIMIT 21`, 9, scanOrSort},
		"position of an event": {"SELECT position FROM events WHERE id <= $1 ORDER BY id DESC LIMIT 1", 1, scanOrSort},
		"delivery":             {"UPDATE webhook_deliveries SET leased = 0 WHERE id = $1 AND attempts = 1", 1, scan},
		"deliveries of one": {`SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 AND position < $1
			ORDER BY position DESC, id DESC LIMIT 21`, 9, scanOrSort},
		"next pending": {`SELECT MIN(endpoint_id) FROM webhook_deliveries
			WHERE status = 'pending' AND endpoint_id > $1`, 99, scanOrSort},
	} {
		plan := b.explain(t, c.query)
		reads := strings.Count(plan, "Scan") - strings.Count(plan, "never executed")
		if reads > c.most {
			t.Errorf("%s: reads %d partitions, want at most %d:\n%s", name, reads, c.most, plan)
		}
		for _, bad := range c.never {
			if strings.Contains(plan, bad) {
				t.Errorf("%s: %s in\n%s", name, bad, plan)
			}
		}
	}
}

// explain runs a query with the argument 5 as a prepared statement, and returns its plan.
func (b *bundle) explain(t *testing.T, query string) string {
	t.Helper()
	return b.explainWith(t, "PREPARE query (bigint) AS "+query, "5")
}

// explainWith is explain for a PREPARE of the name query.
func (b *bundle) explainWith(t *testing.T, prepare, args string) string {
	t.Helper()
	run := func(text string) {
		t.Helper()
		if _, err := b.raw.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	run("DEALLOCATE ALL")
	run(prepare)
	run("BEGIN") // EXPLAIN runs the statement
	defer run("ROLLBACK")
	execute := fmt.Sprintf("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE query (%s)", args)
	rows, err := b.raw.Query(t.Context(), execute, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
