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
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/secret"
)

// In each of these tests the store refuses the first row of a pass. The pass must handle all other
// rows, and log and count the refused row. It must handle that row once the store accepts it.

// wantSkipped checks that a pass has logged an object that it skipped, and that the series shows
// it.
func wantSkipped(t *testing.T, s *coretest.Service, series func() string, pass string, objects ...int64) {
	t.Helper()
	for _, object := range objects {
		if line := fmt.Sprintf(`"id":%d,`, object); !strings.Contains(s.Log.String(), line) {
			t.Errorf("object %d is not in the log", object)
		}
	}
	if strings.Contains(series(), "\ncauseway_pass_skipped_objects_total{pass=\""+pass+"\"} 0\n") {
		t.Errorf("%s: no skip was counted", pass)
	}
}

// wantNumber compares the result of a query.
func wantNumber(t *testing.T, s *coretest.Service, what, query string, want int64) {
	t.Helper()
	if got := s.Number(t, query); got != want {
		t.Errorf("%s: got %d, want %d", what, got, want)
	}
}

// mustPayAs makes a payment of 100 of a tenant that is only authorized.
func mustPayAs(t *testing.T, s *coretest.Service, tenant payment.Tenant) {
	t.Helper()
	r := s.Request("")
	r.Tenant = tenant
	if a, err := s.Pay(t.Context(), r, 100, false); err != nil || a.Status != 201 {
		t.Fatalf("pay: %d, %v", a.Status, err)
	}
}

func mustExpireSome(t *testing.T, s *coretest.Service, want int) {
	t.Helper()
	if n, err := s.Engine.ExpireDue(t.Context()); err != nil || n != want {
		t.Errorf("expired: got %d, %v, want %d", n, err, want)
	}
}

func TestRefusedExpiryStopsNoOther(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	series := scraped(s)
	refused := mustPay(t, s, false)
	mustPay(t, s, false)
	mustPayAs(t, s, mustMerchant(t, s))
	if a, err := s.Prepare(t.Context(), s.Request(""), 100, false); err != nil || a.Status != 201 {
		t.Fatalf("prepare: %d, %v", a.Status, err)
	}
	unconfirmed := s.Number(t, "SELECT MAX(id) FROM transactions")
	s.MustExec(t, "UPDATE transactions SET result = '{' WHERE id = (SELECT MIN(id) FROM transactions WHERE id > ?)", refused)
	second := s.Number(t, "SELECT id FROM transactions WHERE result = '{'")
	end := s.MustRefuse(t, "UPDATE", "transactions", fmt.Sprintf("NEW.id = %d", refused))
	s.Clock.Advance(8 * 24 * time.Hour)
	mustExpireSome(t, s, 2)
	wantNumber(t, s, "the unconfirmed payment",
		fmt.Sprintf("SELECT COUNT(*) FROM transactions WHERE id = %d AND status = 'canceled'", unconfirmed), 1)
	wantSkipped(t, s, series, "expiry", refused, second)
	mustExpireSome(t, s, 0)
	end()
	s.MustExec(t, "UPDATE transactions SET result = '{}' WHERE id = ?", second)
	mustExpireSome(t, s, 2)
	wantSettledBooks(t, s)
}

// TestAPageOfRefusedExpiriesStopsNoOther: a merchant's refused rows fill more than a page.
func TestAPageOfRefusedExpiriesStopsNoOther(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	var payers sync.WaitGroup
	for range 51 {
		payers.Go(func() {
			for range 10 {
				if a, err := s.Pay(t.Context(), s.Request(""), 100, false); err != nil || a.Status != 201 {
					t.Errorf("pay: %d, %v", a.Status, err)
				}
			}
		})
	}
	payers.Wait()
	s.Clock.Advance(time.Second)
	mustPayAs(t, s, mustMerchant(t, s))
	end := s.MustRefuse(t, "UPDATE", "transactions", fmt.Sprintf("NEW.merchant_id = %d", s.Tenant.Merchant))
	s.Clock.Advance(8 * 24 * time.Hour)
	mustExpireSome(t, s, 1)
	end()
	mustExpireSome(t, s, 510)
}

func TestRefusedTokenStopsNoOther(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	series := scraped(s)
	r := s.Request("")
	for _, tenant := range []payment.Tenant{s.Tenant, s.Tenant, mustMerchant(t, s)} {
		r.Tenant = tenant
		a, err := s.Engine.CreateToken(t.Context(), r, payment.KindCard, []byte("{}"),
			vault.Secrets{Number: secret.New(pan), CVC: secret.New("123")})
		if err != nil || a.Status != 201 {
			t.Fatalf("token: %d, %v", a.Status, err)
		}
	}
	refused := s.Number(t, "SELECT MIN(id) FROM tokens")
	end := s.MustRefuse(t, "UPDATE", "tokens", fmt.Sprintf("NEW.id = %d", refused))
	s.Clock.Advance(payment.TokenLifetime)
	sweep := func(wiped int64) {
		t.Helper()
		if err := s.Engine.SweepTokens(t.Context()); err != nil {
			t.Error(err)
		}
		wantNumber(t, s, "wiped", "SELECT COUNT(*) FROM tokens WHERE number IS NULL", wiped)
	}
	sweep(2)
	wantSkipped(t, s, series, "expiry", refused)
	end()
	sweep(3)
	end = s.MustRefuse(t, "DELETE", "tokens", fmt.Sprintf("OLD.id = %d", refused))
	s.Clock.Advance(store.KeyLifetime)
	sweep(1)
	wantNumber(t, s, "removed", "SELECT 3 - COUNT(*) FROM tokens", 2)
	wantSkipped(t, s, series, "purge", refused)
	end()
	sweep(0)
	wantNumber(t, s, "removed", "SELECT 3 - COUNT(*) FROM tokens", 3)
}

// TestUnreadableStepStopsNoRecovery: the result of an unfinished payment cannot be read. Other
// payments are finished, of its merchant too. Its attempts have pauses, and it is finished once it
// can be read.
func TestUnreadableStepStopsNoRecovery(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	lose(s, coretest.Authorize, true, nil)
	for range 5 {
		mustLoseOne(t, s, s.Tenant)
	}
	mustLoseOne(t, s, mustMerchant(t, s))
	heal(s)
	s.MustExec(t, "UPDATE transactions SET result = '{' WHERE id IN (SELECT id FROM transactions ORDER BY id LIMIT 3)")
	s.Clock.Advance(time.Minute)
	r := serving(t, s)
	for range 3 {
		if _, err := r.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Wait()
		s.Clock.Advance(time.Second)
	}
	wantNumber(t, s, "finished", "SELECT COUNT(*) FROM transactions WHERE status = 'authorized'", 3)
	wantNumber(t, s, "attempts with their error",
		"SELECT COUNT(*) FROM step_attempts WHERE last_error <> '' AND attempts < 4", 3)
	s.MustExec(t, "UPDATE transactions SET result = '{}' WHERE result = '{'")
	s.Clock.Advance(time.Hour)
	if got := s.Recover(t); got != 0 {
		t.Errorf("%d stay open", got)
	}
}

func mustLoseOne(t *testing.T, s *coretest.Service, tenant payment.Tenant) {
	t.Helper()
	r := s.Request("")
	r.Tenant = tenant
	if a, err := s.Pay(t.Context(), r, 100, false); err != nil || a.Status != 504 {
		t.Fatalf("pay: %d, %v", a.Status, err)
	}
}

// TestRefusedAttemptsStopNoRecovery: the store refuses to write the attempts at more payments of a
// merchant than a failing lane tries in a pass. It also refuses the removal of an old attempt. The
// other payments of the merchant are finished.
func TestRefusedAttemptsStopNoRecovery(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	series := scraped(s)
	mustLose(t, s, s.Tenant, 90)
	last := s.Number(t, "SELECT id FROM transactions ORDER BY id LIMIT 1 OFFSET 79")
	end := s.MustRefuse(t, "INSERT", "step_attempts", fmt.Sprintf("NEW.object_id <= %d AND NEW.attempts > 0", last))
	s.MustExec(t, `INSERT INTO step_attempts (kind, object_id, number, attempts, running, begun_at, next_at, last_error)
		VALUES ('refund', 1, 0, 0, 0, 1, 1, '')`)
	s.MustRefuse(t, "DELETE", "step_attempts", "OLD.object_id = 1")
	s.Clock.Advance(time.Minute)
	r := s.Engine.NewRecovery()
	r.Serve()
	for range 20 {
		if _, err := r.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Wait()
		s.Clock.Advance(time.Second)
	}
	wantNumber(t, s, "finished", "SELECT COUNT(*) FROM transactions WHERE status = 'captured'", 10)
	wantSkipped(t, s, series, "recovery", last)
	if got := strings.Count(s.Log.String(), fmt.Sprintf(`"id":%d,`, last)); got > 2 {
		t.Errorf("attempts at a refused step within 20 s: got %d, want at most 2", got)
	}
	end()
	s.Clock.Advance(time.Hour)
	if got := s.Recover(t); got != 0 {
		t.Errorf("%d stay open", got)
	}
}

// TestRefusedMerchantStopsNoBroadcast: the store refuses the event of one merchant and its failure
// is kept. The other merchants get their events once, and so do the merchants of a later broadcast.
func TestRefusedMerchantStopsNoBroadcast(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	series := scraped(s)
	for range 60 {
		mustMerchant(t, s)
	}
	end := s.MustRefuse(t, "INSERT", "events", fmt.Sprintf("NEW.merchant_id = %d", s.Tenant.Merchant))
	for _, name := range []string{"one", "two"} {
		a, err := s.Engine.Broadcast(t.Context(), s.Request(""), "certificate.rotated", name, []byte("{}"))
		if err != nil || a.Status != 201 {
			t.Fatalf("broadcast: %d, %v", a.Status, err)
		}
	}
	due := func(want int) {
		t.Helper()
		if n, err := s.Engine.BroadcastDue(t.Context()); err != nil || n != want {
			t.Errorf("broadcast: got %d, %v, want %d", n, err, want)
		}
	}
	due(2 * 60)
	wantSkipped(t, s, series, "broadcast", s.Tenant.Merchant)
	wantNumber(t, s, "events", "SELECT COUNT(*) FROM events", 2*2*60)
	wantNumber(t, s, "finished", "SELECT COUNT(*) FROM broadcasts WHERE finished_at > 0", 0)
	end()
	due(0) // its pause
	s.Clock.Advance(time.Minute)
	due(2)
	wantNumber(t, s, "events", "SELECT COUNT(*) FROM events", 2*2*61)
	wantNumber(t, s, "finished", "SELECT COUNT(*) FROM broadcasts WHERE finished_at > 0 AND told = 61", 2)
	due(0)
}

// TestRefusedRowStopsNoPurge: a refused row stops no purge of idempotency keys and of events. A
// server drops events by whole partitions, with all of their rows.
func TestRefusedRowStopsNoPurge(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	series := scraped(s)
	mustKeys(t, s, "k", 600, true)
	key := s.Number(t, "SELECT MIN(id) FROM idempotency_keys")
	end := s.MustRefuse(t, "DELETE", "idempotency_keys", fmt.Sprintf("OLD.id = %d", key))
	s.Clock.Advance(store.KeyLifetime)
	mustPurge(t, s, 599)
	mustPurge(t, s, 0)
	wantSkipped(t, s, series, "purge", key)
	end()
	mustPurge(t, s, 1)
	if coretest.Shared() {
		return
	}
	for range 3 {
		mustPay(t, s, true)
	}
	event := s.Number(t, "SELECT MIN(id) FROM events")
	end = s.MustRefuse(t, "DELETE", "events", fmt.Sprintf("OLD.id = %d", event))
	s.Clock.Advance(2 * time.Hour)
	purge := func(want, left int64) {
		t.Helper()
		if n, err := s.DB.PurgeEvents(t.Context(), s.Clock.Now(), time.Hour); err != nil || n != want {
			t.Errorf("purged: got %d events, %v, want %d", n, err, want)
		}
		wantNumber(t, s, "events", "SELECT COUNT(*) FROM events", left)
	}
	purge(2, 1)
	wantSkipped(t, s, series, "purge", event)
	end()
	purge(1, 0)
}
