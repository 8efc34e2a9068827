package engine_test

import (
	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// part is the expected state of a capture.
type part struct {
	id               int64
	amount, refunded int64
}

// noteCapture looks for the capture that the latest command on a transaction made. Its amount
// follows from the captured amount of the transaction.
func (m *machine) noteCapture(rt *rapid.T, txn int64) {
	var known, latest int64
	for _, p := range m.captures[txn] {
		known, latest = known+p.amount, p.id
	}
	if amount := m.txns[txn].captured - known; amount != 0 {
		capture := m.s.Number(m.t, "SELECT COALESCE(MAX(id), 0) FROM captures WHERE transaction_id = ? AND state = 'succeeded'", txn)
		if capture <= latest {
			rt.Fatalf("%d were captured without a capture", amount)
		}
		m.captures[txn] = append(m.captures[txn], &part{id: capture, amount: amount})
	}
}

// refundCapture refunds one capture.
func (m *machine) refundCapture(rt *rapid.T) {
	txn, now := m.pick(rt)
	if len(m.captures[txn]) == 0 {
		rt.Skip("nothing was captured")
	}
	of := rapid.SampledFrom(m.captures[txn]).Draw(rt, "capture")
	amount := rapid.Int64Range(0, 120).Draw(rt, "amount")
	f := m.arrange(rt)
	a, err := m.s.Engine.Refund(m.t.Context(), m.s.Request(""), txn, of.id, amount, []byte("{}"))
	switch left := min(now.refundable(), of.amount-of.refunded); {
	case left == 0 && now.refundable() > 0 && amount > now.refundable():
		m.refused(rt, a, err, payment.AmountExceedsRefundable) // the transaction is checked first
		return
	case left == 0:
		m.refused(rt, a, err, payment.NotRefundable)
		return
	case amount > left:
		m.refused(rt, a, err, payment.AmountExceedsRefundable)
		return
	case amount == 0:
		amount = left
	}
	if m.end(rt, f, 201, a, err) {
		now.refunded += amount
		of.refunded += amount
	}
	m.checkCapture(rt, of)
}

// fitting returns the capture of which a refund that names none is: the one with the smallest rest
// that is large enough. It returns nil if there is none.
func (m *machine) fitting(txn, amount int64) *part {
	var best *part
	for _, p := range m.captures[txn] {
		rest := p.amount - p.refunded
		if rest >= amount && (best == nil || rest < best.amount-best.refunded) {
			best = p
		}
	}
	return best
}

// checkCapture compares a capture with the model.
func (m *machine) checkCapture(rt *rapid.T, of *part) {
	c, err := m.s.DB.Capture(m.t.Context(), m.s.Tenant, of.id)
	if err != nil || c.Amount != of.amount || c.Refunded != of.refunded || c.RefundPending != 0 {
		rt.Fatalf("capture: got %+v, %v, want %+v", c, err, *of)
	}
}
