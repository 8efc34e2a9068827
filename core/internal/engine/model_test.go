package engine_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// fate is the acquirer's reaction to the next request.
type fate int

const (
	approves fate = iota
	declines
	losesBefore
	losesAfter
	isAway
	approvesPart // of an authorization: half of it, rounded up
)

// taken returns the effect of a fate on a payment. A partial approval is a decline if the payment
// needs the whole amount.
func (f fate) taken(amount int64, partial bool) fate {
	if !partial && f.granted(amount) < amount {
		return declines
	}
	return f
}

// granted returns the approved part of an authorization of amount.
func (f fate) granted(amount int64) int64 {
	if f == approvesPart {
		return (amount + 1) / 2
	}
	return amount
}

// model is the expected state of a transaction.
type model struct {
	status                                  v1.TransactionStatus
	amount                                  int64
	changed                                 bool // the amount, after the creation
	declines                                int64
	authorized, captured, settled, refunded int64
	version                                 int64
}

// decline is a decline of a confirmation.
func (m *model) decline() {
	m.version++
	if m.declines++; m.declines == payment.MaxDeclinedConfirmations {
		m.declines, m.status = m.declines-1, "declined" // the last one is not counted
	}
}

// change changes the amount of a transaction that waits to be confirmed.
func (m *model) change(amount int64) {
	m.changed, m.amount = m.changed || amount != m.amount, amount
}

// confirms reports whether a confirmation of an amount is not refused. An empty currency names
// none.
func (m *model) confirms(amount int64, currency string) bool {
	return currency == "" && !m.changed || currency == "usd" && amount == m.amount
}

func (m *model) capturable() int64 {
	if m.status != "authorized" && m.status != "partially_captured" {
		return 0
	}
	return m.authorized - m.captured
}

func (m *model) refundable() int64 {
	if m.status != "captured" && m.status != "partially_captured" {
		return 0
	}
	return m.captured - m.refunded
}

func (m *model) voidable() bool {
	held := m.status == "authorized" || m.status == "partially_captured" || m.status == "captured"
	return m.status == "requires_confirmation" || held && m.settled == 0 && m.refunded == 0
}

// machine drives the real engine on a real store and a model side by side.
type machine struct {
	t     *testing.T
	s     *coretest.Service
	since int64 // ids of this history are greater
	txns  map[int64]*model
	order []int64
	last  int64 // the transaction of the latest command, 0 for none

	waiting  map[int64]confirmable // of the transactions that were made to be confirmed
	captures map[int64][]*part     // of the transactions that were captured, oldest first
}

// TestRandomHistories: merchants and acquirers act in any order, and the books agree with a model
// of a few lines.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t) // one for all histories: each has separate transactions
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{t: t, s: s, since: s.IDs.Next(), txns: map[int64]*model{}, waiting: map[int64]confirmable{}, captures: map[int64][]*part{}}
		rt.Repeat(map[string]func(*rapid.T){
			"create": m.create, "prepare": m.prepare, "confirm": m.confirm, "change": m.change, "capture": m.capture, "void": m.void, "refund": m.refund,
			"refund a capture": m.refundCapture, "settle": m.settle, "end the day": m.endDay, "expire": m.expire, "lapse": m.lapse, "": m.checkLast,
		})
		m.checkAll(rt)
	})
}

// arrange draws a fate and sets it in the acquirer.
func (m *machine) arrange(rt *rapid.T) fate {
	f := fate(rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2, 3, 4, 5}).Draw(rt, "fate"))
	heal(m.s)
	switch f {
	case approves:
	case approvesPart:
		m.s.Acquirer.Grant = func(c coretest.Call) int64 { return f.granted(c.Amount) }
	case declines:
		m.s.Acquirer.Decide = func(coretest.Call) string { return "generic_decline" }
	case losesBefore:
		m.s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnknown }
	case losesAfter:
		m.s.Acquirer.After = func(context.Context, coretest.Call) error { return errors.New("connection reset") }
	case isAway:
		m.s.Acquirer.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
	}
	return f
}

// end checks the result of a step that the model allows, finishes the lost steps, and reports
// whether the step took place.
func (m *machine) end(rt *rapid.T, f fate, success int, a engine.Result, err error) bool {
	want := map[fate]int{approves: success, approvesPart: success, declines: 402, losesBefore: 504, losesAfter: 504, isAway: 0}[f]
	if a.Status != want || (f == isAway) != errors.Is(err, engine.ErrAcquirerUnavailable) {
		rt.Fatalf("got %d, %v, want %d: %s", a.Status, err, want, a.Body)
	}
	heal(m.s)
	if open := m.s.Recover(m.t); open != 0 {
		rt.Fatalf("%d stay open", open)
	}
	return f != declines && f != isAway
}

func (m *machine) create(rt *rapid.T) {
	amount := rapid.Int64Range(1, 200).Draw(rt, "amount")
	capture := rapid.Bool().Draw(rt, "capture")
	last := m.s.Number(m.t, "SELECT COALESCE(MAX(id), 0) FROM transactions")
	partial := rapid.Bool().Draw(rt, "partial")
	f, pay := m.arrange(rt), m.s.Pay
	if partial {
		pay = m.s.PayPart
	}
	a, err := pay(m.t.Context(), m.s.Request(""), amount, capture)
	f = f.taken(amount, partial)
	happened := m.end(rt, f, 201, a, err)
	if f == isAway {
		if got := m.s.Number(m.t, "SELECT COALESCE(MAX(id), 0) FROM transactions"); got != last {
			rt.Fatalf("a payment that never was left %d", got)
		}
		return
	}
	txn := m.s.Number(m.t, "SELECT id FROM transactions WHERE id > ?", last)
	now := &model{status: "declined", amount: amount, version: 1}
	switch {
	case f == losesBefore: // without a key it is closed as failed
		now.status = "failed"
	case happened && capture:
		now.status, now.authorized, now.captured = "captured", f.granted(amount), f.granted(amount)
	case happened:
		now.status, now.authorized = "authorized", f.granted(amount)
	}
	m.txns[txn], m.order, m.last = now, append(m.order, txn), txn
	m.noteCapture(rt, txn)
}

// pick draws one of the transactions so far.
func (m *machine) pick(rt *rapid.T) (int64, *model) {
	if len(m.order) == 0 {
		rt.Skip("nothing to choose from")
	}
	txn := rapid.SampledFrom(m.order).Draw(rt, "transaction")
	m.last = txn
	return txn, m.txns[txn]
}

// refused checks a step that the model does not allow: the client gets a refusal, and the acquirer
// gets no request.
func (m *machine) refused(rt *rapid.T, a engine.Result, err error, code string) {
	var body v1.ErrorBody
	if err != nil || json.Unmarshal(a.Body, &body) != nil || body.Error.Code != code {
		rt.Fatalf("got %d, %v, want %s: %s", a.Status, err, code, a.Body)
	}
}

func (m *machine) capture(rt *rapid.T) {
	txn, now := m.pick(rt)
	amount := rapid.Int64Range(0, 120).Draw(rt, "amount")
	final := rapid.Bool().Draw(rt, "final")
	f := m.arrange(rt)
	a, err := m.s.Engine.Capture(m.t.Context(), m.s.Request(""), txn, amount, final, nil)
	switch left := now.capturable(); {
	case left == 0:
		m.refused(rt, a, err, payment.NotCapturable)
		return
	case amount > left:
		m.refused(rt, a, err, payment.AmountExceedsCapturable)
		return
	case amount == 0:
		amount = left
	}
	if m.end(rt, f, 201, a, err) {
		now.captured += amount
		now.version++
		now.status = "partially_captured"
		if final || now.captured == now.authorized {
			now.status = "captured"
		}
	}
	m.noteCapture(rt, txn)
}

func (m *machine) void(rt *rapid.T) {
	txn, now := m.pick(rt)
	f := m.arrange(rt)
	a, err := m.s.Engine.Void(m.t.Context(), m.s.Request(""), txn, nil)
	if now.status == "requires_confirmation" { // it is canceled without a request to the acquirer
		f = approves
	}
	if !now.voidable() {
		m.refused(rt, a, err, payment.NotVoidable)
		return
	}
	if m.end(rt, f, 200, a, err) {
		now.status, now.captured = map[bool]v1.TransactionStatus{true: "canceled", false: "voided"}[now.status == "requires_confirmation"], 0
		now.version++
		delete(m.captures, txn)
	}
}

func (m *machine) refund(rt *rapid.T) {
	txn, now := m.pick(rt)
	amount := rapid.Int64Range(0, 120).Draw(rt, "amount")
	f := m.arrange(rt)
	a, err := m.s.Engine.Refund(m.t.Context(), m.s.Request(""), txn, 0, amount, []byte("{}"))
	switch left := now.refundable(); {
	case left == 0:
		m.refused(rt, a, err, payment.NotRefundable)
		return
	case amount > left:
		m.refused(rt, a, err, payment.AmountExceedsRefundable)
		return
	case amount == 0:
		amount = left
	}
	of := m.fitting(txn, amount)
	if of == nil {
		m.refused(rt, a, err, payment.AmountExceedsRefundable)
		return
	}
	if m.end(rt, f, 201, a, err) {
		now.refunded += amount
		of.refunded += amount
	}
	m.checkCapture(rt, of)
}

func (m *machine) settle(rt *rapid.T) {
	txn, now := m.pick(rt)
	a, err := m.s.Engine.Settle(m.t.Context(), m.s.Request(""), txn)
	if now.settled == now.captured {
		m.refused(rt, a, err, payment.NotSettleable)
		return
	}
	if err != nil || a.Status != 200 {
		rt.Fatalf("got %d, %v: %s", a.Status, err, a.Body)
	}
	now.settled = now.captured
	now.version++
}

func (m *machine) expire(rt *rapid.T) {
	txn, now := m.pick(rt)
	a, err := m.s.Engine.Expire(m.t.Context(), m.s.Request(""), txn)
	if now.capturable() == 0 && now.status != "requires_confirmation" {
		m.refused(rt, a, err, payment.NotExpirable)
		return
	}
	if err != nil || a.Status != 200 {
		rt.Fatalf("got %d, %v: %s", a.Status, err, a.Body)
	}
	now.end()
}

// checkLast checks the transaction of the latest command. All are checked at the end.
func (m *machine) checkLast(rt *rapid.T) {
	if m.last != 0 {
		m.check(rt, m.last)
	}
}

// check compares a transaction, as the API shows it, with the model.
func (m *machine) check(rt *rapid.T, txn int64) {
	want := m.txns[txn]
	stored, err := m.s.DB.Transaction(m.t.Context(), m.s.Tenant, txn)
	if err != nil {
		rt.Fatal(err)
	}
	var got v1.Transaction
	if err := json.Unmarshal(api.Render(engine.Result{Object: stored}).Body, &got); err != nil {
		rt.Fatal(err)
	}
	shown := model{
		status: got.Status, amount: got.Amount, changed: stored.AmountChanged, declines: stored.DeclinedConfirmations,
		authorized: got.AmountAuthorized, captured: got.AmountCaptured, settled: stored.Settled,
		refunded: got.AmountRefunded, version: got.Version,
	}
	if shown != *want || got.AmountCapturable != want.capturable() || got.AmountRefundable != want.refundable() {
		rt.Fatalf("got %+v capturable %d refundable %d, want %+v", shown, got.AmountCapturable, got.AmountRefundable, *want)
	}
	m.checkRows(rt, txn, want)
}

// checkRows compares the rows around a transaction with the model. It reads only the rows of this
// history, because events have no index for the transaction.
func (m *machine) checkRows(rt *rapid.T, txn int64, want *model) {
	refunds := m.s.Number(m.t, "SELECT COALESCE(SUM(amount), 0) FROM refunds WHERE state <> 'failed' AND transaction_id = ?", txn)
	if refunds != want.refunded {
		rt.Fatalf("refunds: got %d, want %d", refunds, want.refunded)
	}
	captures := m.s.Number(m.t, "SELECT COALESCE(SUM(amount), 0) FROM captures WHERE state = 'succeeded' AND transaction_id = ?", txn)
	if captures != want.captured {
		rt.Fatalf("captures: got %d, want %d", captures, want.captured)
	}
	events := m.s.Texts(m.t, "SELECT sequence FROM events WHERE id > ? AND object_id = ? ORDER BY sequence", m.since, txn)
	for i, sequence := range events {
		if sequence != strconv.Itoa(i+1) {
			rt.Fatalf("events: got %v", events)
		}
	}
	if int64(len(events)) != want.version {
		rt.Fatalf("events: got %v, want %d", events, want.version)
	}
}
