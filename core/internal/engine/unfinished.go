package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

const (
	// openBatch is the number of unfinished steps in a page. openPages is the number of pages of a
	// table that a pass reads.
	openBatch, openPages = 500, 4
	// claimAfter is how old a step must be before recovery claims it: the acquirer may still be
	// finishing it after its request has ended.
	claimAfter = 200 * time.Millisecond
)

// unfinished reads the unfinished steps, a page of each table at a time, and decides which of them
// this core may claim. Only the caller of Recovery.Pass uses it.
type unfinished struct {
	e       *Engine
	tables  []*stepTable
	serving bool // the start is over
}

func (e *Engine) newUnfinished() *unfinished {
	u := &unfinished{e: e}
	u.tables = u.stepTables()
	return u
}

// stepTable is a table of unfinished steps. A pass reads the pages after the pages of the previous
// pass, and starts from the beginning after the last page. So a step that cannot be finished does
// not delay later steps.
type stepTable struct {
	kinds [2]payment.StepKind // of the steps in it
	page  func(ctx context.Context, after int64) (rows []task, last int64, err error)

	after int64 // the next page begins after this id
	round roundResult
	last  roundResult // of the last round that read the whole table
}

// offerFunc receives an unfinished step and the attempts at it so far.
type offerFunc func(task, payment.StepAttempt)

// roundResult counts the steps that a round read.
type roundResult struct {
	open   map[payment.StepKind]int
	oldest time.Time
}

func (l *roundResult) add(t task) {
	if l.open == nil {
		l.open = map[payment.StepKind]int{}
	}
	if l.open[t.id.Kind]++; l.oldest.IsZero() || t.since.Before(l.oldest) {
		l.oldest = t.since
	}
}

// read passes the steps of the next pages to offer, and reports whether the end of the table was
// among them. A page is at most openBatch rows of the table.
func (s *stepTable) read(ctx context.Context, db *store.DB, offer offerFunc) (whole bool, err error) {
	for range openPages {
		rows, last, err := s.page(ctx, s.after)
		if err != nil {
			return false, fmt.Errorf("read unfinished steps: %w", err)
		}
		if len(rows) > 0 {
			if err := s.offer(ctx, db, rows, last, offer); err != nil {
				return false, err
			}
		}
		if len(rows) < openBatch {
			s.after, s.last, s.round = 0, s.round, roundResult{}
			return true, nil
		}
		s.after = last
	}
	return false, nil
}

func (s *stepTable) offer(ctx context.Context, db *store.DB, rows []task, last int64, offer offerFunc) error {
	found, err := db.StepAttempts(ctx, s.kinds[0], s.kinds[1], s.after, last)
	if err != nil {
		return fmt.Errorf("read attempts: %w", err)
	}
	attempts := make(map[stepKey]payment.StepAttempt, len(found))
	for _, a := range found {
		attempts[keyOf(a.Step)] = a
	}
	for _, t := range rows {
		s.round.add(t)
		offer(t, attempts[keyOf(t.id)])
	}
	return nil
}

// stepTables returns the tables of unfinished steps. Reversals come first: they release money that
// a payer needs.
func (u *unfinished) stepTables() []*stepTable {
	only := func(k payment.StepKind) [2]payment.StepKind { return [2]payment.StepKind{k, k} }
	either := [2]payment.StepKind{payment.AuthorizeStep, payment.VoidStep}
	return []*stepTable{
		{kinds: only(payment.ReversalStep), page: pageOf(u.reversals, u.ofReversal)},
		{kinds: only(payment.RefundStep), page: pageOf(agedSteps(u, u.e.Store.OpenRefunds), u.ofRefund)},
		{kinds: only(payment.CaptureStep), page: pageOf(agedSteps(u, u.e.Store.OpenCaptures), u.ofCapture)},
		{kinds: either, page: pageOf(agedSteps(u, u.e.Store.OpenTransactions), u.ofTransaction)},
	}
}

// ofReversal returns the id of a pending reversal, and its task.
func (u *unfinished) ofReversal(o *payment.Reversal) (int64, task) {
	return o.ID, task{
		id:     payment.StepID{Kind: payment.ReversalStep, ID: o.ID},
		tenant: o.Tenant, account: o.Account, since: o.DueAt, mine: u.e.Cluster.Leads(),
		do: func(ctx context.Context) error { return u.e.recoverReversal(ctx, o) },
	}
}

// ofRefund returns the id of an unfinished refund, and its task.
func (u *unfinished) ofRefund(f *payment.Refund) (int64, task) {
	step := refundStepID(f)
	return f.ID, task{
		id: step, tenant: f.Tenant, account: f.Account, since: f.UpdatedAt,
		reference: refundReference(f), mine: u.claimable(step, f.Core, f.UpdatedAt),
		do: func(ctx context.Context) error {
			return withDetails(ctx, u.e.Store.RefundDetails, f.ID, &f.Details, func(ctx context.Context) error {
				return u.e.recoverRefund(ctx, f)
			})
		},
	}
}

// ofCapture returns the id of an unfinished capture, and its task.
func (u *unfinished) ofCapture(c *payment.Capture) (int64, task) {
	step := captureStepID(c)
	return c.ID, task{
		id: step, tenant: c.Tenant, account: c.Account, since: c.UpdatedAt,
		reference: captureReference(c), mine: u.claimable(step, c.Core, c.UpdatedAt),
		do: func(ctx context.Context) error {
			return withDetails(ctx, u.e.Store.CaptureDetails, c.ID, &c.Details, func(ctx context.Context) error {
				return u.e.recoverCapture(ctx, c)
			})
		},
	}
}

// ofTransaction returns the id of a transaction, and the task of its unfinished authorization or
// void. A transaction has one at a time. If the transaction cannot be read, its attempts fail.
func (u *unfinished) ofTransaction(o store.OpenTransaction) (int64, task) {
	t := o.Transaction
	out := task{
		id: authorizationStepID(t), tenant: t.Tenant, account: t.Account, since: t.UpdatedAt,
		reference: authorizationReference(t),
		do: func(ctx context.Context) error {
			return withDetails(ctx, u.e.Store.TransactionDetails, t.ID, &t.Details, func(ctx context.Context) error {
				return u.e.recoverTransaction(ctx, t)
			})
		},
	}
	if t.Operation == payment.VoidOperation {
		out.id, out.reference = voidStepID(t), voidReference(t)
	}
	if o.Unreadable != nil {
		out.do = func(context.Context) error { return o.Unreadable }
	}
	out.mine = t.Status == payment.Unknown && u.e.Cluster.Leads() || u.claimable(out.id, t.Core, t.UpdatedAt)
	return t.ID, out
}

// claimable reports whether no request works on a step, and this core may claim it. core has begun
// the step, at begun. For a step of this process, the requests in flight decide, never the clock.
// If the age decided, recovery could claim a step during its request after the clock jumped.
func (u *unfinished) claimable(step payment.StepID, core int64, begun time.Time) bool {
	p := u.e.Cluster
	if p == nil {
		return !u.serving || !u.e.inFlight.has(step)
	}
	if core == p.ID {
		return !u.e.inFlight.has(step)
	}
	age := u.e.Clock.Now().Sub(begun)
	return p.mayClaim(core, age < -store.ClockSlack || age >= Patience)
}

func (u *unfinished) reversals(ctx context.Context, after int64) ([]*payment.Reversal, error) {
	return u.e.Store.DueReversals(ctx, u.e.Clock.Now(), after, openBatch)
}

// pager reads a page of the rows of a table after an id.
type pager[T any] func(ctx context.Context, after int64) ([]T, error)

// agedSteps turns a list of steps into pages. During the start these have all steps, afterwards
// only the steps without a recent change.
func agedSteps[T any](
	u *unfinished, list func(ctx context.Context, before, after int64, limit int) ([]T, error),
) pager[T] {
	return func(ctx context.Context, after int64) ([]T, error) {
		cut := int64(math.MaxInt64 / 2)
		if u.serving {
			cut = u.e.Clock.Now().Add(-claimAfter).UnixMilli() + 1
		}
		return list(ctx, cut, after, openBatch)
	}
}

// pageOf turns a list of rows into a list of tasks.
func pageOf[T any](
	list pager[T], of func(T) (int64, task),
) func(ctx context.Context, after int64) (rows []task, last int64, err error) {
	return func(ctx context.Context, after int64) ([]task, int64, error) {
		rows, err := list(ctx, after)
		out, last := make([]task, 0, len(rows)), after
		for _, row := range rows {
			var t task
			last, t = of(row)
			out = append(out, t)
		}
		return out, last, err
	}
}

// report reports the last complete round of each table to the observer, if this core leads.
func (u *unfinished) report() {
	if !u.e.Cluster.Leads() {
		return
	}
	all := roundResult{open: map[payment.StepKind]int{}}
	for _, s := range u.tables {
		for kind, n := range s.last.open {
			all.open[kind] += n
		}
		if o := s.last.oldest; !o.IsZero() && (all.oldest.IsZero() || o.Before(all.oldest)) {
			all.oldest = o
		}
	}
	u.e.Observer.RecoveryLooked(all.open, all.oldest)
}

// withDetails reads the details of an unfinished step, then resumes it. The pages of steps have
// none, because the details of many steps would fill the memory. A step that was removed meanwhile
// is finished.
func withDetails(
	ctx context.Context, read func(context.Context, int64) ([]byte, error), id int64, details *[]byte,
	resume func(context.Context) error,
) (err error) {
	if *details, err = read(ctx, id); errors.Is(err, payment.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the details of an unfinished step: %w", err)
	}
	return resume(ctx)
}

func (e *Engine) recoverTransaction(ctx context.Context, t *payment.Transaction) error {
	if t.Operation == payment.VoidOperation {
		return e.resume(ctx, &voidStep{e, t}, !t.ReclaimedAt.IsZero())
	}
	return e.resume(ctx, &authorizationStep{Engine: e, t: t}, !t.ReclaimedAt.IsZero())
}

func (e *Engine) recoverCapture(ctx context.Context, c *payment.Capture) error {
	return e.resume(ctx, &captureStep{e, c}, !c.ReclaimedAt.IsZero())
}

func (e *Engine) recoverRefund(ctx context.Context, f *payment.Refund) error {
	return e.resume(ctx, e.newRefundStep(f), !f.ReclaimedAt.IsZero())
}
