package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// mustReach opens a store on a server as a role.
func mustReach(t *testing.T, server *pgtest.Server, role string) *store.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), server.URL(url.Values{
		"user": {role}, "patience": {"30s"}, "idle_in_transaction_session_timeout": {"120000"},
	}), clock.System())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // the test has read all rows
	return db
}

// mustWrite runs a command that writes a row, and calls during once the command has a transaction.
func mustWrite(t *testing.T, db *store.DB, row int64, during func()) {
	t.Helper()
	err := db.Update(context.WithoutCancel(t.Context()), func(tx *store.Tx) error {
		defer during()
		_, err := tx.AdvanceTestClock(row, 1) // any write
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// mustForeign runs a statement on a connection of another program.
func mustForeign(t *testing.T, on interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
}, text string,
) {
	t.Helper()
	if _, err := on.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// TestLowWaterMarkPostgreSQL: the oldest running command of any process holds the mark back, also
// if later commands end. A transaction of another program does not. The reader needs no privilege
// to see other sessions.
func TestLowWaterMarkPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	one := mustReach(t, server, "postgres")
	foreign, err := sql.Open("pgx", server.URL(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close() //nolint:errcheck // the test needs none of its writes
	mustForeign(t, foreign, "CREATE ROLE looker LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO looker")
	other := mustReach(t, server, "looker")
	mark := func(when string, held bool) (oldest, next int64) {
		t.Helper()
		oldest, next, err := other.LowWaterMark(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if (oldest < next) != held {
			t.Errorf("%s: the mark is %d, the next position %d", when, oldest, next)
		}
		return oldest, next
	}
	pass := func() { // a transaction of another program begins and ends
		t.Helper()
		mustForeign(t, foreign, "SELECT pg_current_xact_id()")
	}
	_, before := mark("without a command", false)
	open, err := foreign.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Rollback() }() // as above
	mustForeign(t, open, "SELECT pg_current_xact_id()")
	pass()
	if _, next := mark("another program's is open", false); next < before+2 {
		t.Errorf("the next position stays %d", next)
	}
	entered, free := make(chan struct{}), make(chan struct{})
	var slow sync.WaitGroup
	slow.Go(func() { mustWrite(t, one, 1, func() { close(entered); <-free }) })
	<-entered
	pass()
	first, _ := mark("a command runs", true)
	pass()
	if oldest, next := mark("it runs still", true); oldest != first || next < first+3 {
		t.Errorf("the mark moved from %d to %d, the next position is %d", first, oldest, next)
	}
	mustWrite(t, one, 2, func() {}) // a fence that gave up stops no command
	close(free)
	slow.Wait()
	mark("it has ended", false)
}

// TestWritersOfTheOtherLockPostgreSQL: while a fence has the first lock of writers, a command
// shares the second one immediately. It holds the mark back, too.
func TestWritersOfTheOtherLockPostgreSQL(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fence, err := mustDial(t, b.url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fence.Exec(t.Context(), "SELECT pg_advisory_xact_lock("+postgres.WritersA+")"); err != nil {
		t.Fatal(err)
	}
	entered, free := make(chan struct{}), make(chan struct{})
	var slow sync.WaitGroup
	slow.Go(func() { mustWrite(t, b.db, 1, func() { close(entered); <-free }) })
	<-entered
	if err := fence.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, b.db, 2, func() {}) // by the first lock
	if oldest, next, err := b.db.LowWaterMark(t.Context()); err != nil || oldest >= next {
		t.Errorf("while a command runs: the mark is %d, the next position %d, %v", oldest, next, err)
	}
	close(free)
	slow.Wait()
	if oldest, next, err := b.db.LowWaterMark(t.Context()); err != nil || oldest < next {
		t.Errorf("after it: the mark is %d, the next position %d, %v", oldest, next, err)
	}
}

// TestPagesDuringASlowCommandPostgreSQL: the first page waits pagePatience for a slow command. The
// next pages do not wait one after the other. Each has the rows that are written meanwhile.
func TestPagesDuringASlowCommandPostgreSQL(t *testing.T) {
	t.Parallel()
	b := setup(t)
	db := b.mustOpen(t, "&patience=30s&idle_in_transaction_session_timeout=120000")
	entered, free := make(chan struct{}), make(chan struct{})
	var slow sync.WaitGroup
	slow.Go(func() { mustWrite(t, db, 1, func() { close(entered); <-free }) })
	<-entered
	const pages = 8
	begun := clock.Monotonic()
	for n := range pages {
		b.mustInsert(t, b.ids.Next())
		list, err := db.Events(t.Context(), tenant, payment.EventFilter{}, payment.Page{Limit: 2 * pages})
		if err != nil || len(list.Rows) != n+1 {
			t.Errorf("page %d: got %d rows, %v", n, len(list.Rows), err)
		}
	}
	if took := clock.Monotonic() - begun; took > pages*postgres.PagePatience {
		t.Errorf("%d pages: took %s, want less than %s", pages, took, pages*postgres.PagePatience)
	}
	close(free)
	slow.Wait()
}

// TestListPlansPostgreSQL: each list that can be long reads an index in order, in both directions.
// No list sorts.
func TestListPlansPostgreSQL(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, text := range []string{
		"SET plan_cache_mode = force_generic_plan", "SET enable_seqscan = off", "SET enable_bitmapscan = off",
	} {
		if _, err := b.raw.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	const page, filter = ", 5, 21, 9", "1, 0, 1, 9, 1, 9, '', '', -1, '', '', '', '{\"k\": \"v\"}', ''"
	for name, args := range map[string]string{
		"listMerchants":                    "5, 21, 9",
		"listTransactions":                 "1, 0" + page,
		"listFilteredTransactions":         filter + page,
		"listNamedTransactions":            filter + ", 2, 'mine'" + page,
		"listCaptures":                     "1, 0" + page,
		"listFilteredCaptures":             "1, 0, '{}', ''" + page,
		"listCapturesOfDay":                "1, 0, '{}', '', 5" + page,
		"listRefundsOfDay":                 "1, 0, '{}', '', 5, ''" + page,
		"listRefundsOfCustomer":            "1, 0, '{}', '', 'mine'" + page,
		"listRefunds":                      "1, 0" + page,
		"listFilteredRefunds":              "1, 0, '{}', ''" + page,
		"listCustomers":                    "1, 0" + page,
		"listCustomersByMetadata":          "1, 0, '{}'" + page,
		"listCustomersByReference":         "1, 0, 'mine', '{}'" + page,
		"listCustomersByEmail":             "1, 0, 'mine', '{}'" + page,
		"listCustomersByReferenceAndEmail": "1, 0, 'mine', 'mine', '{}'" + page,
		"listEvents":                       "1, 0, 1, 1, 9, 1, 9, '', 0, 1, ''" + page,
		"listDeliveries":                   "1" + page,
	} {
		for _, direction := range []string{"", "Before"} {
			text, err := postgres.TextOf(name + direction)
			if err != nil {
				t.Fatal(err)
			}
			plan := b.explainWith(t, "PREPARE query AS "+text, args)
			for _, never := range []string{"->  Sort", "Incremental Sort", "Seq Scan"} {
				if strings.Contains(plan, never) {
					t.Errorf("%s%s: %s in\n%s", name, direction, never, plan)
				}
			}
		}
	}
}

// TestPlansOfTestHelpersPostgreSQL: the reads of a tenant for its test clock and settlement runs
// seek in an index by the tenant. None sorts.
func TestPlansOfTestHelpersPostgreSQL(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, text := range []string{
		"SET plan_cache_mode = force_generic_plan", "SET enable_seqscan = off", "SET enable_bitmapscan = off",
	} {
		if _, err := b.raw.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ args, want string }{
		"selectLapsed":      {"7, 0, 9, 1, 1, 2", "transactions_expiring"},
		"selectUnconfirmed": {"7, 0, 9, 1, 1, 2", "transactions_waiting"},
		"selectSettleable":  {"7, 0, 2", "captures_unsettled"},
		"selectDaysOf":      {"7", "merchants_pkey"},
	} {
		text, err := postgres.TextOf(name)
		if err != nil {
			t.Fatal(err)
		}
		plan := b.explainWith(t, "PREPARE query AS "+text, c.args)
		for _, never := range []string{"Sort", "Seq Scan on transactions", "Seq Scan on captures", "Seq Scan on merchants"} {
			if strings.Contains(plan, never) {
				t.Errorf("%s: %s in\n%s", name, never, plan)
			}
		}
		if seek := c.want + ` on .*\n +Index Cond: \(\(?(merchant_id|id) = `; !regexp.MustCompile(seek).MatchString(plan) {
			t.Errorf("%s: got\n%s\nwant it to seek in %s", name, plan, c.want)
		}
	}
}

// TestPlansOfTurnsPostgreSQL: the lists of the tenants with due rows, and of a tenant's deleted
// customers, seek in an index by the tenant.
func TestPlansOfTurnsPostgreSQL(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, text := range []string{
		"SET plan_cache_mode = force_generic_plan", "SET enable_seqscan = off", "SET enable_bitmapscan = off",
	} {
		if _, err := b.raw.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		args, want string
		seeks      int
	}{
		"selectExpiring":                 {"9, 9", "transactions_(expiring|waiting)", 3},
		"selectErasing":                  {"9, 9", "customer_erasures_due", 2},
		"selectErasingByEvents":          {"9, 9", "customer_erasures_events_due", 2},
		"selectDeletedCustomers":         {"7, 0, 9, 1, 1, 2", "customer_erasures_due", 1},
		"selectDeletedCustomersByEvents": {"7, 0, 9, 1, 1, 2", "customer_erasures_events_due", 1},
	} {
		text, err := postgres.TextOf(name)
		if err != nil {
			t.Fatal(err)
		}
		plan := b.explainWith(t, "PREPARE query AS "+text, c.args)
		seek := regexp.MustCompile(c.want + ` on .*\n +Index Cond: \(\(merchant_id = `)
		if got := len(seek.FindAllString(plan, -1)); got != c.seeks {
			t.Errorf("%s: got %d seeks of %d in\n%s", name, got, c.seeks, plan)
		}
		for _, never := range []string{"Seq Scan on transactions", "Seq Scan on customer_erasures"} {
			if strings.Contains(plan, never) {
				t.Errorf("%s: %s in\n%s", name, never, plan)
			}
		}
	}
}

// TestBatchesHoldTheMarkPostgreSQL: a batch of intents or outcome records that waits for a row
// holds the mark back.
func TestBatchesHoldTheMarkPostgreSQL(t *testing.T) {
	t.Parallel()
	b := setup(t)
	db := b.mustOpen(t, "&patience=30s&lock_timeout=60000&pool_max_conns=6")
	b.mustInsert(t, b.ids.Next())
	err := db.Update(t.Context(), func(tx *store.Tx) error { // reads the endpoints of the tenant
		return tx.InsertEvent(&payment.Event{ID: b.ids.Next(), Tenant: tenant, Type: "customer.created", Data: []byte("{}")})
	})
	if err != nil {
		t.Fatal(err)
	}
	paid := &payment.Transaction{
		ID: b.ids.Next(), Tenant: tenant, Status: payment.Processing, Amount: 100, Currency: "usd",
		Details: []byte("{}"), CreatedAt: b.clock.Now(), UpdatedAt: b.clock.Now(),
	}
	const key = `INSERT INTO idempotency_keys (merchant_id, live, key, fingerprint, created_at, expires_at)
		VALUES (%d, 0, 'taken', '', 1, 1)`
	b.heldBack(t, db, fmt.Sprintf(key, tenant.Merchant), func() error {
		claim, err := db.BeginPayment(t.Context(), &store.Intent{Transaction: paid, Key: "taken", Fingerprint: []byte("f")})
		if err == nil && !claim.Held {
			err = errors.New("the key is taken")
		}
		return err
	})
	declined := *paid
	declined.Status, declined.Version = payment.Declined, 1
	b.heldBack(t, db, "SELECT id FROM transactions FOR UPDATE", func() error {
		return db.FinishPayment(t.Context(), &store.OutcomeRecord{
			Transaction: &declined, Event: payment.Event{
				ID: b.ids.Next(), Tenant: tenant, Type: "transaction.declined", Object: paid.ID, Sequence: 1, Data: []byte("{}"),
			},
		})
	})
}

// heldBack runs a batch that waits for a row which another program has locked.
func (b *bundle) heldBack(t *testing.T, db *store.DB, lock string, batch func() error) {
	t.Helper()
	other, err := mustDial(t, b.url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(t.Context(), lock); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := batch(); err != nil {
			t.Errorf("the batch: %v", err)
		}
	})
	programtest.WaitFor(t, "the batch waits", func() bool {
		var waiting int
		err := b.raw.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_locks l
			JOIN pg_database d ON d.datname = current_database()
			JOIN pg_stat_activity a ON a.pid = l.pid AND a.datid = d.oid WHERE NOT granted`).Scan(&waiting)
		return err == nil && waiting > 0
	})
	mustWrite(t, b.db, b.ids.Next(), func() {})
	if oldest, next, err := db.LowWaterMark(t.Context()); err != nil || oldest >= next {
		t.Errorf("while the batch waits: the mark is %d, the next position %d, %v", oldest, next, err)
	}
	if err := other.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	running.Wait()
}
