package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
	"github.com/causeway-pay/causeway/shared/panics"
)

const (
	// reportEvery is the pause between two rounds of reports of one account.
	reportEvery = 15 * time.Minute
	// reportPage is how many captures one request for reports has at most, and reportTime is its
	// deadline. An acquirer that reports one by one has half a second for each.
	reportPage = 200
	reportTime = 100 * time.Second
	// reportStores is how many accounts use the store at a time.
	reportStores = 4
	// unreportedAfter is how long after the end of its day a capture without a report becomes an
	// exception. Acquirers settle within a banking day: before a long weekend, that is four days.
	unreportedAfter = 4 * 24 * time.Hour
)

// Reports settles the captures of live mode as their acquirers report it. Each account has separate
// rounds, so that an acquirer that does not respond delays no other account. The day of the
// merchant ends before the first request about a capture. The simulator makes no reports: in test
// mode SettleDue settles by the day alone.
type Reports struct {
	e     *Engine
	store chan struct{} // a slot for each account that uses the store
	all   sync.WaitGroup

	mu   sync.Mutex
	next map[int64]time.Time       // guarded by mu: when the next round of an account begins; zero while one runs
	from map[int64]store.Unsettled // guarded by mu: the capture after which its requests begin; zero for the first
}

// NewReports returns the reports of an engine. One Reports is enough for a process.
func (e *Engine) NewReports() *Reports {
	return &Reports{
		e: e, store: make(chan struct{}, reportStores),
		next: map[int64]time.Time{}, from: map[int64]store.Unsettled{},
	}
}

// Pass begins a round of each account that is due, if this core leads, and does not wait for it. It
// reports the number of exceptions to the observer in each core.
func (r *Reports) Pass(ctx context.Context) error {
	if r.e.Cluster.Leads() {
		if err := r.rounds(ctx); err != nil {
			return fmt.Errorf("settlement reports: %w", err)
		}
	}
	n, err := r.e.Store.CountSettlementExceptions(ctx)
	if err != nil {
		return fmt.Errorf("settlement reports: %w", err)
	}
	r.e.Observer.SettlementExceptions(n)
	return nil
}

// rounds begins the rounds that are due.
func (r *Reports) rounds(ctx context.Context) error {
	days, err := r.e.Store.Days(ctx)
	if err != nil {
		return err
	}
	days = slices.DeleteFunc(days, func(d store.Day) bool { return !d.Tenant.Live })
	skipping := r.e.Store.BeginPass(pass.Settlement)
	for _, d := range r.e.endedDays(ctx, days, &Settlement{}) {
		accounts, err := r.e.Store.ReportingAccounts(ctx, d.tenant.Merchant)
		if err := skipping.Skip(ctx, "merchant", d.tenant.Merchant, err); err != nil {
			return err
		}
		for _, account := range accounts {
			r.begin(ctx, &round{e: r.e, day: d, account: account})
		}
	}
	return nil
}

// Wait returns when no round runs.
func (r *Reports) Wait() { r.all.Wait() }

// begin begins a round unless one of the account runs, or its pause has not ended.
func (r *Reports) begin(ctx context.Context, o *round) {
	now := r.e.Clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	next, known := r.next[o.account]
	if known && (next.IsZero() || now.Before(next) && next.Sub(now) <= reportEvery) { // else a wrong clock set it
		return
	}
	r.next[o.account] = time.Time{}
	o.from = r.from[o.account]
	r.all.Go(func() {
		err := panics.Catch(func() error { return o.run(ctx, r.store) })
		r.mu.Lock()
		r.next[o.account], r.from[o.account] = r.e.Clock.Now().Add(reportEvery), o.next
		r.mu.Unlock()
		o.log(ctx, err)
	})
}

// round requests the reports about the due captures of one account. After a failed request, the
// next round goes on behind it, so that captures without a report delay no others. The round after
// that one begins with the first capture again.
type round struct {
	e       *Engine
	day     *endedDay
	account int64
	from    store.Unsettled // the requests begin after this capture
	next    store.Unsettled // from of the next round
	failed  error           // of a request for reports: the rest of the round has none
	settled int             // transactions
}

// run goes through the captures of the account page by page. After a failed request it sends no
// other one, and only finds exceptions. So it does before from. The error is from the store.
func (o *round) run(ctx context.Context, slots chan struct{}) error {
	var after store.Unsettled
	for {
		page, err := o.read(ctx, slots, after)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := o.write(ctx, slots, page, o.ask(ctx, page)); err != nil || len(page) < reportPage {
			return err
		}
		after = page[len(page)-1].Unsettled
	}
}

// read reads the page after a capture, in a slot.
func (o *round) read(ctx context.Context, slots chan struct{}, after store.Unsettled) ([]store.Unreported, error) {
	slots <- struct{}{}
	defer func() { <-slots }() // also if it panics
	return o.e.Store.Unreported(ctx, o.day.tenant.Merchant, o.account, o.day.cutoff, after, reportPage)
}

// ask requests the reports about a page. Each capture has one, which is zero if it was not read.
func (o *round) ask(ctx context.Context, page []store.Unreported) []acquirer.Settlement {
	reports := make([]acquirer.Settlement, len(page))
	first := slices.IndexFunc(page, func(u store.Unreported) bool { return follows(u.Unsettled, o.from) })
	if o.failed != nil || first < 0 {
		return reports
	}
	got, err := o.request(ctx, page[first:])
	copy(reports[first:], got)
	if o.failed = err; err != nil {
		o.next = resumeAfter(page, reports, first)
	}
	return reports
}

// follows reports whether a capture comes after another one in the pages.
func follows(u, other store.Unsettled) bool {
	return cmp.Or(u.At.Compare(other.At), cmp.Compare(u.ID, other.ID)) > 0
}

// resumeAfter returns from of the next round after a failed request about a page, which began with
// the capture first. It is the last capture before one that was not read. If none was read, it is
// the last capture of the page.
func resumeAfter(page []store.Unreported, reports []acquirer.Settlement, first int) store.Unsettled {
	read := slices.Index(reports[first:], acquirer.Settlement{})
	last := len(page) - 1
	if read > 0 {
		last = first + read - 1
	}
	if last == len(page)-1 && len(page) < reportPage {
		return store.Unsettled{} // no capture is left
	}
	return page[last].Unsettled
}

// request sends one request for reports about captures.
func (o *round) request(ctx context.Context, captures []store.Unreported) ([]acquirer.Settlement, error) {
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	a, err := o.e.Live.Account(ctx, o.day.tenant.Merchant, o.account)
	if err == nil && a.Reporter == nil {
		err = errors.New("engine: the acquirer makes no reports")
	}
	if err != nil {
		return nil, err
	}
	of := make([]acquirer.Sent, 0, len(captures))
	for i := range captures {
		of = append(of, sentTaken(&captures[i]))
	}
	got, err := a.Settled(ctx, of)
	if err == nil && len(got) != len(captures) {
		err = fmt.Errorf("engine: the acquirer made %d reports of %d captures", len(got), len(captures))
	}
	return got, err
}

// sentTaken returns the request that took the money of a capture: the capture, or its sale.
func sentTaken(u *store.Unreported) acquirer.Sent {
	if !u.Sale.AutoCapture {
		return sentCapture(&payment.Capture{
			ID: u.ID, Tag: u.Tag, AcquirerID: u.AcquirerID, Amount: u.Amount, Currency: u.Currency,
		})
	}
	s := sentAuthorization(&u.Sale)
	s.Amount, s.Currency = u.Amount, u.Currency
	return s
}

// reported is a capture whose report changes it.
type reported struct {
	store.Unreported
	kind   payment.ExceptionKind // NoException: it settles
	reason string
}

// write settles the captures that were reported as settled, and records new exceptions, in a slot.
func (o *round) write(
	ctx context.Context, slots chan struct{}, page []store.Unreported, reports []acquirer.Settlement,
) error {
	slots <- struct{}{}
	defer func() { <-slots }()
	var changes []reported
	for i, u := range page {
		if kind, reason, changed := o.judge(&u, reports[i]); changed {
			changes = append(changes, reported{u, kind, reason})
		}
	}
	slices.SortFunc(changes, func(a, b reported) int { return cmp.Compare(a.Transaction, b.Transaction) }) // as the expiry
	rows := pass.Rows[reported]{
		Kind: "capture", ID: func(u reported) int64 { return u.ID }, Change: o.commit,
	}
	return rows.Do(ctx, o.e.Store.BeginPass(pass.Settlement), changes)
}

// judge returns the change of a capture by its report. A failed settlement is an exception at once.
// A capture without a report is one after unreportedAfter, also if the account makes none. Its
// reason is the last one that was reported.
func (o *round) judge(
	u *store.Unreported, s acquirer.Settlement,
) (kind payment.ExceptionKind, reason string, changed bool) {
	switch {
	case s.State == acquirer.Settled:
		return payment.NoException, "", true
	case s.State == acquirer.SettlementFailed:
		return payment.FailedSettlement, s.Reason, u.Kind != payment.FailedSettlement || u.Reason != s.Reason
	case u.Kind == payment.UnreportedCapture:
		return u.Kind, s.Reason, s.Reason != "" && s.Reason != u.Reason
	case u.Kind == payment.NoException && o.day.lag(u.At) >= unreportedAfter:
		return payment.UnreportedCapture, cmp.Or(s.Reason, noReport), true
	}
	return payment.NoException, "", false
}

// noReport is the reason of an exception whose account has made no report of it.
const noReport = "no reports of the account"

// commit writes changes in one commit, and returns how many it has handled.
func (o *round) commit(ctx context.Context, part []reported) (n int, err error) {
	settled := 0
	err = o.e.Store.UpdateOf(ctx, store.Caller{Tenant: o.day.tenant}, func(tx *store.Tx) (err error) {
		settled = 0
		totals := store.DayTotals{}
		n, err = store.Each(tx, part, func(u reported) error {
			if u.kind != payment.NoException {
				return tx.ExceptCapture(u.ID, u.kind, u.reason)
			}
			whole, err := tx.SettleCapture(o.day.tenant, u.Transaction, u.ID, o.day.cutoff, totals)
			switch {
			case errors.Is(err, store.ErrConflict):
				return nil // it was voided, or a void is in progress
			case err == nil && whole:
				settled++
				_, err = o.e.announceSettled(tx, o.day.tenant, u.Transaction)
			}
			return err
		})
		if err != nil {
			return err
		}
		return tx.AddToDay(o.day.tenant, o.day.cutoff, totals)
	})
	if err == nil {
		o.settled += settled
	}
	return n, err
}

// log writes the result of a round, and reports it to the observer.
func (o *round) log(ctx context.Context, err error) {
	about := []any{slog.String("account", accountName(o.account)), slog.Int("transactions", o.settled)}
	err = errors.Join(err, o.failed)
	if ctx.Err() != nil {
		return
	}
	o.e.Observer.AccountReported(accountName(o.account), err == nil)
	switch {
	case err != nil:
		o.e.Log.ErrorContext(ctx, "settlement: the account made no complete report; it is retried", append(about, slog.Any("error", err))...)
	case o.settled > 0:
		o.e.Log.InfoContext(ctx, "settlement: the account reported", about...)
	}
}
