package crash

import (
	"context"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Unfinished returns the unfinished steps and pending reversals in the store at location, one line
// for each type.
func (h *Harness) Unfinished(ctx context.Context, location Location) (left []string, err error) {
	err = withStore(ctx, location, func(s *storeReader) {
		left = s.found(append([]check{{"pending reversals", `SELECT COUNT(*) FROM reversals`}}, open...))
	})
	return left, err
}

// Due returns the number of pending reversals in the store at location that are due by a time.
func (h *Harness) Due(ctx context.Context, location Location, by time.Time) (due int, err error) {
	err = withStore(ctx, location, func(s *storeReader) {
		due = s.count(`SELECT COUNT(*) FROM reversals WHERE due_at <= ?1`, by.UnixMilli())
	})
	return due, err
}

// JudgeBooks compares v1's state, the clients' responses and the acquirer's effects, after loads
// in which responses were lost at both ends and clocks jumped. It judges money only. Every
// acknowledged payment, capture, void and refund is there, and no request had two effects. The
// acquirer's effects equal v1's. Nothing may be unfinished.
func (h *Harness) JudgeBooks(ctx context.Context, location Location) ([]string, error) {
	return h.inspect(ctx, location, h.all, func(j *judge) {
		j.hostile = true
		j.read(marks{})
		j.transactionsAreRight()
		j.refundsAreRight()
		j.acquirerAgrees()
		j.add(j.store.found(wrong, 0)...)
	})
}

// creditsAsShown compares unlinked refunds.
func (j *judge) creditsAsShown() {
	moved := map[string]int64{}
	for _, e := range j.journal.moved(j.journal.entries, 'o') {
		moved[e.reference] = e.amount
	}
	for _, r := range j.refunds {
		if r.Transaction == "" {
			j.sameAmount(r.ID, string(r.Status), r.Amount, r.Status == v1.RefundStatusSucceeded, moved)
		}
	}
	for reference, amount := range moved {
		if reference > j.h.before.refund {
			j.failf("the acquirer gave %d for the unlinked refund %s, which v1 does not show", amount, reference)
		}
	}
}

// creditsOnce requires that each unlinked refund of a client exists once, or at most once if the
// response leaves its outcome open.
func (j *judge) creditsOnce() {
	byReference := map[string][]string{}
	for _, r := range j.refunds {
		if r.Transaction == "" && r.Reference != nil && r.Status != v1.RefundStatusFailed {
			byReference[*r.Reference] = append(byReference[*r.Reference], r.ID)
		}
	}
	for _, c := range j.calls {
		if c.Kind == Refund && c.On == "" {
			j.once(c, byReference[c.Marker])
		}
	}
}

// Agree compares the acquirer's journal with the state of v1 at base, after the load of other
// clients, and returns the faults. The service must be idle.
func Agree(ctx context.Context, location Location, base string, keys Keys) ([]string, error) {
	h := &Harness{keys: keys, api: newClient(keys.Secret)}
	h.Attach(base)
	if err := h.learnMerchant(ctx); err != nil {
		return nil, err
	}
	return h.inspect(ctx, location, nil, func(j *judge) {
		j.read(marks{})
		j.acquirerAgrees()
	})
}
