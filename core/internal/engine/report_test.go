package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// settlementDay is the time from coretest.Birth to the end of the merchant's day, at midnight.
const settlementDay = 14*time.Hour + 30*time.Minute

// mustReport runs a round of the reports of all accounts.
func mustReport(t *testing.T, s *coretest.Service) {
	t.Helper()
	r := s.Engine.NewReports()
	if err := r.Pass(t.Context()); err != nil {
		t.Error(err)
	}
	r.Wait()
}

// reportsOf makes an account report these settlements by reference, and nothing of the others.
func reportsOf(a *coretest.Acquirer, by map[string]acquirer.Settlement) {
	a.Settle = func(_ context.Context, of []acquirer.Sent) ([]acquirer.Settlement, error) {
		out := make([]acquirer.Settlement, 0, len(of))
		for _, s := range of {
			out = append(out, by[s.Reference])
		}
		return out, nil
	}
}

// mustExceptions returns all settlement exceptions, each as its kind and reason.
func mustExceptions(t *testing.T, s *coretest.Service) []string {
	t.Helper()
	found, err := s.DB.SettlementExceptions(t.Context(), payment.ExceptionFilter{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, x := range found {
		out = append(out, string(x.Kind)+": "+x.Reason)
	}
	return out
}

func wantExceptions(t *testing.T, s *coretest.Service, when string, want ...string) {
	t.Helper()
	if got := mustExceptions(t, s); !slices.Equal(got, want) {
		t.Errorf("%s: got exceptions %q, want %q", when, got, want)
	}
}

// TestLiveSettlesByReport: the clock alone settles nothing in live mode. Each capture settles once
// its account has reported it, also if the merchant's day ended long ago.
func TestLiveSettlesByReport(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	sale, parts := mustPay(t, s, true), mustPay(t, s, false)
	for _, amount := range []int64{40, 60} {
		if _, err := s.Engine.Capture(t.Context(), s.Request(""), parts, amount, false, nil); err != nil {
			t.Fatal(err)
		}
	}
	captures := s.Texts(t, fmt.Sprint("SELECT id FROM captures WHERE transaction_id = ", parts, " ORDER BY id"))
	reported := map[string]acquirer.Settlement{}
	reportsOf(s.Acquirer, reported)
	settled := func(when string, wantSale, wantParts int64) {
		t.Helper()
		mustSettle(t, s, 0)
		mustReport(t, s)
		if got := mustTransaction(t, s, sale).Settled; got != wantSale {
			t.Errorf("%s: settled of the sale: got %d, want %d", when, got, wantSale)
		}
		if got := mustTransaction(t, s, parts).Settled; got != wantParts {
			t.Errorf("%s: settled of the captures: got %d, want %d", when, got, wantParts)
		}
	}
	s.Acquirer.Settle = func(context.Context, []acquirer.Sent) ([]acquirer.Settlement, error) {
		t.Error("a report was requested before the end of the day")
		return nil, nil
	}
	settled("the day has not ended", 0, 0)
	reportsOf(s.Acquirer, reported)
	s.Clock.Advance(settlementDay)
	settled("nothing is reported", 0, 0)
	reported[id.Format(id.Transaction, sale)] = acquirer.Settlement{State: acquirer.Settled}
	reported[referenceOf(t, captures[1])] = acquirer.Settlement{State: acquirer.Settled}
	settled("a part is reported", 100, 60)
	reported[referenceOf(t, captures[0])] = acquirer.Settlement{State: acquirer.Settled}
	settled("all is reported", 100, 100)
	if got := s.Number(t, "SELECT COUNT(*) FROM events WHERE type = 'transaction.settled'"); got != 2 {
		t.Errorf("got %d events of settled transactions, want 2", got)
	}
	wantSettledBooks(t, s)
	wantExceptions(t, s, "at the end")
}

// referenceOf returns the acquirer's reference of a capture by its number.
func referenceOf(t *testing.T, capture string) string {
	t.Helper()
	var n int64
	if _, err := fmt.Sscan(capture, &n); err != nil {
		t.Fatal(err)
	}
	return id.Format(id.Capture, n)
}

// TestSettlementExceptions: a capture without a report becomes an exception four days after its
// day, also if the account makes no reports. A failed settlement is one at once. A later report
// that it has settled ends an exception.
func TestSettlementExceptions(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	failing, silent := mustPay(t, s, true), mustPay(t, s, true)
	reported := map[string]acquirer.Settlement{
		id.Format(id.Transaction, failing): {State: acquirer.SettlementFailed, Reason: "settlementError"},
		id.Format(id.Transaction, silent):  {Reason: "in no settled batch"},
	}
	reportsOf(s.Acquirer, reported)
	s.Clock.Advance(settlementDay)
	mustReport(t, s)
	wantExceptions(t, s, "after a day", "failed: settlementError")
	s.Clock.Advance(4*24*time.Hour - time.Second)
	mustReport(t, s)
	wantExceptions(t, s, "before the fourth day has ended", "failed: settlementError")
	s.Clock.Advance(time.Second)
	mustReport(t, s)
	since := s.Number(t, "SELECT MAX(exception_at) FROM captures")
	wantExceptions(t, s, "after four days", "failed: settlementError", "unreported: in no settled batch")
	s.Clock.Advance(time.Hour)
	series := scraped(s)
	s.Acquirer.Settle = func(context.Context, []acquirer.Sent) ([]acquirer.Settlement, error) { return nil, errForGood }
	mustReport(t, s)
	wantExceptions(t, s, "without reports", "failed: settlementError", "unreported: in no settled batch")
	want := `causeway_account_reports_failures_total{account="` + id.Format(id.Account, coretest.LiveAccount) + `"} 1`
	if text := series(); !strings.Contains(text, "\n"+want+"\n") {
		t.Errorf("the metrics lack %s", want)
	}
	wantNumber(t, s, "since", "SELECT MAX(exception_at) FROM captures", since)
	s.Acquirer.Settle = nil // all are settled
	mustReport(t, s)
	wantExceptions(t, s, "after the report")
	wantNumber(t, s, "settled", "SELECT SUM(amount_settled) FROM transactions", 200)
	wantSettledBooks(t, s)
}

// TestAccountWithoutReports: the reports of an account fail for days. Its captures become
// exceptions, all of them, with the reason, and the log names the account and the error.
func TestAccountWithoutReports(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	mustPay(t, s, true)
	s.Acquirer.Settle = func(context.Context, []acquirer.Sent) ([]acquirer.Settlement, error) { return nil, errForGood }
	s.Clock.Advance(settlementDay)
	mustReport(t, s)
	wantExceptions(t, s, "after a day")
	if log := s.Log.String(); !strings.Contains(log, errForGood.Error()) || !strings.Contains(log, id.Format(id.Account, coretest.LiveAccount)) {
		t.Errorf("the log does not name the account and the error:\n%s", log)
	}
	s.Clock.Advance(4 * 24 * time.Hour)
	mustReport(t, s)
	wantExceptions(t, s, "after four days", "unreported: no reports of the account")
}

// TestUnreportedHasItsLastReport: an exception without a report shows the last status that was
// read. A missing report and an equal one do not change it, and it keeps its time.
func TestUnreportedHasItsLastReport(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	sale := mustPay(t, s, true)
	fail := func(context.Context, []acquirer.Sent) ([]acquirer.Settlement, error) { return nil, errForGood }
	s.Acquirer.Settle = fail
	s.Clock.Advance(settlementDay + 4*24*time.Hour)
	mustReport(t, s)
	wantExceptions(t, s, "no reports for four days", "unreported: no reports of the account")
	since := s.Number(t, "SELECT exception_at FROM captures")
	reported := map[string]acquirer.Settlement{}
	for _, report := range []struct{ when, reason, want string }{
		{"reports work again", "capturedPendingSettlement", "unreported: capturedPendingSettlement"},
		{"another status", "underReview", "unreported: underReview"},
		{"a report without a status", "", "unreported: underReview"},
	} {
		s.Clock.Advance(time.Hour)
		reported[id.Format(id.Transaction, sale)] = acquirer.Settlement{Reason: report.reason}
		reportsOf(s.Acquirer, reported)
		mustReport(t, s)
		wantExceptions(t, s, report.when, report.want)
	}
	s.Acquirer.Settle = fail
	mustReport(t, s)
	wantExceptions(t, s, "reports fail again", "unreported: underReview")
	wantNumber(t, s, "since", "SELECT exception_at FROM captures", since)
}

// TestReportsOfAHangingAccount: an account that does not respond delays no other one. Its round
// stays the only one until it ends, and the next one begins after a pause.
func TestReportsOfAHangingAccount(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	mustPay(t, s, true)
	other := s.AddAccount(t, otherAccount)
	s.Accounts.Enable(otherAccount)
	served := mustPay(t, s, true)
	var mu sync.Mutex
	asked, hangs, reported := 0, make(chan struct{}), make(chan struct{})
	s.Acquirer.Settle = func(ctx context.Context, _ []acquirer.Sent) ([]acquirer.Settlement, error) {
		mu.Lock()
		asked++
		mu.Unlock()
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("the request for reports has no deadline")
		}
		<-hangs
		return nil, errForGood
	}
	other.Settle = func(_ context.Context, of []acquirer.Sent) ([]acquirer.Settlement, error) {
		defer close(reported)
		return slices.Repeat([]acquirer.Settlement{{State: acquirer.Settled}}, len(of)), nil
	}
	s.Clock.Advance(settlementDay)
	r := s.Engine.NewReports()
	for range 2 { // the second pass begins no other round
		if err := r.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	<-reported
	close(hangs)
	r.Wait()
	if got := mustTransaction(t, s, served).Settlement(); got != payment.SettlementSettled {
		t.Errorf("the other account: got %s", got)
	}
	for _, pause := range []time.Duration{15*time.Minute - time.Second, time.Second} {
		s.Clock.Advance(pause)
		if err := r.Pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Wait()
	}
	if asked != 2 {
		t.Errorf("the account was asked %d times, want 2", asked)
	}
}

// TestPanicInReports: a round that panics ends, and disturbs no other account.
func TestPanicInReports(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	mustPay(t, s, true)
	s.AddAccount(t, otherAccount)
	s.Accounts.Enable(otherAccount)
	served := mustPay(t, s, true)
	s.Acquirer.Settle = func(context.Context, []acquirer.Sent) ([]acquirer.Settlement, error) { panic("a response") }
	s.Clock.Advance(settlementDay)
	mustReport(t, s)
	if got := mustTransaction(t, s, served).Settlement(); got != payment.SettlementSettled {
		t.Errorf("the other account: got %s", got)
	}
}

// TestReportsOfEndedDays: the reports of a capture are requested once its day has ended, with the
// amount that was captured. A sale can be approved for a part of its amount.
func TestReportsOfEndedDays(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	mustPay(t, s, true)
	s.MustExec(t, "UPDATE transactions SET amount = 150")
	s.Clock.Advance(settlementDay + time.Second)
	mustPay(t, s, true)
	var amounts []int64
	s.Acquirer.Settle = func(_ context.Context, of []acquirer.Sent) ([]acquirer.Settlement, error) {
		for _, sent := range of {
			amounts = append(amounts, sent.Amount)
		}
		return make([]acquirer.Settlement, len(of)), nil
	}
	mustReport(t, s)
	if !slices.Equal(amounts, []int64{100}) {
		t.Errorf("reports of the amounts %v were requested, want the 100 of the first day", amounts)
	}
}

// TestSettleCaptureTwicePostgreSQL: another core settles a capture at the same time. The second
// command waits for the first one and changes nothing.
func TestSettleCaptureTwicePostgreSQL(t *testing.T) {
	t.Parallel()
	s := coretest.OpenShared(t)
	txn := mustPay(t, s, true)
	capture, err := s.Number(t, "SELECT id FROM captures"), error(nil)
	duringTransaction(t, s, []string{
		"UPDATE transactions SET amount_settled = 100", "UPDATE captures SET settled = 1",
	}, func() {
		err = s.DB.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.SettleCapture(s.Tenant, txn, capture, s.Clock.Now(), store.DayTotals{})
			return err
		})
	})
	if !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v, want %v", err, store.ErrConflict)
	}
}

// TestReportsInPages: a round requests the reports of all captures, in pages, also if some of them
// never settle. After a failed request it sends no other one.
func TestReportsInPages(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	first := mustPay(t, s, true)
	manyCaptures(t, s, 450)
	s.Clock.Advance(settlementDay)
	var sizes []int
	var fails error
	s.Acquirer.Settle = func(_ context.Context, of []acquirer.Sent) ([]acquirer.Settlement, error) {
		sizes = append(sizes, len(of))
		return make([]acquirer.Settlement, len(of)), fails
	}
	mustReport(t, s)
	fails = errForGood
	s.Clock.Advance(4 * 24 * time.Hour)
	mustReport(t, s)
	if want := []int{200, 200, 51, 200}; !slices.Equal(sizes, want) {
		t.Errorf("requests of %v captures, want %v", sizes, want)
	}
	wantNumber(t, s, "exceptions", "SELECT COUNT(*) FROM captures WHERE exception = 'unreported'", 451)
	if got := mustTransaction(t, s, first).Settled; got != 0 {
		t.Errorf("settled: got %d", got)
	}
}

// TestReportsAndVoids: a capture whose void is in progress is in no request. A voided capture is
// no exception any more.
func TestReportsAndVoids(t *testing.T) {
	t.Parallel()
	s := coretest.OpenLive(t)
	txn := mustPay(t, s, true)
	reportsOf(s.Acquirer, map[string]acquirer.Settlement{
		id.Format(id.Transaction, txn): {State: acquirer.SettlementFailed, Reason: "voided"},
	})
	s.Clock.Advance(settlementDay)
	lose(s, coretest.Void, true, nil)
	if a, err := s.Engine.Void(t.Context(), s.Request(""), txn, nil); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
	}
	mustReport(t, s)
	wantExceptions(t, s, "while a void is in progress")
	s.MustExec(t, "UPDATE captures SET exception = 'failed'")
	wantNumber(t, s, "exceptions", "SELECT COUNT(*) FROM captures WHERE exception = 'failed'", 1)
	heal(s)
	if open := s.Recover(t); open != 0 {
		t.Fatalf("%d steps are open", open)
	}
	wantExceptions(t, s, "after the void")
}

// TestResolveException: an operator ends an exception. Settled announces the transaction, and not
// settled leaves it as it is, ends the requests about it, and moves no money. Each has one audit
// record.
func TestResolveException(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[engine.SettlementOutcome]int64{engine.OutcomeSettled: 100, engine.OutcomeNotSettled: 0} {
		t.Run(string(outcome), func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			txn := mustPay(t, s, true)
			asked := 0
			s.Acquirer.Settle = func(context.Context, []acquirer.Sent) ([]acquirer.Settlement, error) {
				asked++
				return []acquirer.Settlement{{State: acquirer.SettlementFailed, Reason: "returnedItem"}}, nil
			}
			s.Clock.Advance(settlementDay)
			mustReport(t, s)
			x := mustExcept(t, s, txn)
			d := engine.SettlementResolution{Outcome: outcome, Reason: "statement of November 22, line 7"}
			if outcome == engine.OutcomeSettled {
				if _, err := s.Engine.ResolveException(t.Context(), operatorRequest(s), x.Capture, d); !errors.Is(err, engine.ErrFailedReport) {
					t.Errorf("without a confirmation: got %v, want %v", err, engine.ErrFailedReport)
				}
				d.DespiteFailedReport = true
			}
			a, err := s.Engine.ResolveException(t.Context(), operatorRequest(s), x.Capture, d)
			if err != nil || a.Status != 200 {
				t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
			}
			if _, err := s.Engine.ResolveException(t.Context(), operatorRequest(s), x.Capture, d); !errors.Is(err, payment.ErrNotFound) {
				t.Errorf("again: got %v, want %v", err, payment.ErrNotFound)
			}
			mustReport(t, s)
			if asked != 1 {
				t.Errorf("the account was asked %d times, want once", asked)
			}
			wantExceptions(t, s, "at the end")
			if got := mustTransaction(t, s, txn); got.Settled != want || got.Status != payment.Captured || len(s.Acquirer.Follows()) != 0 {
				t.Errorf("got %+v, want %d settled", got, want)
			}
			records := s.Texts(t, "SELECT actor || ' ' || outcome || ' ' || state_after FROM audit_records WHERE action = 'settlements.resolve'")
			if len(records) != 1 || !strings.HasPrefix(records[0], "operator alice done ") || !strings.Contains(records[0], d.Reason) {
				t.Errorf("audit records: got %q", records)
			}
			wantSettledBooks(t, s)
		})
	}
}

// mustExcept returns the merchant's only exception, which a report has just made of a sale of 100.
func mustExcept(t *testing.T, s *coretest.Service, sale int64) payment.SettlementException {
	t.Helper()
	found, err := s.DB.SettlementExceptions(t.Context(), payment.ExceptionFilter{Merchant: s.Tenant.Merchant}, 10)
	if err != nil || len(found) != 1 {
		t.Fatalf("got %+v, %v, want one exception", found, err)
	}
	want := payment.SettlementException{
		Capture: found[0].Capture, Transaction: sale, Tenant: s.Tenant, Account: coretest.LiveAccount,
		AcquirerID: "id_of_" + id.Format(id.Transaction, sale), Amount: 100, Currency: "usd", CapturedAt: coretest.Birth,
		Kind: payment.FailedSettlement, Reason: "returnedItem", Since: s.Clock.Now(),
	}
	if found[0] != want {
		t.Errorf("shown: got %+v, want %+v", found[0], want)
	}
	return found[0]
}
