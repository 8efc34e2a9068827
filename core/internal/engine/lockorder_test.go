package engine_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// TestLockOrderPostgreSQL: two commits need the same two payments at once: of a settlement pass, a
// settlement run or the expiry. Neither waits for the other in a circle.
func TestLockOrderPostgreSQL(t *testing.T) {
	t.Parallel()
	type task = func(context.Context, *coretest.Service) error
	settle := func(ctx context.Context, s *coretest.Service) error { _, err := s.Engine.SettleDue(ctx); return err }
	expire := func(ctx context.Context, s *coretest.Service) error { _, err := s.Engine.ExpireDue(ctx); return err }
	run := func(ctx context.Context, s *coretest.Service) error {
		_, err := s.Engine.RunSettlement(ctx, s.Request(""))
		return err
	}
	for name, pair := range map[string][2]task{
		"settlement and expiry": {settle, expire},
		"run and expiry":        {run, expire},
		"run and settlement":    {run, settle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenShared(t)
			first, second := mustPay(t, s, false), mustPay(t, s, false)
			for _, transaction := range []int64{second, first} {
				mustCaptureOf(t, s, transaction, 40)
				s.Clock.Advance(time.Minute)
			}
			s.Clock.Advance(24 * time.Hour)
			s.MustExec(t, "UPDATE transactions SET expires_at = ?", s.Clock.Now().UnixMilli())
			release := mustHold(t, s, second)
			done := make(chan error, len(pair))
			for i, task := range pair {
				go func() { done <- task(t.Context(), s) }()
				for s.Number(t, `SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
						AND application_name = 'causeway-core' AND datname = current_database()`) <= int64(i) {
					runtime.Gosched()
				}
			}
			release()
			for range pair {
				if err := <-done; err != nil {
					t.Errorf("got %v", err)
				}
			}
			if got := s.DB.Stats().RolledBack["deadlock"]; got != 0 {
				t.Errorf("deadlocks: got %d, want none", got)
			}
		})
	}
}

// mustHold locks a payment until the function that it returns is called.
func mustHold(t *testing.T, s *coretest.Service, transaction int64) (release func()) {
	t.Helper()
	tx, err := s.Database.MustInspect(t).BeginTx(t.Context(), nil)
	if err == nil {
		t.Cleanup(func() { _ = tx.Rollback() })
		_, err = tx.ExecContext(t.Context(), "SELECT id FROM transactions WHERE id = ? FOR UPDATE", transaction)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}
