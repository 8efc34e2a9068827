package crash

import (
	"slices"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// transactionsAreRight compares each payment with the requests that created and changed it.
func (j *judge) transactionsAreRight() {
	byReference := map[string][]v1.Transaction{}
	for _, t := range j.transactions {
		if t.Reference == nil {
			j.failf("%s has no reference: no request made it", t.ID)
			continue
		}
		byReference[*t.Reference] = append(byReference[*t.Reference], t)
	}
	for _, c := range j.calls {
		if c.Kind != Create {
			continue
		}
		made := byReference[c.Marker]
		delete(byReference, c.Marker)
		// A failed transaction moved nothing; a retry made it again. One that waited for its confirmation
		// was acknowledged, and the confirmation failed.
		waited := c.ok() && c.Response.transaction().Status == v1.TransactionStatusRequiresConfirmation
		live := slices.DeleteFunc(slices.Clone(made), func(t v1.Transaction) bool {
			return t.Status == v1.TransactionStatusFailed && (!waited || t.ID != c.Response.id())
		})
		ids := make([]string, len(live))
		for i, t := range live {
			ids[i] = t.ID
		}
		j.once(c, ids)
		if c.Response != nil && c.Response.Status == 402 && len(live) != 1 {
			j.failf("%s %s was declined, and is there %d times", c.Kind, c.Marker, len(live))
		}
		for _, t := range made {
			j.transactionIsRight(c, t)
		}
	}
	for reference, made := range byReference {
		j.failf("%s has the reference %s: no request made it", made[0].ID, reference)
	}
}

func (j *judge) transactionIsRight(c *Call, t v1.Transaction) {
	captured, refunded, final := j.stepsOf(t)
	statuses := j.statuses(c, t, captured, final)
	if !slices.Contains(statuses, t.Status) {
		j.failf("%s %s (%s) is %s, want one of %v", c.Kind, c.Marker, t.ID, t.Status, statuses)
	}
	if t.AmountCaptured != captured || t.AmountRefunded != refunded {
		j.failf("%s (%s): captured %d, refunded %d; its captures come to %d, its refunds to %d",
			t.ID, c.Marker, t.AmountCaptured, t.AmountRefunded, captured, refunded)
	}
	if t.AmountRefunded > t.AmountCaptured || t.AmountCaptured > t.AmountAuthorized || t.AmountAuthorized > t.Amount {
		j.failf("%s (%s): refunded %d of captured %d of authorized %d of %d", t.ID, c.Marker,
			t.AmountRefunded, t.AmountCaptured, t.AmountAuthorized, t.Amount)
	}
	if c.ok() {
		was := c.Response.transaction()
		if t.ID == was.ID && (!slices.Contains(j.amounts(was), t.Amount) || t.Currency != was.Currency ||
			t.CreatedAt != was.CreatedAt || t.Capture != was.Capture ||
			was.AmountAuthorized != 0 && t.AmountAuthorized != was.AmountAuthorized) {
			j.failf("%s (%s) is no longer what was acknowledged: %s", t.ID, c.Marker, c.Response.Body)
		}
	}
}

// amounts returns the amounts that a payment may have after it was acknowledged and changed. A
// change without a response may have had its effect.
func (j *judge) amounts(was v1.Transaction) []int64 {
	out := []int64{was.Amount}
	for _, c := range j.byTransaction[was.ID] {
		amount := decode[v1.TransactionUpdate](c.Body).Amount
		switch {
		case c.Kind != Update || amount == nil:
		case c.ok():
			out = []int64{*amount}
		case c.maybe():
			out = append(out, *amount)
		}
	}
	return out
}

// stepsOf finds the captures and refunds of a payment, and requires each to have one request. It
// returns their sums.
func (j *judge) stepsOf(t v1.Transaction) (captured, refunded int64, final bool) {
	captures, refunds := map[string][]string{}, map[string][]string{}
	for _, c := range j.captures[t.ID] {
		if c.Status == v1.CaptureStatusSucceeded {
			captured += c.Amount
			final = final || c.Final
		}
		if j.hostile && c.Status == v1.CaptureStatusFailed {
			continue // a retry may have made another one
		}
		if c.Reference != nil {
			captures[*c.Reference] = append(captures[*c.Reference], c.ID)
		} else if t.Capture != v1.CaptureModeAutomatic {
			j.failf("%s of %s: no request made it", c.ID, t.ID)
		}
	}
	for _, r := range j.refunds {
		if r.Transaction != t.ID || r.Reference == nil || j.hostile && r.Status == v1.RefundStatusFailed {
			continue
		}
		if r.Status == v1.RefundStatusSucceeded {
			refunded += r.Amount
		}
		refunds[*r.Reference] = append(refunds[*r.Reference], r.ID)
	}
	for _, c := range j.byTransaction[t.ID] {
		switch c.Kind {
		case Capture:
			j.once(c, captures[c.Marker])
			delete(captures, c.Marker)
		case Refund:
			j.once(c, refunds[c.Marker])
			delete(refunds, c.Marker)
		default:
		}
	}
	for _, left := range []map[string][]string{captures, refunds} {
		for marker, ids := range left {
			j.failf("%s of %s, %s: no request made it", ids[0], t.ID, marker)
		}
	}
	return captured, refunded, final
}

// statuses returns the statuses that a payment may have after its requests and responses.
func (j *judge) statuses(c *Call, t v1.Transaction, captured int64, final bool) []v1.TransactionStatus {
	out := j.confirmed(c, t)
	if captured > 0 && t.Capture == v1.CaptureModeManual {
		out = []v1.TransactionStatus{v1.TransactionStatusPartiallyCaptured}
		if final || captured == t.AmountAuthorized {
			out = []v1.TransactionStatus{v1.TransactionStatusCaptured}
		}
	}
	last := int64(0) // version in the response to a final request; of two concurrent ones the later version counts
	for _, s := range j.byTransaction[t.ID] {
		switch {
		case s.Kind != Void && s.Kind != Expire:
		case s.ok():
			if now := s.Response.transaction(); now.Version > last {
				out, last = []v1.TransactionStatus{now.Status}, now.Version
			}
		case s.maybe() && s.Kind == Void:
			out = append(out, v1.TransactionStatusVoided, v1.TransactionStatusCanceled)
		case s.maybe():
			out = append(out, v1.TransactionStatusExpired, v1.TransactionStatusCaptured, v1.TransactionStatusCanceled)
		}
	}
	// The merchant's clock may have moved by more than a payment waits.
	if slices.Contains(out, v1.TransactionStatusRequiresConfirmation) {
		out = append(out, v1.TransactionStatusCanceled)
	}
	if j.later || j.hostile { // the merchant's clock was moved, by more than an authorization lives
		out = append(out, v1.TransactionStatusExpired)
		if slices.Contains(out, v1.TransactionStatusPartiallyCaptured) {
			out = append(out, v1.TransactionStatusCaptured)
		}
	}
	return out
}

// confirmed returns the statuses that a payment may have after its create and its confirmations.
// The response with the greatest version counts. After a decline, another confirmation may have had
// an effect. If its response was lost, the payment has failed without an effect.
func (j *judge) confirmed(c *Call, t v1.Transaction) []v1.TransactionStatus {
	out, last, maybe := outcome(c, t), int64(0), false
	for _, s := range j.byTransaction[t.ID] {
		switch {
		case s.Kind != Confirm:
		case s.ok() || s.Response != nil && s.Response.declined():
			if now := s.Response.transaction(); now.Version > last {
				out, last = []v1.TransactionStatus{now.Status}, now.Version
			}
		default:
			maybe = true
		}
	}
	if maybe && slices.Contains(out, v1.TransactionStatusRequiresConfirmation) {
		out = append(out, v1.TransactionStatusAuthorized, v1.TransactionStatusCaptured, v1.TransactionStatusDeclined,
			v1.TransactionStatusFailed)
	}
	return out
}

// outcome returns the statuses that a create may leave.
func outcome(c *Call, t v1.Transaction) []v1.TransactionStatus {
	every := []v1.TransactionStatus{
		v1.TransactionStatusFailed, v1.TransactionStatusAuthorized, v1.TransactionStatusCaptured,
		v1.TransactionStatusDeclined, v1.TransactionStatusRequiresConfirmation,
	}
	switch {
	case c.Response == nil, c.Response.open():
		return every
	case c.Response.transaction().ID != t.ID: // an attempt that failed, before the acknowledged one
		return []v1.TransactionStatus{v1.TransactionStatusFailed}
	}
	return []v1.TransactionStatus{c.Response.transaction().Status}
}

// refundsAreRight wants refunds of payments that are there only, as they were acknowledged.
func (j *judge) refundsAreRight() {
	byID := map[string]v1.Refund{}
	for _, r := range j.refunds {
		byID[r.ID] = r
	}
	for _, c := range j.calls {
		if c.Kind != Refund || !c.ok() {
			continue
		}
		was := read[v1.Refund](c.Response)
		if now := byID[was.ID]; now.Amount != was.Amount || now.Status != was.Status || now.Transaction != was.Transaction {
			j.failf("refund %s: %+v, it was acknowledged as %s", c.Marker, now, c.Response.Body)
		}
	}
}
