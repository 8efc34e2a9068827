package crash

import (
	"strings"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// refusedAsVoided is the code with which the simulator refuses a request that was voided before it
// arrived.
const refusedAsVoided = "12"

// acquirerAgrees compares the acquirer's journal with v1. The acquirer must hold, and have moved,
// exactly the money that v1 shows.
func (j *judge) acquirerAgrees() {
	if j.later {
		return // the journal drops old lines; each round was compared with it before
	}
	for _, reference := range j.journal.twice {
		j.failf("the acquirer did %s twice", reference)
	}
	for _, e := range j.journal.entries {
		if e.response == refusedAsVoided && !j.hostile {
			j.failf("the acquirer got %s after it had released it", e.reference)
		}
	}
	known := map[string]bool{}
	for _, t := range j.transactions {
		known[t.ID] = true
		j.heldAsShown(t)
		j.stepsAsShown(t)
	}
	j.creditsAsShown()
	j.creditsOnce()
	for transaction := range j.journal.byTxn {
		if !strings.HasPrefix(transaction, "txn_") {
			continue // an unlinked refund
		}
		if known[transaction] || transaction <= j.h.before.transaction {
			continue
		}
		for _, e := range j.journal.held(transaction) {
			if j.hostile && e.amount == 0 {
				continue // a late verification
			}
			j.failf("the acquirer holds %d for %s, which v1 does not have", e.amount, e.reference)
		}
		lines := j.journal.byTxn[transaction]
		for _, e := range append(j.journal.moved(lines, 'c'), j.journal.moved(lines, 'r')...) {
			j.failf("the acquirer did %s for %s, which v1 does not have", e.reference, transaction)
		}
	}
}

// heldAsShown compares the authorization.
func (j *judge) heldAsShown(t v1.Transaction) {
	held, voids := j.journal.held(t.ID), j.journal.of(t.ID, 'v', "void_")
	if j.hostile && t.Amount == 0 {
		return // a verification holds nothing that would have to be released
	}
	want, wantVoids := 1, 0
	switch t.Status {
	case v1.TransactionStatusFailed, v1.TransactionStatusRequiresConfirmation, v1.TransactionStatusCanceled,
		v1.TransactionStatusDeclined:
		want = 0
	case v1.TransactionStatusVoided:
		wantVoids = 1
	default:
	}
	if len(held) != want || len(voids) != wantVoids {
		j.failf("%s is %s; the acquirer has %d authorizations that were not reversed and %d voids, want %d and %d: %+v",
			t.ID, t.Status, len(held), len(voids), want, wantVoids, j.journal.byTxn[t.ID])
	}
	for _, e := range held {
		if e.amount != t.AmountAuthorized {
			j.failf("%s: authorized %d; the acquirer has %d", t.ID, t.AmountAuthorized, e.amount)
		}
	}
}

// stepsAsShown compares captures and refunds.
func (j *judge) stepsAsShown(t v1.Transaction) {
	moved := map[string]int64{}
	for _, kind := range []byte{'c', 'r'} {
		for _, e := range j.journal.moved(j.journal.byTxn[t.ID], kind) {
			moved[e.reference] = e.amount
		}
	}
	for _, c := range j.captures[t.ID] {
		if t.Capture == v1.CaptureModeAutomatic { // immediately, with the authorization
			continue
		}
		done := c.Status == v1.CaptureStatusSucceeded || c.Status == v1.CaptureStatusVoided
		j.sameAmount(c.ID, string(c.Status), c.Amount, done, moved)
		if e := j.journal.byRef[c.ID]; done && !j.finalAsShown(t, c, e.final) {
			j.failf("%s: got final %t in v1 and %t at the acquirer", c.ID, c.Final, e.final)
		}
	}
	for _, r := range j.refunds {
		if r.Transaction == t.ID {
			j.sameAmount(r.ID, string(r.Status), r.Amount, r.Status == v1.RefundStatusSucceeded, moved)
		}
	}
	for reference, amount := range moved {
		j.failf("the acquirer moved %d for %s of %s, which v1 does not show", amount, reference, t.ID)
	}
}

// finalAsShown reports whether the acquirer got a capture as final if it is the last one. That one
// is final in v1, or it took the rest of the authorization. A hostile acquirer can report an
// earlier capture later, so that a rest seemed to be left.
func (j *judge) finalAsShown(t v1.Transaction, c v1.Capture, final bool) bool {
	sum := int64(0)
	for _, other := range j.captures[t.ID] {
		done := other.Status == v1.CaptureStatusSucceeded || other.Status == v1.CaptureStatusVoided
		if done && other.ID <= c.ID { // ids are in the order of the captures
			sum += other.Amount
		}
	}
	last := sum == t.AmountAuthorized
	return final == (c.Final || last) || j.hostile && last && !final
}

func (j *judge) sameAmount(id, status string, amount int64, done bool, moved map[string]int64) {
	at, there := moved[id]
	delete(moved, id)
	if there != done || done && at != amount {
		j.failf("%s is %s in v1, with the amount %d; got done %t and the amount %d at the acquirer", id, status, amount,
			there, at)
	}
}
