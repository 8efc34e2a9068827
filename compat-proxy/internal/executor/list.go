package executor

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	// pageOfV1 is the number of objects of a page of v1's lists.
	pageOfV1 = 100
	// countedRows is how many rows of a list are counted at least, even for a short page.
	countedRows = 1000
	// maxDays bounds a list of settlement days.
	maxDays = 1000
)

// rowSource is a list of v1. It is read page by page, and only while its rows are needed.
type rowSource struct {
	// read reads the page that begins after the object with an id, "" for the first page. The rows
	// are in the order of the list.
	read func(ctx context.Context, after string) (rows []command.Row, more bool, failed *command.Result)

	rows []command.Row // read and not taken yet
	last string        // id of the last row that was read
	done bool          // nothing is left to read
}

// fill reads pages until the source has a row, or its end.
func (r *rowSource) fill(ctx context.Context) *command.Result {
	for len(r.rows) == 0 && !r.done {
		rows, more, failed := r.read(ctx, r.last)
		if failed != nil {
			return failed
		}
		r.rows, r.done = rows, !more || len(rows) == 0
		if len(rows) > 0 {
			r.last = rowID(rows[len(rows)-1])
		}
	}
	return nil
}

// listTransactions merges v1's lists of payments and refunds, and counts the rows. It keeps only
// the rows of the page.
func (s session) listTransactions(ctx context.Context, c command.ListTransactions) command.Result {
	sources, ok := s.sources(c)
	if !ok {
		return command.Result{Outcome: command.NotFound}
	}
	list := &command.List{}
	seen, kept := map[string]bool{}, 0 // a payment may change lists meanwhile
	for list.Total <= max(c.Skip+c.Limit, countedRows) {
		row, failed := nextRow(ctx, sources, c.OldestFirst)
		if failed != nil {
			return *failed
		}
		if row == nil {
			break
		}
		name := rowID(*row)
		if seen[name] || !c.Shows(*row) {
			continue
		}
		seen[name] = true
		if list.Total >= c.Skip && len(list.Rows) < c.Limit {
			list.Rows = append(list.Rows, *row)
			kept += sizeOf(*row)
		}
		if kept > mostKept {
			return command.Result{Outcome: command.Refused, Code: command.CodeTooMany}
		}
		list.Total++
	}
	return command.Result{Outcome: command.Done, Status: http.StatusOK, List: list}
}

// mostKept bounds the metadata of the rows that a list keeps, in bytes. All requests share the
// memory of the program, and a payment of v1 can have 100 kB of metadata.
const mostKept = 4 << 20

// sizeOf returns the bytes of a row's metadata.
func sizeOf(r command.Row) (n int) {
	var all []v1.Metadata
	if r.Transaction != nil {
		all = append(all, r.Transaction.Metadata)
	}
	if r.Refund != nil {
		all = append(all, r.Refund.Metadata)
	}
	for _, m := range all {
		for key, value := range m {
			n += len(key) + len(value)
		}
	}
	return n
}

// nextRow takes the next row of all sources, nil at the end.
func nextRow(ctx context.Context, sources []*rowSource, oldestFirst bool) (*command.Row, *command.Result) {
	var next *rowSource
	for _, source := range sources {
		if failed := source.fill(ctx); failed != nil {
			return nil, failed
		}
		if len(source.rows) > 0 && (next == nil || precedes(source.rows[0], next.rows[0], oldestFirst)) {
			next = source
		}
	}
	if next == nil {
		return nil, nil
	}
	row := next.rows[0]
	next.rows = next.rows[1:]
	return &row, nil
}

// precedes reports whether a comes before b.
func precedes(a, b command.Row, oldestFirst bool) bool {
	order := cmp.Or(a.CreatedAt().Compare(b.CreatedAt()), cmp.Compare(rowID(a), rowID(b)))
	return order < 0 == oldestFirst
}

// rowID returns the id of a row's object.
func rowID(r command.Row) string {
	if r.Refund != nil {
		return r.Refund.ID
	}
	return r.Transaction.ID
}

// sources returns the lists of v1 that have the rows of a command, and false if its numbers are of
// no object.
func (s session) sources(c command.ListTransactions) ([]*rowSource, bool) {
	switch {
	case c.Unsettled != nil:
		return s.unsettled(*c.Unsettled, c.OldestFirst), true
	case c.Customer != "":
		customer, err := id.Decimal(id.Customer, string(c.Customer))
		return []*rowSource{
			s.payments(v1.ListTransactionsParams{Customer: &customer}, time.Time{}, c.OldestFirst),
			s.refunds(v1.ListRefundsParams{Customer: &customer}, c.OldestFirst),
		}, err == nil
	}
	day, err := id.Decimal(id.SettlementDay, string(c.Day))
	return []*rowSource{
		s.payments(v1.ListTransactionsParams{SettlementDay: &day}, time.Time{}, c.OldestFirst),
		s.refunds(v1.ListRefundsParams{SettlementDay: &day}, c.OldestFirst),
	}, err == nil
}

func (s session) unsettled(u command.Unsettled, oldestFirst bool) []*rowSource {
	statuses := []v1.TransactionStatus{v1.TransactionStatusProcessing, v1.TransactionStatusUnknown}
	if u.Undecided {
		return []*rowSource{s.payments(v1.ListTransactionsParams{Status: &statuses}, u.Since, oldestFirst)}
	}
	statuses = append(statuses, v1.TransactionStatusAuthorized, v1.TransactionStatusPartiallyCaptured,
		v1.TransactionStatusCaptured)
	settlements := []v1.SettlementFilter{v1.SettlementFilterNone, v1.SettlementFilterPending}
	ended := []v1.TransactionStatus{
		v1.TransactionStatusVoided, v1.TransactionStatusDeclined, v1.TransactionStatusFailed,
	}
	pending := v1.SettlementFilterPending
	return []*rowSource{
		s.payments(v1.ListTransactionsParams{Status: &statuses, Settlement: &settlements}, u.Since, oldestFirst),
		s.payments(v1.ListTransactionsParams{Status: &ended}, u.EndedSince, oldestFirst),
		s.refunds(v1.ListRefundsParams{Settlement: &pending}, oldestFirst),
	}
}

// payments returns a list of payments that were made after since, unless that is zero.
func (s session) payments(of v1.ListTransactionsParams, since time.Time, oldestFirst bool) *rowSource {
	limit := pageOfV1
	of.Limit = &limit
	return &rowSource{read: func(ctx context.Context, after string) ([]command.Row, bool, *command.Result) {
		of.StartingAfter, of.EndingBefore = cursors(id.Transaction, after, oldestFirst)
		resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
			return s.x.client.API.ListTransactions(ctx, &of, s.WithKey, withMoment("created_after", since))
		})
		var page v1.TransactionList
		if r, ok := resp.read(&page, func() bool { return page.Data != nil }); !ok {
			return nil, false, &r
		}
		rows := make([]command.Row, len(page.Data))
		for i := range page.Data {
			rows[i].Transaction = &page.Data[i]
		}
		return ordered(rows, oldestFirst), page.HasMore, nil
	}}
}

// refunds returns a list of refunds with their payments.
func (s session) refunds(of v1.ListRefundsParams, oldestFirst bool) *rowSource {
	limit, expand := pageOfV1, v1.ExpandRefund{"transaction"}
	of.Limit, of.Expand = &limit, &expand
	return &rowSource{read: func(ctx context.Context, after string) ([]command.Row, bool, *command.Result) {
		of.StartingAfter, of.EndingBefore = cursors(id.Refund, after, oldestFirst)
		resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
			return s.x.client.API.ListRefunds(ctx, &of, s.WithKey)
		})
		var page v1.RefundList
		if r, ok := resp.read(&page, func() bool { return page.Data != nil }); !ok {
			return nil, false, &r
		}
		rows := make([]command.Row, len(page.Data))
		for i := range page.Data {
			rows[i].Refund = &page.Data[i]
			failed := s.withPayment(ctx, &rows[i])
			if failed != nil {
				return nil, false, failed
			}
		}
		return ordered(rows, oldestFirst), page.HasMore, nil
	}}
}

// withMoment adds a moment to the query of a request, unless it is zero. The generated client would
// write only its date.
func withMoment(name string, at time.Time) v1.RequestEditorFn {
	return func(_ context.Context, r *http.Request) error {
		if at.IsZero() {
			return nil
		}
		text, err := v1.Time{Time: at}.MarshalText()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		q := r.URL.Query()
		q.Set(name, string(text))
		r.URL.RawQuery = q.Encode()
		return nil
	}
}

// withPayment adds the payment of a refund. V1 leaves it out of a list if it is too long.
func (s session) withPayment(ctx context.Context, row *command.Row) *command.Result {
	if row.Refund.Transaction == "" {
		return nil
	}
	if e := row.Refund.Expanded; e != nil && e.Transaction != nil {
		row.Transaction = e.Transaction
		return nil
	}
	t, failed := s.read(ctx, row.Refund.Transaction)
	if t == nil {
		return &failed
	}
	row.Transaction = t
	return nil
}

// cursors returns the parameters of the page after an id. A list with the oldest first begins at
// the least id.
func cursors(of id.Prefix, after string, oldestFirst bool) (startingAfter, endingBefore *string) {
	switch {
	case oldestFirst && after == "":
		least := id.Format(of, 0)
		return nil, &least
	case oldestFirst:
		return nil, &after
	case after == "":
		return nil, nil
	}
	return &after, nil
}

// ordered returns the rows of a page of v1, which begins with the newest, in the order of the list.
func ordered(rows []command.Row, oldestFirst bool) []command.Row {
	if oldestFirst {
		slices.Reverse(rows)
	}
	return rows
}

// listDays lists settlement days.
func (s session) listDays(ctx context.Context, c command.ListDays) command.Result {
	limit := pageOfV1
	of := v1.ListSettlementDaysParams{Limit: &limit}
	r := command.Result{Outcome: command.Done, Status: http.StatusOK}
	for len(r.Days) < maxDays {
		resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
			return s.x.client.API.ListSettlementDays(ctx, &of, s.WithKey,
				withMoment("ended_after", c.After), withMoment("ended_before", c.Before))
		})
		var page v1.SettlementDayList
		if failed, ok := resp.read(&page, func() bool { return page.Data != nil }); !ok {
			return failed
		}
		r.Days = append(r.Days, page.Data...)
		if !page.HasMore || len(page.Data) == 0 {
			break
		}
		of.StartingAfter = &page.Data[len(page.Data)-1].ID
	}
	slices.Reverse(r.Days)
	return r
}

// getDay reads one settlement day.
func (s session) getDay(ctx context.Context, c command.GetDay) command.Result {
	name, err := id.Decimal(id.SettlementDay, string(c.Day))
	if err != nil {
		return command.Result{Outcome: command.NotFound}
	}
	return s.readDay(ctx, name)
}

// readDay reads one settlement day by its id.
func (s session) readDay(ctx context.Context, name string) command.Result {
	resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.GetSettlementDay(ctx, name, s.WithKey)
	})
	var day v1.SettlementDay
	if failed, ok := resp.read(&day, func() bool { return day.ID == name }); !ok {
		return failed
	}
	return command.Result{Outcome: command.Done, Status: http.StatusOK, Days: []v1.SettlementDay{day}}
}
