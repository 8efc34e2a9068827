package crash

import (
	"context"
	"net/http"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Retry sends every keyed request of the load once more that has no outcome yet, as a client does.
// The process may end meanwhile.
func (h *Harness) Retry(ctx context.Context) {
	var pending []*Call
	for _, c := range h.calls {
		if c.Key != "" && (c.Answer == nil || c.Answer.open() || c.Answer.Status == http.StatusServiceUnavailable) {
			pending = append(pending, c)
		}
	}
	_ = each(pending, func(c *Call) error { // a request without a response stays pending
		c.Answer, _ = h.way(c).send(ctx, c)
		return nil
	})
}

// Keep ends a load whose lost responses stay lost: the calls are judged later, by JudgeBooks.
func (h *Harness) Keep() {
	for _, c := range h.calls {
		if c.Answer != nil {
			h.fig.Commands++
			h.fig.ByKind[c.Kind]++
		} else {
			h.fig.Lost++
		}
	}
	h.all = append(h.all, h.calls...)
	h.calls = nil
}

// Unfinished returns the steps and pending reversals that the store at place still works on, one
// line a kind.
func (h *Harness) Unfinished(ctx context.Context, place string) (left []string, err error) {
	s, err := openShelf(ctx, place)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.db.Close() }() // it was only read
	return s.left(ctx, append([]unfinished{{"pending reversals", `SELECT COUNT(*) FROM reversals`}}, open...))
}

// Due returns how many pending reversals the store at place must look at by a time.
func (h *Harness) Due(ctx context.Context, place string, by time.Time) (int, error) {
	s, err := openShelf(ctx, place)
	if err != nil {
		return 0, err
	}
	defer func() { _ = s.db.Close() }() // it was only read
	return s.count(ctx, `SELECT COUNT(*) FROM reversals WHERE due_at <= ?1`, by.UnixMilli())
}

// JudgeBooks compares v1's state, the clients' responses and the acquirer's effects, after loads in
// which responses were lost at both ends and clocks jumped. It judges money only: every
// acknowledged payment, capture, void and refund is there, no request had two effects, and the
// acquirer's effects are those that v1 shows. Nothing may be unfinished.
func (h *Harness) JudgeBooks(ctx context.Context, place string) ([]string, error) {
	s, err := openShelf(ctx, place)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.db.Close() }() // it was only read
	j := &judge{
		h: h, ctx: ctx, shelf: s, calls: h.all, hostile: true,
		captures: map[string][]v1.Capture{}, byTransaction: map[string][]*Call{},
	}
	if j.journal, err = s.journal(ctx, h.merchant); err != nil {
		return nil, err
	}
	if err := j.look(marks{}); err != nil {
		return nil, err
	}
	for _, check := range []func() error{j.transactionsAreRight, j.refundsAreRight, j.acquirerAgrees} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	wrong, err := s.faults(ctx, 0)
	j.add(wrong...)
	return j.faults, err
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

// creditsOnce wants each unlinked refund that a client asked for to be there as often as its
// response allows.
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
