package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// wantSettled checks that each transaction has settled.
func wantSettled(t *testing.T, s *coretest.Service, transactions ...int64) {
	t.Helper()
	for _, txn := range transactions {
		if got := mustTransaction(t, s, txn).Settlement(); got != payment.SettlementSettled {
			t.Errorf("transaction %d: got %s, want settled", txn, got)
		}
	}
}

// TestSettlementAfterAClockJump: the clock was two days ahead for one pass. After the restart new
// captures have smaller ids and earlier times than that pass saw. Each of them settles at the end
// of its day.
func TestSettlementAfterAClockJump(t *testing.T) {
	t.Parallel()
	for name, jump := range map[string]time.Duration{"two days": 48 * time.Hour, "ten years": 87600 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			mustPay(t, s, true)
			s.Clock.Advance(jump)
			ahead := mustPay(t, s, true)
			mustSettle(t, s, 1)
			s.Clock.Advance(-jump)
			s.IDs = id.NewGenerator(s.Clock)
			s = s.Revive(t, s.Snapshot(t))
			s.Clock.Advance(time.Minute)
			for range 3 {
				mustPay(t, s, true)
			}
			s.Clock.Advance(24 * time.Hour)
			mustSettle(t, s, 3)
			if got := mustTransaction(t, s, ahead).Settlement(); got != payment.SettlementPending {
				t.Errorf("captured by the wrong clock, whose day has not ended: got %s, want pending", got)
			}
			s.Clock.Advance(jump)
			mustSettle(t, s, 1)
			wantSettledBooks(t, s)
		})
	}
}

// TestSettlementLagOfWhatStays: a void without an outcome and a merchant with a bad time zone stay
// unsettled. The lag includes them after the pass too, and each is counted by its reason. Other
// merchants settle.
func TestSettlementLagOfWhatStays(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t) // 09:30 UTC
	series := scraped(s)
	voided, other := mustPay(t, s, true), mustPay(t, s, true)
	lose(s, coretest.Void, false, nil)
	if a, err := s.Engine.Void(t.Context(), s.Request(""), voided, nil); err != nil || a.Status != 504 {
		t.Fatalf("void: got %d, %v", a.Status, err)
	}
	heal(s)
	abroad, neighbour := mustMerchant(t, s), mustMerchant(t, s)
	theirs := mustPayFor(t, s, abroad)
	mustPayFor(t, s, neighbour)
	const move = "UPDATE merchants SET time_zone = '%s' WHERE id IN (%d, %d)"
	s.MustExec(t, fmt.Sprintf(move, "Mars/Olympus", abroad.Merchant, neighbour.Merchant))
	s.Clock.Advance(38*time.Hour + 31*time.Minute) // a minute after midnight of the second day
	mustPay(t, s, true)                            // of the day that has just begun
	mustSettle(t, s, 1)
	wantSettled(t, s, other)
	wantSeries(t, series(), "settlement_lag_seconds 86460", `settlement_skipped{reason="time_zone"} 2`,
		`settlement_skipped{reason="void"} 1`, `settlement_skipped{reason="failed"} 0`)
	for _, m := range []payment.Tenant{abroad, neighbour} { // as `core merchants update` reads it
		if name := id.Format(id.Merchant, m.Merchant); !strings.Contains(s.Log.String(), name) {
			t.Errorf("the log does not name %s", name)
		}
	}
	s.MustExec(t, fmt.Sprintf(move, "Europe/Vienna", abroad.Merchant, neighbour.Merchant))
	mustSettle(t, s, 2)
	if got, err := s.DB.Transaction(t.Context(), abroad, theirs); err != nil || got.Settlement() != payment.SettlementSettled {
		t.Errorf("with its time zone right: got %v, %v", got, err)
	}
	wantSeries(t, series(), "settlement_lag_seconds 86460", `settlement_skipped{reason="time_zone"} 0`)
	if got := s.Recover(t); got != 0 {
		t.Fatalf("%d stay open", got)
	}
	mustSettle(t, s, 0)
	wantSeries(t, series(), "settlement_lag_seconds 0", `settlement_skipped{reason="void"} 0`)
}

// wantSeries checks that each line is among the exported series.
func wantSeries(t *testing.T, series string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(series, "\ncauseway_"+line+"\n") {
			t.Errorf("%s is not among\n%s", line, series)
		}
	}
}

// TestOneRefusedCaptureStopsNoOther: the store refuses to settle one transaction of a merchant. All
// others settle, of the merchant and of another one, and the refused one is counted in each pass.
func TestOneRefusedCaptureStopsNoOther(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	series := scraped(s)
	refused := mustPay(t, s, true)
	others := []int64{mustPay(t, s, true), mustPay(t, s, true)}
	theirs := mustMerchant(t, s)
	mustPayFor(t, s, theirs)
	s.MustExec(t, refuseSettling(refused))
	s.Clock.Advance(24 * time.Hour)
	mustSettle(t, s, 3)
	mustSettle(t, s, 0)
	wantSettled(t, s, others...)
	wantSeries(t, series(), `settlement_skipped{reason="failed"} 1`)
}

// refuseSettling returns a statement that makes the store refuse to settle a transaction.
func refuseSettling(transaction int64) string {
	if coretest.Shared() {
		return fmt.Sprintf("ALTER TABLE transactions ADD CONSTRAINT refused CHECK (id <> %d OR amount_settled = 0)", transaction)
	}
	return fmt.Sprintf(`CREATE TRIGGER refused BEFORE UPDATE OF amount_settled ON transactions WHEN NEW.id = %d
		BEGIN SELECT RAISE(ABORT, 'refused'); END`, transaction)
}

// mustMerchant makes another merchant and returns its test mode.
func mustMerchant(t *testing.T, s *coretest.Service) payment.Tenant {
	t.Helper()
	tenant := payment.Tenant{Merchant: s.IDs.Next()}
	insert := func(tx *store.Tx) error { return tx.InsertMerchant(tenant.Merchant, "other") }
	if err := s.DB.Update(t.Context(), insert); err != nil {
		t.Fatal(err)
	}
	return tenant
}

// mustPayFor makes a captured payment of 100 of a tenant and returns its number.
func mustPayFor(t *testing.T, s *coretest.Service, tenant payment.Tenant) int64 {
	t.Helper()
	r := s.Request("")
	r.Tenant = tenant
	if a, err := s.Pay(t.Context(), r, 100, true); err != nil || a.Status != 201 {
		t.Fatalf("pay: %d %s, %v", a.Status, a.Body, err)
	}
	return s.Number(t, "SELECT MAX(id) FROM transactions")
}

// TestSettlementPages: there are more captures than a page holds, and one of them cannot settle.
// All others settle, each once.
func TestSettlementPages(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	var payers sync.WaitGroup
	for range 52 {
		payers.Go(func() {
			for range 10 {
				if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 201 {
					t.Errorf("pay: %d %s, %v", a.Status, a.Body, err)
				}
			}
		})
	}
	payers.Wait()
	middle := s.Number(t, "SELECT id FROM transactions ORDER BY id LIMIT 1 OFFSET 250")
	lose(s, coretest.Void, false, nil)
	if a, err := s.Engine.Void(t.Context(), s.Request(""), middle, nil); err != nil || a.Status != 504 {
		t.Fatalf("void: got %d, %v", a.Status, err)
	}
	s.Clock.Advance(24 * time.Hour)
	mustSettle(t, s, 519)
	mustSettle(t, s, 0)
	if got := s.Number(t, "SELECT COUNT(*) FROM events WHERE type = 'transaction.settled'"); got != 519 {
		t.Errorf("events: got %d, want 519", got)
	}
}

// TestClockBehindRows: a core starts with a clock that is behind the newest row. The log names the
// row and the series shows the difference, until the clock has passed it.
func TestClockBehindRows(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	series := scraped(s)
	check := func(behind string, logged bool) {
		t.Helper()
		if err := s.Engine.CheckClock(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantSeries(t, series(), "core_clock_behind_rows_seconds "+behind)
		if got := strings.Contains(s.Log.String(), `"table":"captures"`); got != logged {
			t.Errorf("logged: got %t, want %t\n%s", got, logged, s.Log)
		}
	}
	check("0", false)
	mustPay(t, s, true)
	check("0", false)
	s.Clock.Advance(-time.Minute)
	check("60", false)
	s.Clock.Advance(-time.Hour)
	check("3660", true)
	s.Clock.Advance(2 * time.Hour)
	check("0", true)
}
