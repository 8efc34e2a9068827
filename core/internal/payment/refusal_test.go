package payment_test

import (
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// code returns the code of a refusal, or "" if r is nil.
func code(r *payment.Refusal) string {
	if r == nil {
		return ""
	}
	if r.Message == "" {
		return r.Code + " without a message"
	}
	return r.Code
}

const busy = payment.OperationInProgress

func settled(tx *payment.Transaction) { tx.Settled = tx.Captured }

// refusalCases are transactions, and the codes with which steps on them are refused; "" if a step
// is allowed.
var refusalCases = []struct {
	name                          string
	transaction                   payment.Transaction
	change                        func(*payment.Transaction)
	capture, void, refund, settle string
}{
	{
		"waits for its confirmation",
		payment.Transaction{Status: payment.RequiresConfirmation},
		nil, payment.NotCapturable, "",
		payment.NotRefundable, payment.NotSettleable,
	},
	{
		"canceled",
		payment.Transaction{Status: payment.Canceled},
		nil, payment.NotCapturable, payment.NotVoidable,
		payment.NotRefundable, payment.NotSettleable,
	},
	{
		"verified",
		payment.Transaction{Status: payment.Authorized},
		nil, payment.NotCapturable, "", payment.NotRefundable,
		payment.NotSettleable,
	},
	{"processing", payment.Transaction{Status: payment.Processing}, nil, busy, busy, busy, payment.NotSettleable},
	{"unknown", payment.Transaction{Status: payment.Unknown}, nil, busy, busy, busy, payment.NotSettleable},
	{
		"authorized",
		payment.Transaction{Status: payment.Authorized, Authorized: 100},
		nil, "", "", payment.NotRefundable,
		payment.NotSettleable,
	},
	{
		"captured in part",
		payment.Transaction{Status: payment.PartiallyCaptured, Authorized: 100, Captured: 40},
		nil, "",
		"", "", "",
	},
	{
		"captured",
		payment.Transaction{Status: payment.Captured, Authorized: 100, Captured: 100},
		nil,
		payment.NotCapturable, "", "", "",
	},
	{
		"settled",
		payment.Transaction{Status: payment.Captured, Authorized: 100, Captured: 100},
		settled,
		payment.NotCapturable, payment.NotVoidable, "", payment.NotSettleable,
	},
	{
		"refunded in part",
		payment.Transaction{Status: payment.Captured, Authorized: 100, Captured: 100, Refunded: 60},
		nil,
		payment.NotCapturable, payment.NotVoidable, "", "",
	},
	{
		"refunded",
		payment.Transaction{Status: payment.Captured, Authorized: 100, Captured: 100, Refunded: 100},
		nil,
		payment.NotCapturable, payment.NotVoidable, payment.NotRefundable, "",
	},
	{
		"refund pending",
		payment.Transaction{Status: payment.Captured, Authorized: 100, Captured: 100, RefundPending: 60},
		nil, payment.NotCapturable, busy, "", "",
	},
	{"full refund pending", payment.Transaction{
		Status: payment.Captured, Authorized: 100, Captured: 100,
		RefundPending: 100,
	}, nil, payment.NotCapturable, busy, busy, ""},
	{"capture pending", payment.Transaction{
		Status: payment.PartiallyCaptured, Authorized: 100, Captured: 40,
		CapturePending: 1, Operation: payment.CaptureOperation,
	}, nil, busy, busy, "", busy},
	{"the most captures", payment.Transaction{
		Status: payment.PartiallyCaptured, Authorized: 1000, Captured: 250, CapturesBegun: payment.MaxCaptures,
	}, nil, payment.NotCapturable, "", "", ""},
	{"one capture fewer", payment.Transaction{
		Status: payment.PartiallyCaptured, Authorized: 1000, Captured: 249, CapturesBegun: payment.MaxCaptures - 1,
	}, nil, "", "", "", ""},
	{"void pending", payment.Transaction{
		Status: payment.Captured, Authorized: 100, Captured: 100,
		Operation: payment.VoidOperation,
	}, nil, busy, busy, busy, busy},
	{
		"voided",
		payment.Transaction{Status: payment.Voided, Authorized: 100},
		nil, payment.NotCapturable,
		payment.NotVoidable, payment.NotRefundable, payment.NotSettleable,
	},
	{
		"declined",
		payment.Transaction{Status: payment.Declined},
		nil, payment.NotCapturable, payment.NotVoidable,
		payment.NotRefundable, payment.NotSettleable,
	},
	{
		"failed",
		payment.Transaction{Status: payment.Failed},
		nil, payment.NotCapturable, payment.NotVoidable,
		payment.NotRefundable, payment.NotSettleable,
	},
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range refusalCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tx := c.transaction
			if c.change != nil {
				c.change(&tx)
			}
			got := [4]string{code(tx.WhyNoCapture(0)), code(tx.WhyNoVoid()), code(tx.WhyNoRefund(0)), code(tx.WhyNoSettle())}
			if want := [4]string{c.capture, c.void, c.refund, c.settle}; got != want {
				t.Errorf("capture, void, refund, settle: got %q, want %q", got, want)
			}
		})
	}
}

func TestRefusedAmounts(t *testing.T) {
	t.Parallel()
	tx := payment.Transaction{
		Status: payment.PartiallyCaptured, Authorized: 100, Captured: 40, Refunded: 10,
		RefundPending: 5,
	}
	for _, c := range []struct {
		amount          int64
		capture, refund string
	}{
		{1, "", ""},
		{25, "", ""},
		{26, "", payment.AmountExceedsRefundable},
		{60, "", payment.AmountExceedsRefundable},
		{61, payment.AmountExceedsCapturable, payment.AmountExceedsRefundable},
	} {
		if got, want := code(tx.WhyNoCapture(c.amount)), c.capture; got != want {
			t.Errorf("capture of %d: got %q, want %q", c.amount, got, want)
		}
		refusal := tx.WhyNoRefund(c.amount)
		if got, want := code(refusal), c.refund; got != want {
			t.Errorf("refund of %d: got %q, want %q", c.amount, got, want)
		}
		if refusal != nil && (refusal.Param != "amount") {
			t.Errorf("refund of %d: got %+v, want it to name the amount", c.amount, refusal)
		}
	}
}

func TestRefusedConfirmations(t *testing.T) {
	t.Parallel()
	for _, s := range payment.Statuses() {
		want := payment.NotConfirmable
		switch {
		case s == payment.RequiresConfirmation:
			want = ""
		case s.Open():
			want = payment.OperationInProgress
		}
		tx := payment.Transaction{Status: s}
		if got := code(tx.WhyNoConfirm()); got != want {
			t.Errorf("%s: got %q, want %q", s, got, want)
		}
	}
}

// TestConfirmationsOfAnAmount: a confirmation takes the amount that the payer has seen, or none. A
// changed amount must be named.
func TestConfirmationsOfAnAmount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		changed  bool
		amount   int64
		currency string
		want     string
	}{
		{false, 0, "", ""},
		{false, 500, "usd", ""},
		{false, 501, "usd", payment.TransactionChanged},
		{false, 500, "eur", payment.TransactionChanged},
		{false, 0, "usd", payment.TransactionChanged},
		{true, 0, "", payment.TransactionChanged},
		{true, 500, "usd", ""},
		{true, 499, "usd", payment.TransactionChanged},
	} {
		tx := payment.Transaction{Amount: 500, Currency: "usd", AmountChanged: c.changed}
		tx.Status = payment.RequiresConfirmation
		if got := code(tx.WhyNoConfirmOf(c.amount, c.currency)); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
		tx.Status = payment.Captured
		if got := code(tx.WhyNoConfirmOf(c.amount, c.currency)); got != payment.NotConfirmable {
			t.Errorf("%+v of a captured one: got %q", c, got)
		}
	}
}

func TestRefusedChanges(t *testing.T) {
	t.Parallel()
	for _, s := range payment.Statuses() {
		late, early := "", payment.NotChangeable
		switch s {
		case payment.Processing:
			late, early = payment.OperationInProgress, payment.OperationInProgress
		case payment.RequiresConfirmation:
			early = ""
		default:
		}
		tx := payment.Transaction{Status: s}
		if got := code(tx.WhyNoChange("")); got != late {
			t.Errorf("%s: got %q, want %q", s, got, late)
		}
		if got := code(tx.WhyNoChange("amount")); got != early {
			t.Errorf("%s, of the amount: got %q, want %q", s, got, early)
		}
	}
}

// TestDeclines: only a confirmation whose outcome was never lost can be repeated, four times.
func TestDeclines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status            payment.Status
		attempt, declined int64
		want              payment.Step
	}{
		{payment.Processing, 0, 0, payment.Decline},
		{payment.Processing, 1, 0, payment.DeclineTry},
		{payment.Processing, 7, 3, payment.DeclineTry},
		{payment.Processing, 5, 4, payment.Decline},
		{payment.Unknown, 1, 0, payment.Decline},
	} {
		tx := payment.Transaction{Status: c.status, Attempt: c.attempt, DeclinedConfirmations: c.declined}
		if got := tx.Declined(); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

func TestSettlement(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		captured, settled int64
		want              payment.Settlement
	}{{0, 0, payment.SettlementNone}, {10, 0, payment.SettlementPending}, {10, 9, payment.SettlementPending}, {
		10, 10,
		payment.SettlementSettled,
	}} {
		tx := payment.Transaction{Captured: c.captured, Settled: c.settled}
		if got := tx.Settlement(); got != c.want {
			t.Errorf("%d of %d: got %s, want %s", c.settled, c.captured, got, c.want)
		}
	}
}
