package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// advance moves the test clock of the bundle's merchant.
func (b *bundle) advance(t *testing.T, by time.Duration, options ...option) v1.TestClock {
	t.Helper()
	body := fmt.Sprintf(`{"seconds":%d}`, by/time.Second)
	return MustDecode[v1.TestClock](t, b.post(t, "/v1/test_helpers/clock/advance", body, options...), 200)
}

// countEvents returns how many events of a kind there are.
func (b *bundle) countEvents(t *testing.T, kind string) int64 {
	t.Helper()
	return b.number(t, "SELECT COUNT(*) FROM events WHERE type = ?", kind)
}

func TestSettlementAtTheCutoff(t *testing.T) {
	t.Parallel()
	b := setup(t) // 09:30 UTC
	vienna := operator.MerchantUpdate{TimeZone: new("Europe/Vienna"), Cutoff: new("11:30")}
	if err := b.core.Admin().UpdateMerchant(t.Context(), b.merchant, vienna); err != nil {
		t.Fatal(err)
	}
	sale := b.MustCreate(t, 100, "").ID
	held := b.MustCreate(t, 100, manual).ID
	MustDecode[v1.Capture](t, b.capture(t, held, `{"amount":40}`), 201)
	b.advance(t, 59*time.Minute)
	if got := b.transaction(t, sale).Settlement; got != v1.SettlementPending {
		t.Errorf("a minute before the cut-off: got %s", got)
	}
	b.advance(t, time.Minute)
	for _, txn := range []string{sale, held} {
		if got := b.transaction(t, txn); got.Settlement != v1.SettlementSettled || got.UpdatedAt.Before(got.CreatedAt.Time) {
			t.Errorf("at the cut-off: got %s", got.Settlement)
		}
	}
	wantRefusal(t, b.void(t, sale), conflict("transaction_not_voidable"))
	b.advance(t, 23*time.Hour)
	MustDecode[v1.Capture](t, b.capture(t, held, ""), 201)
	if got := b.transaction(t, held); got.Settlement != v1.SettlementPending || got.Status != v1.TransactionStatusCaptured {
		t.Errorf("captured since: got %s %s, want pending", got.Status, got.Settlement)
	}
	b.advance(t, 24*time.Hour)
	if got := b.transaction(t, held); got.Settlement != v1.SettlementSettled || got.Version != 5 {
		t.Errorf("the next day: got %s version %d, want settled, 5", got.Settlement, got.Version)
	}
	if got := b.countEvents(t, "transaction.settled"); got != 3 {
		t.Errorf("events: got %d, want 3", got)
	}
	b.advance(t, 48*time.Hour)
	if got := b.countEvents(t, "transaction.settled"); got != 3 {
		t.Errorf("events two days on: got %d, want still 3", got)
	}
	b.wantVersions(t)
}

// wantVersions: every version of every transaction has exactly one event.
func (b *bundle) wantVersions(t *testing.T) {
	t.Helper()
	if got := b.number(t, `SELECT COUNT(*) FROM transactions t WHERE version <> (SELECT COUNT(DISTINCT sequence) FROM events e WHERE e.object_id = t.id)
		OR version <> (SELECT COUNT(*) FROM events e WHERE e.object_id = t.id)`); got != 0 {
		t.Errorf("%d transactions have versions without exactly one event", got)
	}
}

// TestDueWhileTheServiceWasDown: days and authorizations that ended meanwhile are processed after
// the start, in the background.
func TestDueWhileTheServiceWasDown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sale, held := b.MustCreate(t, 100, "").ID, b.MustCreate(t, 100, manual).ID
	b.clock.Advance(8 * 24 * time.Hour)
	b.restart(t)
	programtest.WaitFor(t, "both payments have ended", func() bool {
		return b.transaction(t, sale).Settlement == v1.SettlementSettled && b.transaction(t, held).Status == v1.TransactionStatusExpired
	})
	b.wantTransaction(t, held, v1.TransactionStatusExpired, amounts{100, 0, 0, 0, 0})
	b.wantVersions(t)
}

func TestTestClock(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if got := MustDecode[v1.TestClock](t, b.get(t, "/v1/test_helpers/clock"), 200); got.AheadSeconds != 0 || !got.Now.Equal(birth) {
		t.Errorf("at first: got %+v", got)
	}
	first := b.advance(t, time.Hour, keyed("a"))
	if again := b.advance(t, time.Hour, keyed("a")); again != first || first.AheadSeconds != 3600 {
		t.Errorf("the same request again: got %+v, want %+v", again, first)
	}
	b.restart(t)
	if got := b.advance(t, time.Second); got.AheadSeconds != 3601 || !got.Now.Equal(birth.Add(3601*time.Second)) {
		t.Errorf("after a restart: got %+v", got)
	}
	for body, want := range map[string]refusal{
		`{}`: invalid("missing_field", "seconds"), `{"seconds":0}`: invalid("invalid_value", "seconds"), `{"seconds":-1}`: invalid("invalid_value", "seconds"),
		`{"seconds":31622401}`: invalid("invalid_value", "seconds"), `{"seconds":1.5}`: invalid("invalid_type", "seconds"), `{"minutes":1}`: invalid("unknown_field", "minutes"),
	} {
		wantRefusal(t, b.post(t, "/v1/test_helpers/clock/advance", body), want)
	}
	live := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"})
	denied := refusal{403, v1.ErrorTypePermissionError, "test_mode_only", ""}
	wantRefusal(t, b.get(t, "/v1/test_helpers/clock", as(live)), denied)
	wantRefusal(t, b.post(t, "/v1/test_helpers/clock/advance", `{"seconds":1}`, as(live)), denied)
	wantRefusal(t, b.post(t, "/v1/test_helpers/settlement_runs", "", as(live)), denied)
	wantRefusal(t, b.post(t, "/v1/test_helpers/transactions/"+b.MustCreate(t, 1, manual).ID+"/expire", "", as(live)), denied)
}

func TestClocksAreOfOneMerchant(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := as(coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: coretest.MustCreateMerchant(t, b.core.Admin()), Mode: "test", Kind: "secret"}))
	theirs := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(100, manual), other), 201).ID
	sale := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", create(100, ""), other), 201).ID
	mine := b.MustCreate(t, 100, manual).ID
	b.advance(t, 8*24*time.Hour)
	b.wantTransaction(t, mine, v1.TransactionStatusExpired, amounts{100, 0, 0, 0, 0})
	if got := MustDecode[v1.Transaction](t, b.get(t, "/v1/transactions/"+theirs, other), 200).Status; got != v1.TransactionStatusAuthorized {
		t.Errorf("another merchant's authorization: got %s", got)
	}
	if got := MustDecode[v1.Transaction](t, b.get(t, "/v1/transactions/"+sale, other), 200).Settlement; got != v1.SettlementPending {
		t.Errorf("another merchant's sale: got %s", got)
	}
	wantRefusal(t, b.post(t, "/v1/test_helpers/transactions/"+theirs+"/expire", ""), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
}

func TestSettlementRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 3 {
		b.MustCreate(t, 100, "")
	}
	b.MustCreate(t, 100, manual)
	MustDecode[v1.Transaction](t, b.void(t, b.MustCreate(t, 100, "").ID), 200)
	run := MustDecode[v1.SettlementRun](t, b.post(t, "/v1/test_helpers/settlement_runs", "", keyed("r")), 200)
	settled := run.TransactionsSettled
	for more := run.HasMore; more; { // a busy machine takes several runs
		next := MustDecode[v1.SettlementRun](t, b.post(t, "/v1/test_helpers/settlement_runs", ""), 200)
		settled, more = settled+next.TransactionsSettled, next.HasMore
	}
	if settled != 3 {
		t.Errorf("got %d, want 3", settled)
	}
	b.MustCreate(t, 100, "")
	if again := MustDecode[v1.SettlementRun](t, b.post(t, "/v1/test_helpers/settlement_runs", "", keyed("r")), 200); again != run {
		t.Errorf("the same request again: got %+v, want %+v", again, run)
	}
	if next := MustDecode[v1.SettlementRun](t, b.post(t, "/v1/test_helpers/settlement_runs", "{}"), 200); next.TransactionsSettled != 1 {
		t.Errorf("the next run: got %+v, want 1", next)
	}
	b.wantVersions(t)
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	b := setup(t)
	held, part, sale := b.MustCreate(t, 100, manual), b.MustCreate(t, 100, manual).ID, b.MustCreate(t, 100, "").ID
	MustDecode[v1.Capture](t, b.capture(t, part, `{"amount":40}`), 201)
	b.advance(t, 7*24*time.Hour-time.Second)
	b.wantTransaction(t, held.ID, v1.TransactionStatusAuthorized, amounts{100, 0, 0, 100, 0})
	b.advance(t, time.Second)
	b.wantTransaction(t, held.ID, v1.TransactionStatusExpired, amounts{100, 0, 0, 0, 0})
	b.wantTransaction(t, part, v1.TransactionStatusCaptured, amounts{100, 40, 0, 0, 40})
	b.wantTransaction(t, sale, v1.TransactionStatusCaptured, amounts{100, 100, 0, 0, 100})
	if got := b.countEvents(t, "transaction.expired"); got != 1 {
		t.Errorf("events: got %d, want 1", got)
	}
	wantRefusal(t, b.capture(t, held.ID, ""), conflict("transaction_not_capturable"))
	wantRefusal(t, b.void(t, held.ID), conflict("transaction_not_voidable"))
	MustDecode[v1.Refund](t, b.refund(t, part, ""), 201)
	fresh := b.MustCreate(t, 100, manual).ID // counts its seven days on the test clock
	b.advance(t, 6*24*time.Hour)
	b.wantTransaction(t, fresh, v1.TransactionStatusAuthorized, amounts{100, 0, 0, 100, 0})
	path := "/v1/test_helpers/transactions/" + fresh + "/expire"
	first := b.post(t, path, "", keyed("x"))
	if got := MustDecode[v1.Transaction](t, first, 200).Status; got != v1.TransactionStatusExpired {
		t.Errorf("expired by hand: got %s", got)
	}
	if again := b.post(t, path, "", keyed("x")); string(again.body) != string(first.body) {
		t.Errorf("the same request again: got %s", again.body)
	}
	wantRefusal(t, b.post(t, path, ""), conflict("transaction_not_expirable"))
	wantRefusal(t, b.post(t, "/v1/test_helpers/transactions/"+sale+"/expire", ""), conflict("transaction_not_expirable"))
	b.wantVersions(t)
}

func TestRefundOfOneCapture(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, manual).ID
	first := MustDecode[v1.Capture](t, b.capture(t, txn, `{"amount":30}`), 201).ID
	second := MustDecode[v1.Capture](t, b.capture(t, txn, `{"amount":50}`), 201).ID
	of := func(capture string) string { return `,"capture":"` + capture + `"` }
	wantRefusal(t, b.refund(t, txn, of(first)+`,"amount":31`), tooMuch("amount_exceeds_refundable"))
	if got := MustDecode[v1.Refund](t, b.refund(t, txn, of(first)+`,"amount":29`), 201); *got.Capture != first {
		t.Errorf("got %+v, want it of %s", got, first)
	}
	if got := MustDecode[v1.Refund](t, b.refund(t, txn, of(first)), 201); got.Amount != 1 {
		t.Errorf("the rest: got %d, want 1", got.Amount)
	}
	wantRefusal(t, b.refund(t, txn, of(first)), refusal{409, v1.ErrorTypeInvalidRequestError, "transaction_not_refundable", "capture"})
	if got := MustDecode[v1.Refund](t, b.refund(t, txn, `,"amount":10`), 201); v1.Text(got.Capture) != second {
		t.Errorf("without a name: got %v, want %s", got.Capture, second)
	}
	if got := MustDecode[v1.Refund](t, b.refund(t, txn, ""), 201); got.Amount != 40 || v1.Text(got.Capture) != second {
		t.Errorf("the rest of all: got %d of %v, want 40 of %s", got.Amount, got.Capture, second)
	}
	for id, want := range map[string]int64{first: 30, second: 50} {
		if got := MustDecode[v1.Capture](t, b.get(t, "/v1/captures/"+id), 200).AmountRefunded; got != want {
			t.Errorf("refunded of %s: got %d, want %d", id, got, want)
		}
	}
	b.wantTransaction(t, txn, v1.TransactionStatusPartiallyCaptured, amounts{100, 80, 80, 20, 0})
	both := b.MustCreate(t, 100, manual).ID
	for _, amount := range []string{`{"amount":30}`, `{"amount":70}`} {
		b.capture(t, both, amount)
	}
	for _, amount := range []string{"", `,"amount":71`} {
		e := wantRefusal(t, b.refund(t, both, amount), tooMuch("amount_exceeds_refundable"))
		if !strings.Contains(e.Message, "30 of cap_") || !strings.Contains(e.Message, "70 of cap_") {
			t.Errorf("more than one capture has: got %q, want the rest of each", e.Message)
		}
	}
	elsewhere := MustDecode[v1.CaptureList](t, b.get(t, "/v1/transactions/"+b.MustCreate(t, 100, "").ID+"/captures"), 200).Data[0].ID
	missing := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "capture"}
	for _, capture := range []string{elsewhere, "cap_0000000000001", txn, ""} {
		wantRefusal(t, b.refund(t, txn, of(capture)+`,"amount":1`), missing)
	}
	only := b.MustCreate(t, 100, "").ID
	if got := MustDecode[v1.Refund](t, b.refund(t, only, `,"amount":60`), 201); got.Capture == nil {
		t.Error("a refund of the only capture does not say so")
	}
	if got := MustDecode[v1.CaptureList](t, b.get(t, "/v1/transactions/"+only+"/captures"), 200).Data[0].AmountRefunded; got != 60 {
		t.Errorf("refunded of the only capture: got %d, want 60", got)
	}
}
