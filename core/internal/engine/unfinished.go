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

// claimAfter is how old a step must be before recovery claims it: the acquirer may still be
// finishing it after its request has ended.
const claimAfter = 200 * time.Millisecond

// unfinished reads the unfinished steps and decides which of them this core may claim. Only the
// caller of Recovery.Pass uses it.
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

// expectWhole begins to watch whether every step is read once more.
func (u *unfinished) expectWhole() {
	for _, s := range u.tables {
		s.expectWhole()
	}
}

// stepTables returns the tables of unfinished steps. Reversals come first: they release money that
// a payer needs.
func (u *unfinished) stepTables() []*stepTable {
	return []*stepTable{
		newStepTable(payment.ReversalStep, pageOf(u.reversals, u.ofReversal)),
		newStepTable(payment.RefundStep, pageOf(agedSteps(u, u.e.Store.OpenRefunds), u.ofRefund)),
		newStepTable(payment.CaptureStep, pageOf(agedSteps(u, u.e.Store.OpenCaptures), u.ofCapture)),
		newStepTable(payment.AuthorizeStep, pageOf(agedSteps(u, u.e.Store.OpenTransactions), u.ofTransaction)),
	}
}

// ofReversal returns the task of a pending reversal.
func (u *unfinished) ofReversal(o *payment.Reversal) task {
	return task{
		id:     payment.StepID{Kind: payment.ReversalStep, ID: o.ID},
		tenant: o.Tenant, account: o.Account, since: o.DueAt, mine: u.e.Cluster.Leads(),
		do: func(ctx context.Context) error { return u.e.recoverReversal(ctx, o) },
	}
}

// ofRefund returns the task of an unfinished refund.
func (u *unfinished) ofRefund(f *payment.Refund) task {
	step := refundStepID(f)
	return task{
		id: step, tenant: f.Tenant, account: f.Account, since: f.UpdatedAt,
		reference: refundReference(f), mine: u.claimable(step, f.Core, f.UpdatedAt),
		do: func(ctx context.Context) error {
			return withDetails(ctx, u.e.Store.RefundDetails, f.ID, &f.Details, func(ctx context.Context) error {
				return u.e.recoverRefund(ctx, f)
			})
		},
	}
}

// ofCapture returns the task of an unfinished capture.
func (u *unfinished) ofCapture(c *payment.Capture) task {
	step := captureStepID(c)
	return task{
		id: step, tenant: c.Tenant, account: c.Account, since: c.UpdatedAt,
		reference: captureReference(c), mine: u.claimable(step, c.Core, c.UpdatedAt),
		do: func(ctx context.Context) error {
			return withDetails(ctx, u.e.Store.CaptureDetails, c.ID, &c.Details, func(ctx context.Context) error {
				return u.e.recoverCapture(ctx, c)
			})
		},
	}
}

// ofTransaction returns the task of a transaction's unfinished authorization or void. A transaction
// has one at a time. If the transaction cannot be read, its attempts fail.
func (u *unfinished) ofTransaction(o store.OpenTransaction) task {
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
	return out
}

// claimable reports whether no request works on a step, and this core may claim it. core has begun
// the step, at begun. For a step of this process, the requests in flight decide, never its age. If
// the age decided, recovery could claim a step during its request after the clock jumped. No core
// claims a step while its clock disagrees: an attempt can end a step by its age.
func (u *unfinished) claimable(step payment.StepID, core int64, begun time.Time) bool {
	p := u.e.Cluster
	if p == nil {
		return !u.serving || !u.e.inFlight.has(step)
	}
	if core == p.ID {
		return p.Agrees() && !u.e.inFlight.has(step)
	}
	age := u.e.Clock.Now().Sub(begun)
	return p.mayClaim(core, age < -store.ClockSlack || age >= Patience)
}

func (u *unfinished) reversals(ctx context.Context, p store.StepPage) ([]store.OpenStep[*payment.Reversal], error) {
	return u.e.Store.PendingReversals(ctx, u.e.Clock.Now(), p)
}

// pager reads a page of the rows of a table.
type pager[T any] func(context.Context, store.StepPage) ([]store.OpenStep[T], error)

// agedSteps turns a list of steps into pages. During the start these have all steps, afterwards
// only the steps without a recent change.
func agedSteps[T any](
	u *unfinished, list func(ctx context.Context, before int64, p store.StepPage) ([]store.OpenStep[T], error),
) pager[T] {
	return func(ctx context.Context, p store.StepPage) ([]store.OpenStep[T], error) {
		cut := int64(math.MaxInt64 / 2)
		if u.serving {
			cut = u.e.Clock.Now().Add(-claimAfter).UnixMilli() + 1
		}
		return list(ctx, cut, p)
	}
}

// pageOf turns pages of rows into pages of tasks.
func pageOf[T any](list pager[T], of func(T) task) pager[task] {
	return func(ctx context.Context, p store.StepPage) ([]store.OpenStep[task], error) {
		rows, err := list(ctx, p)
		out := make([]store.OpenStep[task], len(rows))
		for i, row := range rows {
			out[i] = store.OpenStep[task]{Row: of(row.Row), Last: row.Last, Waits: row.Waits}
		}
		return out, err
	}
}

// report reports the last complete reading of each tenant's steps to the observer, if this core
// leads.
func (u *unfinished) report() {
	if !u.e.Cluster.Leads() {
		return
	}
	all := stepCount{open: map[payment.StepKind]int{}}
	for _, s := range u.tables {
		for _, t := range s.tenants {
			all.addAll(t.last)
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
