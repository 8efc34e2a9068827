package engine_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// confirmable is the payment that a waiting transaction becomes when it is confirmed.
type confirmable struct {
	amount  int64
	capture bool
	lapses  time.Time
}

func (m *machine) prepare(rt *rapid.T) {
	w := confirmable{amount: rapid.Int64Range(1, 200).Draw(rt, "amount"), capture: rapid.Bool().Draw(rt, "capture")}
	last := m.s.Number(m.t, "SELECT COALESCE(MAX(id), 0) FROM transactions")
	m.arrange(rt) // the acquirer gets no request, so its reaction does not matter
	if a, err := m.s.Prepare(m.t.Context(), m.s.Request(""), w.amount, w.capture); err != nil || a.Status != 201 {
		rt.Fatalf("got %d, %v: %s", a.Status, err, a.Body)
	}
	txn := m.s.Number(m.t, "SELECT id FROM transactions WHERE id > ?", last)
	m.txns[txn], m.order, m.last = &model{status: "requires_confirmation"}, append(m.order, txn), txn
	w.lapses = m.s.Clock.Now().Add(payment.ConfirmWithin)
	m.waiting[txn] = w
}

func (m *machine) confirm(rt *rapid.T) {
	txn, now := m.pick(rt)
	f := m.arrange(rt)
	a, err := m.s.Confirm(m.t.Context(), m.s.Request(""), txn)
	if now.status != "requires_confirmation" {
		m.refused(rt, a, err, payment.NotConfirmable)
		return
	}
	w := m.waiting[txn]
	f = f.taken(w.amount, false)
	happened := m.end(rt, f, 200, a, err)
	switch {
	case f == declines:
		now.status, now.version = "declined", 1
	case !happened, f == losesBefore: // it waits again
	case w.capture:
		now.status, now.version, now.authorized, now.captured = "captured", 1, f.granted(w.amount), f.granted(w.amount)
	default:
		now.status, now.version, now.authorized = "authorized", 1, f.granted(w.amount)
	}
	m.noteCapture(rt, txn)
}
