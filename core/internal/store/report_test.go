package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// live is a service with a payment of 100 in live mode that has three captures.
type live struct {
	*coretest.Service
	transaction int64
	captures    []int64 // of 20, 30 and 50
}

func openLive(t *testing.T) live {
	t.Helper()
	l := live{Service: coretest.OpenLive(t)}
	if a, err := l.Pay(t.Context(), l.Request(""), 100, false); err != nil || a.Status != 201 {
		t.Fatalf("pay: %d %s, %v", a.Status, a.Body, err)
	}
	l.transaction = l.Number(t, "SELECT id FROM transactions")
	for _, amount := range []int64{20, 30, 50} {
		a, err := l.Engine.Capture(t.Context(), l.Request(""), l.transaction, amount, false, nil)
		if err != nil || a.Status != 201 {
			t.Fatalf("capture: %d %s, %v", a.Status, a.Body, err)
		}
		l.captures = append(l.captures, l.Number(t, "SELECT MAX(id) FROM captures"))
	}
	return l
}

func (l live) settle(t *testing.T, tenant payment.Tenant, capture int64) (whole bool, err error) {
	t.Helper()
	err = l.DB.Update(t.Context(), func(tx *store.Tx) (err error) {
		totals := store.DayTotals{}
		if whole, err = tx.SettleCapture(tenant, l.transaction, capture, l.Clock.Now(), totals); err != nil {
			return err
		}
		return tx.AddToDay(tenant, l.Clock.Now(), totals)
	})
	return whole, err
}

// TestSettleCapture: each capture settles once, and the last one settles the transaction. Nothing
// settles for another tenant, or while a void is in progress.
func TestSettleCapture(t *testing.T) {
	t.Parallel()
	l := openLive(t)
	refused := func(what string, tenant payment.Tenant, capture int64) {
		t.Helper()
		if _, err := l.settle(t, tenant, capture); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: got %v, want %v", what, err, store.ErrConflict)
		}
	}
	refused("another tenant", payment.Tenant{Merchant: l.Tenant.Merchant}, l.captures[0])
	refused("another capture", l.Tenant, l.captures[2]+1)
	l.MustExec(t, "UPDATE transactions SET operation = 'void'")
	refused("a void in progress", l.Tenant, l.captures[0])
	l.MustExec(t, "UPDATE transactions SET operation = ''")
	sum := int64(0)
	for i, amount := range []int64{20, 30, 50} {
		if whole, err := l.settle(t, l.Tenant, l.captures[i]); err != nil || whole != (i == 2) {
			t.Errorf("capture %d: got %t, %v", i, whole, err)
		}
		refused("again", l.Tenant, l.captures[i])
		sum += amount
		if got := l.Number(t, "SELECT amount_settled FROM transactions"); got != sum {
			t.Errorf("settled: got %d, want %d", got, sum)
		}
		if got := l.Number(t, "SELECT SUM(amount_captured) FROM settlement_totals"); got != sum {
			t.Errorf("total of the days: got %d, want %d", got, sum)
		}
	}
	if got := l.Number(t, "SELECT COUNT(*) FROM captures WHERE settlement_day = 0"); got != 0 {
		t.Errorf("%d captures have no settlement day", got)
	}
}

// TestExceptions: a capture is an exception until it settles or an operator ends it. Exceptions are
// listed and counted, and an ended one gets no further reports.
func TestExceptions(t *testing.T) {
	t.Parallel()
	l := openLive(t)
	if err := l.end(t, l.captures[0]); !errors.Is(err, store.ErrConflict) {
		t.Errorf("no exception: got %v, want %v", err, store.ErrConflict)
	}
	for _, capture := range l.captures {
		l.except(t, capture, payment.UnreportedCapture, "pending")
	}
	l.want(t, "at first", 3, 0, l.captures...)
	since := l.Clock.Now().UnixMilli()
	l.Clock.Advance(time.Hour)
	l.except(t, l.captures[1], payment.FailedSettlement, "returned")
	l.want(t, "one has failed", 2, 1, l.captures...)
	if got := l.Number(t, "SELECT MAX(exception_at) FROM captures"); got != since {
		t.Errorf("since: got %d, want %d", got, since)
	}
	for f, selected := range map[payment.ExceptionFilter][]int64{
		{Capture: l.captures[1]}: l.captures[1:2], {After: l.captures[1]}: l.captures[2:],
		{Merchant: l.Tenant.Merchant}: l.captures, {Merchant: l.Tenant.Merchant + 1}: nil,
	} {
		if got := l.listed(t, f); !slices.Equal(got, selected) {
			t.Errorf("%+v: got %v, want %v", f, got, selected)
		}
	}
	if _, err := l.settle(t, l.Tenant, l.captures[0]); err != nil {
		t.Fatal(err)
	}
	l.want(t, "one has settled", 1, 1, l.captures[1:]...)
	if err := l.end(t, l.captures[1]); err != nil {
		t.Fatal(err)
	}
	l.want(t, "one has ended", 1, 0, l.captures[2])
	l.except(t, l.captures[0], payment.FailedSettlement, "late")
	l.except(t, l.captures[1], payment.FailedSettlement, "late")
	l.want(t, "later reports", 1, 0, l.captures[2])
	l.wantUnreported(t, l.captures[2])
}

func (l live) except(t *testing.T, capture int64, kind payment.ExceptionKind, reason string) {
	t.Helper()
	err := l.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.ExceptCapture(capture, kind, reason) })
	if err != nil {
		t.Fatal(err)
	}
}

func (l live) end(t *testing.T, capture int64) error {
	t.Helper()
	return l.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.EndException(capture) })
}

// want checks the exceptions that are counted and listed.
func (l live) want(t *testing.T, when string, unreported, failed int, captures ...int64) {
	t.Helper()
	n, err := l.DB.CountSettlementExceptions(t.Context())
	if err != nil || n[payment.UnreportedCapture] != unreported || n[payment.FailedSettlement] != failed {
		t.Errorf("%s: got %v, %v, want %d unreported and %d failed", when, n, err, unreported, failed)
	}
	if got := l.listed(t, payment.ExceptionFilter{}); !slices.Equal(got, captures) {
		t.Errorf("%s: got %v, want %v", when, got, captures)
	}
}

// wantUnreported checks that only the last capture waits for a report, and settles it.
func (l live) wantUnreported(t *testing.T, last int64) {
	t.Helper()
	page, err := l.DB.Unreported(
		t.Context(), l.Tenant.Merchant, coretest.LiveAccount, l.Clock.Now(), store.Unsettled{}, 10)
	if err != nil || len(page) != 1 || page[0].ID != last || page[0].Kind != payment.UnreportedCapture {
		t.Errorf("captures without a report: got %+v, %v, want the last one", page, err)
	}
	accounts, err := l.DB.ReportingAccounts(t.Context(), l.Tenant.Merchant)
	if err != nil || !slices.Equal(accounts, []int64{coretest.LiveAccount}) {
		t.Errorf("accounts: got %v, %v", accounts, err)
	}
	if _, err := l.settle(t, l.Tenant, last); err != nil {
		t.Fatal(err)
	}
	if accounts, err := l.DB.ReportingAccounts(t.Context(), l.Tenant.Merchant); err != nil || len(accounts) != 0 {
		t.Errorf("at the end: got accounts %v, %v", accounts, err)
	}
}

// listed returns the captures of the exceptions that a filter selects.
func (l live) listed(t *testing.T, f payment.ExceptionFilter) (captures []int64) {
	t.Helper()
	found, err := l.DB.SettlementExceptions(t.Context(), f, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range found {
		captures = append(captures, x.Capture)
	}
	return captures
}
