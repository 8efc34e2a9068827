package engine_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// asked is a step that a client takes on a transaction of 100.
type asked struct {
	verb   string
	amount int64
}

// declinedAmount is the amount that the acquirer declines.
const declinedAmount = 120

// stepResult is the result of a step. A busy step had no effect, and its result has no other value.
type stepResult struct {
	ok, busy, declined bool
	seen               model // by a read
}

// sequential is the model of a transaction whose steps run one after the other.
var sequential = porcupine.Model{
	Init: func() any { return model{status: "requires_confirmation", amount: 100} },
	Step: func(state, input, output any) (bool, any) {
		now, in, out := state.(model), input.(asked), output.(stepResult)
		if out.busy {
			return true, now
		}
		if in.verb == "read" {
			return out.seen == now, now
		}
		next, allowed := now.after(in)
		declined := next.declines != now.declines || next.status == "declined" && now.status != "declined"
		return out.ok == allowed && out.declined == declined, next
	},
}

// after returns the state after an allowed step.
func (m model) after(in asked) (model, bool) {
	switch in.verb {
	case "confirm":
		if m.status != "requires_confirmation" || !m.confirms(in.amount, "usd") {
			return m, false
		}
		if in.amount == declinedAmount {
			m.decline()
			m.version = 0 // not seen
			return m, false
		}
		m.status, m.authorized = "authorized", m.amount
	case "change":
		if m.status != "requires_confirmation" {
			return m, false
		}
		m.change(in.amount)
	case "capture", "final":
		if in.amount > m.capturable() {
			return m, false
		}
		m.status = "partially_captured"
		if m.captured += in.amount; m.captured == m.authorized || in.verb == "final" {
			m.status = "captured"
		}
	case "refund":
		if in.amount > m.refundable() {
			return m, false
		}
		m.refunded += in.amount
	case "void":
		if !m.voidable() {
			return m, false
		}
		if m.status == "requires_confirmation" {
			m.status = "canceled"
			return m, true
		}
		m.status, m.captured = "voided", 0
	}
	return m, true
}

// take takes a step on the real transaction.
func take(t *testing.T, s *coretest.Service, txn int64, in asked) stepResult {
	t.Helper()
	var a engine.Result
	var err error
	switch in.verb {
	case "confirm":
		a, err = s.ConfirmOf(t.Context(), s.Request(""), txn, in.amount, "usd")
	case "change":
		a, err = s.Change(t.Context(), s.Request(""), txn, in.amount, "changed")
	case "capture", "final":
		a, err = s.Engine.Capture(t.Context(), s.Request(""), txn, in.amount, in.verb == "final", nil)
	case "refund":
		a, err = s.Engine.Refund(t.Context(), s.Request(""), txn, 0, in.amount, []byte("{}"))
	case "void":
		a, err = s.Engine.Void(t.Context(), s.Request(""), txn, nil)
	default:
		return observe(t, s, txn)
	}
	if err != nil {
		t.Error(err)
	}
	var refused v1.ErrorBody
	if a.Status >= 400 && json.Unmarshal(a.Body, &refused) != nil {
		t.Errorf("got %d %s", a.Status, a.Body)
	}
	return stepResult{ok: a.Status < 400, busy: refused.Error.Code == payment.OperationInProgress, declined: a.Status == 402}
}

// observe reads the transaction. During an acquirer call, a step shows no effect, but a refund
// counts from its intent on.
func observe(t *testing.T, s *coretest.Service, txn int64) stepResult {
	t.Helper()
	got, err := s.DB.Transaction(t.Context(), s.Tenant, txn)
	if err != nil {
		t.Error(err)
		return stepResult{busy: true}
	}
	return stepResult{busy: got.Status.Open(), seen: model{
		status: v1.TransactionStatus(got.Status), amount: got.Amount, changed: got.AmountChanged, declines: got.DeclinedConfirmations,
		authorized: got.Authorized, captured: got.Captured, refunded: got.Refunded + got.RefundPending,
	}}
}

// linearRounds returns the rounds of TestLinearizable. With 13 each client begins once with each
// line of the menu.
func linearRounds() int {
	if coretest.Shared() && !programtest.Soak() {
		return 13
	}
	return 60
}

// TestLinearizable: the results of 16 concurrent clients of one transaction are also possible in
// some sequence of their steps. This sequence respects the begin and the end of each request.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	const clients = 16
	rounds := linearRounds()
	s := coretest.Open(t)
	s.Acquirer.Decide = func(c coretest.Call) string {
		if c.Verb == coretest.Authorize && c.Amount == declinedAmount {
			return "generic_decline"
		}
		return ""
	}
	menu := []asked{
		{"change", declinedAmount},
		{"confirm", declinedAmount},
		{"change", 100},
		{"confirm", 100},
		{"confirm", declinedAmount},
		{"capture", 30},
		{"read", 0},
		{"refund", 20},
		{"capture", 40},
		{"refund", 50},
		{"read", 0},
		{"void", 0},
		{"final", 20},
	}
	for round := range rounds {
		if a, err := s.Prepare(t.Context(), s.Request(""), 100, false); err != nil || a.Status != 201 {
			t.Fatalf("got %d, %v", a.Status, err)
		}
		txn := s.Number(t, "SELECT MAX(id) FROM transactions")
		var now atomic.Int64 // orders what begins and ends
		history := make([]porcupine.Operation, clients*3)
		var wg sync.WaitGroup
		for client := range clients {
			wg.Go(func() {
				for i := range 3 {
					in := menu[(client*5+i*3+round)%len(menu)]
					op := porcupine.Operation{ClientId: client, Input: in, Call: now.Add(1)}
					op.Output = take(t, s, txn, in)
					op.Return = now.Add(1)
					history[client*3+i] = op
				}
			})
		}
		wg.Wait()
		if got := porcupine.CheckOperationsTimeout(sequential, history, programtest.Patience); got != porcupine.Ok {
			t.Fatalf("round %d: %s: %+v", round, got, history)
		}
	}
	wantSettledBooks(t, s)
}
