package engine_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// confirmable is the payment that a waiting transaction becomes when it is confirmed.
type confirmable struct {
	capture bool
	lapses  time.Time
}

func (m *machine) prepare(rt *rapid.T) {
	amount, w := rapid.Int64Range(1, 200).Draw(rt, "amount"), confirmable{capture: rapid.Bool().Draw(rt, "capture")}
	last := m.s.Number(m.t, "SELECT COALESCE(MAX(id), 0) FROM transactions")
	m.arrange(rt) // the acquirer gets no request, so its reaction does not matter
	if a, err := m.s.Prepare(m.t.Context(), m.s.Request(""), amount, w.capture); err != nil || a.Status != 201 {
		rt.Fatalf("got %d, %v: %s", a.Status, err, a.Body)
	}
	txn := m.s.Number(m.t, "SELECT id FROM transactions WHERE id > ?", last)
	m.txns[txn], m.order, m.last = &model{status: "requires_confirmation", amount: amount}, append(m.order, txn), txn
	w.lapses = m.s.Clock.Now().Add(payment.ConfirmWithin)
	m.waiting[txn] = w
}

// change changes a description, and in two of three cases the amount.
func (m *machine) change(rt *rapid.T) {
	txn, now := m.pick(rt)
	amount := rapid.SampledFrom([]int64{0, now.amount, now.amount%200 + 1}).Draw(rt, "amount")
	a, err := m.s.Change(m.t.Context(), m.s.Request(""), txn, amount, fmt.Sprint(m.s.IDs.Next()))
	if amount != 0 && now.status != "requires_confirmation" {
		m.refused(rt, a, err, payment.NotChangeable)
		return
	}
	if err != nil || a.Status != 200 {
		rt.Fatalf("got %d, %v: %s", a.Status, err, a.Body)
	}
	now.version++
	if amount != 0 {
		now.change(amount)
	}
}

func (m *machine) confirm(rt *rapid.T) {
	txn, now := m.pick(rt)
	currency := rapid.SampledFrom([]string{"", "usd", "usd", "usd", "eur"}).Draw(rt, "currency")
	amount := now.amount + rapid.SampledFrom([]int64{0, 0, 0, 1}).Draw(rt, "more")
	f := m.arrange(rt)
	a, err := m.s.ConfirmOf(m.t.Context(), m.s.Request(""), txn, amount, currency)
	if now.status != "requires_confirmation" {
		m.refused(rt, a, err, payment.NotConfirmable)
		return
	}
	if !now.confirms(amount, currency) {
		m.refused(rt, a, err, payment.TransactionChanged)
		return
	}
	f = f.taken(now.amount, false)
	happened := m.end(rt, f, 200, a, err)
	switch {
	case f == declines:
		now.decline()
	case f == losesBefore:
		now.status, now.version = "failed", now.version+1
	case !happened: // it waits again
	default:
		now.status, now.version, now.authorized = "authorized", now.version+1, f.granted(now.amount)
		if m.waiting[txn].capture {
			now.status, now.captured = "captured", now.authorized
		}
	}
	m.noteCapture(rt, txn)
}
