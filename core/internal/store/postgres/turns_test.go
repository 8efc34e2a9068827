package postgres_test

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// stuckCores are two cores whose commands wait for one row.
type stuckCores struct {
	source string
	cores  [2]*store.DB
	ended  sync.WaitGroup
}

// openStuckCores opens two cores whose commands wait for two minutes. There is a test clock.
func openStuckCores(t *testing.T) *stuckCores {
	t.Helper()
	s := &stuckCores{source: pgtest.Schema(t)}
	if err := postgres.Migrate(t.Context(), secret.New(s.source)); err != nil {
		t.Fatal(err)
	}
	for i := range s.cores {
		options := "&patience=120s&idle_in_transaction_session_timeout=240000&lock_timeout=240000"
		db, err := postgres.Open(t.Context(), s.source+options, clock.System())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() }) // the test has checked all results
		s.cores[i] = db
	}
	mustWrite(t, s.cores[0], 1, func() {})
	return s
}

// mustHoldClocks locks the rows of all test clocks. The caller rolls that back.
func mustHoldClocks(t *testing.T, source string) pgx.Tx {
	t.Helper()
	held, err := mustDial(t, source).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(t.Context(), "SELECT FROM test_clocks FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	return held
}

// begin sends a number of commands of a tenant to each core. All of them change one row.
func (s *stuckCores) begin(t *testing.T, merchant int64, commands int) {
	t.Helper()
	for _, db := range s.cores {
		waiting := db.Waiting()
		for range commands {
			s.ended.Go(func() {
				err := db.UpdateOf(context.WithoutCancel(t.Context()), store.Caller{Tenant: payment.Tenant{Merchant: merchant}},
					func(tx *store.Tx) error { _, err := tx.AdvanceTestClock(1, 1); return err })
				if err != nil {
					t.Error(err)
				}
			})
		}
		programtest.WaitFor(t, "the commands run or wait", func() bool { return db.Waiting() == waiting+commands })
	}
}

// wantInUse waits until the commands of each core hold want connections. They must not hold more: a
// command gets its turn before it takes a connection.
func (s *stuckCores) wantInUse(t *testing.T, want int) {
	t.Helper()
	for _, db := range s.cores {
		programtest.WaitFor(t, "the commands hold their connections", func() bool { return inUse(db, "write") >= want })
		if got := inUse(db, "write"); got != want {
			t.Fatalf("connections in use: got %d, want %d", got, want)
		}
	}
}

func inUse(db *store.DB, pool string) int {
	for _, p := range db.Stats().Pools {
		if p.Name == pool {
			return p.InUse
		}
	}
	return -1
}

// wantOthersServed checks that another tenant and the process itself change rows at each core.
func (s *stuckCores) wantOthersServed(t *testing.T, other int64) {
	t.Helper()
	for _, db := range s.cores {
		for _, write := range []func(func(*store.Tx) error) error{
			func(fn func(*store.Tx) error) error {
				return db.UpdateOf(t.Context(), store.Caller{Tenant: payment.Tenant{Merchant: other}}, fn)
			},
			func(fn func(*store.Tx) error) error { return db.Update(t.Context(), fn) },
		} {
			err := write(func(tx *store.Tx) error { _, err := tx.AdvanceTestClock(other, 1); return err })
			if err != nil {
				t.Errorf("a command of another tenant: %v", err)
			}
		}
	}
}

// TestOneRowPostgreSQL: a merchant sends many commands for one row to two cores. They hold three
// quarters of the connections. The rest is for other merchants, also for merchants that do the
// same. If commands hold all connections, also the connections of background work, each core still
// has heartbeats.
func TestOneRowPostgreSQL(t *testing.T) {
	t.Parallel()
	s := openStuckCores(t)
	held := mustHoldClocks(t, s.source)
	defer s.ended.Wait()
	defer func() { _ = held.Rollback(t.Context()) }() // if the test failed before
	s.begin(t, 1, stuckCommands)
	s.wantInUse(t, 12)
	s.wantOthersServed(t, 2)
	for other := range int64(3) {
		s.begin(t, 11+other, stuckCommands)
	}
	s.wantInUse(t, 15)
	s.wantOthersServed(t, 3)
	s.begin(t, 14, 1)
	s.wantInUse(t, 16)
	s.wantHeartbeats(t)
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// wantHeartbeats checks that each core has heartbeats while background work waits for the row, too.
func (s *stuckCores) wantHeartbeats(t *testing.T) {
	t.Helper()
	for i, db := range s.cores {
		background := store.InBackground(context.WithoutCancel(t.Context()))
		for range stuckCommands {
			s.ended.Go(func() {
				err := db.Update(background, func(tx *store.Tx) error { _, err := tx.AdvanceTestClock(1, 1); return err })
				if err != nil {
					t.Error(err)
				}
			})
		}
		programtest.WaitFor(t, "background work holds its connections", func() bool {
			return inUse(db, "background_write") == 4
		})
		leads, _, err := db.Heartbeat(background, int64(7+i), time.Hour, func(time.Time) bool { return true })
		if err != nil || leads != (i == 0) {
			t.Errorf("a heartbeat of core %d: leads %t, %v", i, leads, err)
		}
	}
}

// TestTurnsOfAnOutagePostgreSQL: the server stops responding. A merchant sends more commands than
// it has turns. The error of each names the store as the reason, and not the merchant.
func TestTurnsOfAnOutagePostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	db, err := postgres.Open(t.Context(), server.URL(nil), clock.System())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // the test has checked all results
	mustWrite(t, db, 1, func() {})
	server.Pause()
	defer server.Resume()
	errs := make(chan error)
	for range 3 * 16 {
		go func() {
			errs <- db.UpdateOf(context.WithoutCancel(t.Context()), store.Caller{Tenant: payment.Tenant{Merchant: 1}},
				func(tx *store.Tx) error { _, err := tx.AdvanceTestClock(1, 1); return err })
		}()
	}
	for range 3 * 16 {
		if err := <-errs; !errors.Is(err, store.ErrUnavailable) || errors.Is(err, payment.ErrTooManyChanges) {
			t.Errorf("got %v, want %v", err, store.ErrUnavailable)
		}
	}
}

// TestTurnsWithoutAStandbyPostgreSQL: no commit ends, because the standby is gone. Commands of
// another merchant are rolled back meanwhile. A command without a turn still names the store.
func TestTurnsWithoutAStandbyPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	db, err := postgres.Open(t.Context(), server.URL(nil), clock.System())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // the test has checked all results
	mustWrite(t, db, 1, func() {})
	server.Standby(t, "none")
	defer server.Standby(t, "")
	var ended atomic.Bool
	var other sync.WaitGroup
	other.Go(func() {
		for !ended.Load() {
			_ = db.UpdateOf(t.Context(), store.Caller{Tenant: payment.Tenant{Merchant: 2}}, // its errors are not of interest
				func(*store.Tx) error { return payment.ErrNotFound })
		}
	})
	errs := make(chan error)
	const commands = 3 * 16
	for i := range commands {
		go func() {
			errs <- db.UpdateOf(context.WithoutCancel(t.Context()), store.Caller{Tenant: payment.Tenant{Merchant: 1}},
				func(tx *store.Tx) error { _, err := tx.AdvanceTestClock(100+int64(i), 1); return err })
		}()
	}
	for range commands {
		if err := <-errs; !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("got %v, want %v", err, store.ErrUnavailable)
		}
	}
	ended.Store(true)
	other.Wait()
}

// TestTurnsBehindOneRowPostgreSQL: more commands of a merchant wait for one row than there are
// turns. The commands of another merchant are committed, so the server is not the reason.
func TestTurnsBehindOneRowPostgreSQL(t *testing.T) {
	t.Parallel()
	source := pgtest.Schema(t)
	db, err := postgres.Open(t.Context(), source+"&patience=12s&lock_timeout=240000", clock.System())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // the test has checked all results
	mustWrite(t, db, 1, func() {})
	held := mustHoldClocks(t, source)
	advance := func(merchant int64) error {
		return db.UpdateOf(context.WithoutCancel(t.Context()), store.Caller{Tenant: payment.Tenant{Merchant: merchant}},
			func(tx *store.Tx) error { _, err := tx.AdvanceTestClock(merchant, 1); return err })
	}
	const commands = 24
	errs := make(chan error, commands)
	var all sync.WaitGroup
	for range commands {
		all.Go(func() { errs <- advance(1) })
	}
	ended, refused := 0, false
	for ended < commands && !refused {
		if err := advance(2); err != nil {
			t.Error(err)
		}
		select {
		case err := <-errs:
			ended++
			refused = errors.Is(err, payment.ErrTooManyChanges)
		default:
		}
	}
	if err := held.Rollback(t.Context()); err != nil || !refused {
		t.Errorf("a command that was too many: got %t, %v; want one", refused, err)
	}
	all.Wait()
}

// TestEndOfAStepDuringStuckCommandsPostgreSQL: the commands of a merchant wait for one row and have
// all turns that the merchant can have. The end of a step of another payment is written meanwhile.
func TestEndOfAStepDuringStuckCommandsPostgreSQL(t *testing.T) {
	t.Parallel()
	s := openStuckCores(t)
	held := mustHoldClocks(t, s.source)
	defer s.ended.Wait()
	defer func() { _ = held.Rollback(t.Context()) }()
	s.begin(t, 1, stuckCommands)
	s.wantInUse(t, 12)
	for _, db := range s.cores {
		err := db.Finish(t.Context(), payment.Tenant{Merchant: 1}, func(tx *store.Tx) error {
			_, err := tx.AdvanceTestClock(2, 1)
			return err
		})
		if err != nil {
			t.Errorf("the end of a step: %v", err)
		}
	}
}

// TestConfirmationsShareACommitPostgreSQL: many reads of stored responses wait for a commit that
// the standby confirms. They hold one connection, so the commands of others have theirs.
func TestConfirmationsShareACommitPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	db, err := postgres.Open(t.Context(), server.URL(url.Values{"patience": {"120s"}}), clock.System())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // the test has checked all results
	of := payment.Tenant{Merchant: 1, Live: true}
	const stored = `INSERT INTO idempotency_keys
		(merchant_id, live, key, fingerprint, status, body, created_at, expires_at) VALUES (1, 1, 'k', '', 201, '{}', 0, 1)`
	if _, err := mustDial(t, server.URL(nil)).Exec(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	server.Standby(t, "nobody")
	var reads sync.WaitGroup
	var begun atomic.Int64
	for range 32 {
		reads.Go(func() {
			begun.Add(1)
			if _, err := db.IdempotencyKey(t.Context(), of, "k"); err != nil {
				t.Error(err)
			}
		})
	}
	programtest.WaitFor(t, "the reads wait for the standby", func() bool {
		return begun.Load() == 32 && inUse(db, "read") == 0 && inUse(db, "write") > 0
	})
	if got := inUse(db, "write"); got != 1 {
		t.Errorf("connections in use: got %d, want 1", got)
	}
	server.Standby(t, "")
	reads.Wait()
}

// openStuckReads opens a core whose connections for reads by id wait for a lock until the test
// ends.
func openStuckReads(t *testing.T) *store.DB {
	t.Helper()
	source := pgtest.Schema(t)
	db, err := postgres.Open(t.Context(), source+"&patience=120s&lock_timeout=240000", clock.System())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // the test has checked all results
	held, err := mustDial(t, source).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(t.Context(), "LOCK TABLE refunds IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	var reads sync.WaitGroup
	t.Cleanup(reads.Wait)
	t.Cleanup(func() { _ = held.Rollback(context.WithoutCancel(t.Context())) })
	for merchant := range int64(8) {
		reads.Go(func() {
			_, _ = db.Refund(context.WithoutCancel(t.Context()), payment.Tenant{Merchant: 1 + merchant}, 1) // there is none
		})
	}
	programtest.WaitFor(t, "reads hold all connections", func() bool { return inUse(db, "read") == 4 })
	return db
}

// TestHeartbeatDuringStuckReadsPostgreSQL: heartbeats continue while reads of clients wait for a
// lock.
func TestHeartbeatDuringStuckReadsPostgreSQL(t *testing.T) {
	t.Parallel()
	db := openStuckReads(t)
	ctx, end := context.WithTimeout(store.InBackground(t.Context()), time.Minute)
	defer end()
	if _, _, err := db.Heartbeat(ctx, 7, time.Hour, func(time.Time) bool { return true }); err != nil {
		t.Error(err)
	}
}

// TestEssentialReadsDuringStuckReadsPostgreSQL: reads by id hold all their connections. API keys,
// operator tokens and health are read meanwhile.
func TestEssentialReadsDuringStuckReadsPostgreSQL(t *testing.T) {
	t.Parallel()
	db := openStuckReads(t)
	_, byHash := db.KeyByHash(t.Context(), nil, netip.Prefix{}, []byte("hash"))
	_, byID := db.KeyByID(t.Context(), payment.Tenant{}, 1)
	_, operator := db.Operator(t.Context(), 1)
	for _, err := range []error{byHash, byID, operator} {
		if !errors.Is(err, payment.ErrNotFound) {
			t.Errorf("got %v, want %v", err, payment.ErrNotFound)
		}
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if got := inUse(db, "read"); got != 4 {
		t.Errorf("connections of reads by id in use: got %d, want 4", got)
	}
}
