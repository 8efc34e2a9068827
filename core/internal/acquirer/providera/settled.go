package providera

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

const (
	// listedAge is the greatest age of a transaction that is searched for in the settled batches.
	listedAge = 7 * 24 * time.Hour
	// A transaction older than readAge that no batch lists is read by its id, in a separate request.
	// Few are so old, because a batch closes each day.
	readAge = 3 * 24 * time.Hour
	// mostFailures is how many reads in a row may fail before the reports end.
	mostFailures = 3
)

// settlements maps a transactionStatus to the state of its report. Any other status can still
// settle.
var settlements = map[string]acquirer.SettlementState{
	"settledSuccessfully": acquirer.Settled,
	"chargeback":          acquirer.Settled, // the payer disputes money that was taken
	"chargebackReversal":  acquirer.Settled,
	"settlementError":     acquirer.SettlementFailed,
	"returnedItem":        acquirer.SettlementFailed, // by the payer's bank
	"voided":              acquirer.SettlementFailed,
	"expired":             acquirer.SettlementFailed,
	"declined":            acquirer.SettlementFailed,
	"failedReview":        acquirer.SettlementFailed,
	"communicationError":  acquirer.SettlementFailed,
	"generalError":        acquirer.SettlementFailed,
}

// The reasons of reports that are no transactionStatus.
const (
	otherStatus = "another status"
	otherAmount = "another amount"
	noBatch     = "in no settled batch"
	unreadable  = "cannot be read"
)

// settlementOf maps a transactionStatus and the settled amount to a settlement.
func settlementOf(status, amount text, about acquirer.Sent) acquirer.Settlement {
	s := acquirer.Settlement{State: settlements[status.value], Reason: status.value}
	if _, known := states[status.value]; !known {
		s.Reason = otherStatus
	}
	if n, ok := minor(amount.value, about.Currency); s.State == acquirer.Settled && (!ok || n != about.Amount) {
		return acquirer.Settlement{State: acquirer.SettlementFailed, Reason: otherAmount}
	}
	return s
}

// Settled implements acquirer.Reporter. It finds the transactions of the last week in the lists of
// the settled batches. It reads an older one, or one that no list has for days, alone.
func (c *Connector) Settled(ctx context.Context, of []acquirer.Sent) ([]acquirer.Settlement, error) {
	r := &reports{
		c: c, of: of, out: make([]acquirer.Settlement, len(of)), open: map[string]int{}, missing: noBatch, left: mostReads,
	}
	err := r.listed(ctx)
	if errors.Is(err, errUnread) {
		return r.out, err
	}
	if err != nil {
		r.missing = unreadable
	}
	return r.out, r.rest(ctx)
}

// reports are the reports of one request.
type reports struct {
	c    *Connector
	of   []acquirer.Sent
	out  []acquirer.Settlement
	open map[string]int // by number: the transactions that no list had so far

	missing string // the reason of the report of a transaction that no list has
	left    int    // the pages that can still be read
}

// age returns how long ago a request was prepared, and more than listedAge if it is not known.
func (r *reports) age(about acquirer.Sent) time.Duration {
	at, dated := timeOf(about.Tag)
	if !dated {
		return listedAge + 1
	}
	return r.c.clock.Now().Sub(at)
}

// listed searches the settled batches. It skips a batch that cannot be read, so that it delays no
// other. Its error is errUnread if the account cannot be read.
func (r *reports) listed(ctx context.Context) error {
	oldest := time.Duration(-1)
	for i, about := range r.of {
		if age := r.age(about); about.ID != "" && age <= listedAge {
			r.open[about.ID], oldest = i, max(oldest, age)
		}
	}
	if len(r.open) == 0 {
		return nil
	}
	now := r.c.clock.Now().UTC()
	batches, err := r.c.batches(ctx, now.Add(-oldest-lag), now)
	if err != nil {
		return err
	}
	failures := 0
	for _, b := range batches {
		if len(r.open) == 0 {
			break
		}
		err := r.batch(ctx, b.id)
		if err != nil {
			r.missing = unreadable
		}
		if failures = failed(failures, err); failures == mostFailures || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// batch reads the list of a batch until it has all transactions.
func (r *reports) batch(ctx context.Context, batch string) error {
	const method = "getTransactionList"
	first := ""
	for page := 1; len(r.open) > 0; page++ {
		if r.left == 0 {
			return fmt.Errorf("providera: %s: %w: too many pages", method, acquirer.ErrUnknown)
		}
		r.left--
		d, err := r.c.read(ctx, method, transactionListRequest{
			Login: r.c.login(), Batch: batch, Sorting: oldestFirst, Paging: paging{Limit: pageSize, Page: page},
		})
		if err != nil || d.code() == codeNoRows {
			return err
		}
		if !d.ok() {
			return d.refusal(method)
		}
		if len(d.Rows) > 0 && page > 1 && d.Rows[0].ID.value == first {
			return contradiction("repeated page")
		}
		for _, row := range d.Rows {
			if i, wanted := r.open[number(row.ID)]; wanted {
				r.out[i] = settlementOf(row.Status, row.Settled, r.of[i])
				delete(r.open, number(row.ID))
			}
		}
		if len(d.Rows) < pageSize {
			return nil
		}
		first = d.Rows[0].ID.value
	}
	return nil
}

// failed returns the number of failures in a row after a read. A response about one transaction or
// batch is none, also if it cannot be read.
func failed(before int, err error) int {
	if errors.Is(err, errUnread) {
		return before + 1
	}
	return 0
}

// rest reads the transactions alone that need it.
func (r *reports) rest(ctx context.Context) error {
	failures := 0
	for i, about := range r.of {
		_, missing := r.open[about.ID]
		age := r.age(about)
		switch {
		case missing && age < readAge:
			r.out[i].Reason = r.missing
		case missing, about.ID == "", age > listedAge:
			d, err := r.c.find(ctx, about)
			if err == nil {
				r.out[i], failures = settlementOf(d.Status, d.Settled, about), 0
				continue
			}
			r.out[i].Reason = unreadable
			if failures = failed(failures, err); failures == mostFailures || ctx.Err() != nil {
				return err
			}
		}
	}
	return nil
}
