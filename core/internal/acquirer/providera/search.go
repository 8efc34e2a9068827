package providera

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

const (
	// pageSize keeps a page of a list well below the greatest response that is read.
	pageSize = 500
	// lag is how far the provider's clock may differ from ours, with the time that a request is on its
	// way. After that time the lists have everything.
	lag = time.Hour
	// longestBatchSpan is the greatest range of a list of batches. A payment settles within days.
	longestBatchSpan = 31 * 24 * time.Hour
	// mostSearches bounds the searches that are kept.
	mostSearches = 1024
	// unsettledList is the name of the list that is not of a batch.
	unsettledList = ""
)

// search finds the transactions that a request has made: first in the list of those that have not
// settled, then in the batches. It reads only the rows that were submitted at the time of the
// request. Each list is in the order of that time, so it finds these rows without the others.
//
// An attempt at a step can end before its search. The next attempt goes on with the same search. A
// process that ends only repeats it. Once all lists were read, or if an attempt could read none, the
// next attempt begins again. It skips the batches that cannot change.
type search struct {
	c           *Connector
	about       acquirer.Sent
	first, last time.Time           // when the transaction can have been submitted
	begun       time.Time           // when it began to read the lists; zero if it has not
	read        map[string]position // by list
	advanced    bool                // this attempt has read rows
	candidates  []string            // the numbers of rows with the request's invoice number
}

// position is the part of a list that was read.
type position struct {
	until time.Time // the rows before this time
	page  int       // the last page
}

// resume returns the search for a request. Two attempts at once have a search each.
func (c *Connector) resume(about acquirer.Sent, prepared time.Time) *search {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.searches[about.Reference]
	delete(c.searches, about.Reference)
	if s == nil {
		s = &search{c: c, first: prepared.Add(-lag), last: prepared.Add(lag), read: map[string]position{}}
	}
	s.about, s.advanced = about, false
	return s
}

// keep stores a search for the next attempt. If there are too many, it drops any other one.
func (c *Connector) keep(s *search) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.searches) >= mostSearches {
		for other := range c.searches {
			delete(c.searches, other)
			break
		}
	}
	c.searches[s.about.Reference] = s
}

// run continues the search. Its error is acquirer.ErrNotListed if it has read all lists after the
// time of the request, and none has the transaction.
func (s *search) run(ctx context.Context) (*details, error) {
	now := s.c.clock.Now().UTC()
	if s.begun.IsZero() {
		s.begun = now
	}
	d, err := s.lists(ctx, now)
	if err != nil && !s.advanced {
		s.begin()
	}
	return d, err
}

// begin makes the next attempt read the list again whose rows change.
func (s *search) begin() {
	s.begun = time.Time{}
	delete(s.read, unsettledList)
}

// lists reads the lists until one has the transaction.
func (s *search) lists(ctx context.Context, now time.Time) (*details, error) {
	err := s.list(ctx, unsettledList, "getUnsettledTransactionList", func(p paging) any {
		return unsettledListRequest{Login: s.c.login(), Sorting: oldestFirst, Paging: p}
	})
	if err != nil {
		return nil, err
	}
	if d, err := s.made(ctx); d != nil || err != nil {
		return d, err
	}
	batches, err := s.c.batches(ctx, s.first, now)
	if err != nil {
		return nil, err
	}
	for _, b := range batches {
		err := s.list(ctx, b.id, "getTransactionList", func(p paging) any {
			return transactionListRequest{Login: s.c.login(), Batch: b.id, Sorting: oldestFirst, Paging: p}
		})
		if err != nil {
			return nil, err
		}
		if d, err := s.made(ctx); d != nil || err != nil {
			return d, err
		}
	}
	return nil, s.end(batches, now)
}

// end ends a search that has read all lists, and returns its error. The next one reads again the
// lists that can change.
func (s *search) end(batches []batch, now time.Time) error {
	whole := s.begun.After(s.last)
	s.begin()
	for _, b := range batches {
		if !b.complete(now) {
			delete(s.read, b.id)
		}
	}
	if !whole {
		return fmt.Errorf("providera: %w: the lists do not have the request yet", acquirer.ErrUnknown)
	}
	return fmt.Errorf("providera: %w", acquirer.ErrNotListed)
}

// oldestFirst lets no new row move the others to another page.
var oldestFirst = sorting{By: "submitTimeUTC"}

// list reads the rows of a list that can be of the request, from the position of the last attempt.
// Like a binary search, it skips the pages of older rows.
func (s *search) list(ctx context.Context, name, method string, request func(paging) any) error {
	at, ok := s.read[name]
	if !ok {
		at.until = s.first
	}
	p := pages{next: max(1, at.page-1)} // rows that settle move the others to earlier pages
	for !at.until.After(s.last) {
		rows, err := s.page(ctx, method, request(paging{Limit: pageSize, Page: p.next}))
		if err != nil {
			return err
		}
		full := len(rows) == pageSize
		if !p.begin(full && rows[pageSize-1].at.Before(at.until)) {
			continue
		}
		s.note(rows)
		s.advanced = true
		at = position{s.last.Add(1), p.next}
		if full {
			at.until = rows[pageSize-1].at
		}
		s.read[name] = at
		p = pages{older: p.next, next: p.next + 1}
	}
	return nil
}

// pages is the search for the first page of a list that has a row of a time or later.
type pages struct {
	next         int // the page to read
	older, newer int // the last page that has only older rows, and the first that has others; 0 for none
	step         int
}

// begin takes the rows of the next page into account, and reports whether it is the first page. If
// it is not, it sets the page to read instead.
func (p *pages) begin(older bool) bool {
	switch {
	case !older && p.next <= p.older+1:
		return true
	case older:
		p.older, p.step = p.next, 2*p.step+1
	default:
		p.newer = p.next
	}
	if p.next = p.older + p.step; p.newer > 0 {
		p.next = max(p.older+1, (p.older+p.newer)/2)
	}
	return false
}

// note adds the numbers of the rows with the request's invoice number to the candidates.
func (s *search) note(rows []listed) {
	invoice := invoiceNumber(s.about.Reference)
	for _, r := range rows {
		if r.invoice == invoice && r.id != "" && !slices.Contains(s.candidates, r.id) {
			s.candidates = append(s.candidates, r.id)
		}
	}
}

// made returns the candidate that the request has made, nil if there is none.
func (s *search) made(ctx context.Context) (*details, error) {
	var found []*details
	for _, id := range s.candidates {
		d, err := s.c.details(ctx, id)
		if err != nil {
			return nil, err
		}
		if d.madeBy(s.about) {
			found = append(found, d)
		}
	}
	s.candidates = s.candidates[:0]
	for _, d := range found {
		s.candidates = append(s.candidates, number(d.ID))
	}
	switch len(found) {
	case 0:
		return nil, nil //nolint:nilnil // there is none
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf(
		"providera: %w: the account shows %d transactions of the request", acquirer.ErrUnknown, len(found))
}

// listed is a row of a list.
type listed struct {
	id, invoice string
	at          time.Time // when it was submitted
}

// page reads a page of a list. A page after the last one has no rows. It returns an error for rows
// in the other order, because the search would miss a row then.
func (s *search) page(ctx context.Context, method string, request any) ([]listed, error) {
	d, err := s.c.read(ctx, method, request)
	if err != nil {
		return nil, err
	}
	switch d.code() {
	case codeNoRows, codePastEnd:
		return nil, nil
	}
	if !d.ok() {
		return nil, fmt.Errorf("providera: %s: %w: %s", method, acquirer.ErrUnknown, shown(d.code()))
	}
	out := make([]listed, 0, len(d.Rows))
	for _, r := range d.Rows {
		at, err := time.Parse(time.RFC3339Nano, r.SubmittedAt.value)
		if err != nil {
			return nil, contradiction("time of a row")
		}
		out = append(out, listed{number(r.ID), r.Invoice.value, at})
	}
	if n := len(out); n > 0 && out[n-1].at.Before(out[0].at) {
		return nil, contradiction("order of the list")
	}
	return out, nil
}

// batch is a batch of settled transactions.
type batch struct {
	id        string
	settledAt string // "" if it is not known
}

// complete reports whether the lists certainly have all rows of the batch.
func (b batch) complete(now time.Time) bool {
	at, err := time.Parse(time.RFC3339Nano, b.settledAt)
	return err == nil && now.Sub(at) >= lag
}

// batches returns the batches that were settled from a time on, oldest first, as far as one list
// reaches.
func (c *Connector) batches(ctx context.Context, first, last time.Time) ([]batch, error) {
	if limit := first.Add(longestBatchSpan); last.After(limit) {
		last = limit
	}
	if !last.After(first) {
		return nil, nil
	}
	const method = "getSettledBatchList"
	d, err := c.read(ctx, method, batchListRequest{
		Login: c.login(), First: first.Format(time.RFC3339), Last: last.Format(time.RFC3339),
	})
	if err != nil || d.code() == codeNoRows {
		return nil, err
	}
	if !d.ok() {
		return nil, fmt.Errorf("providera: %s: %w: %s", method, acquirer.ErrUnknown, shown(d.code()))
	}
	out := make([]batch, 0, len(d.Batches))
	for _, b := range d.Batches {
		id := number(b.ID)
		if id == "" {
			return nil, contradiction("batch")
		}
		out = append(out, batch{id, b.SettledAt.value})
	}
	slices.SortStableFunc(out, func(a, b batch) int { return cmp.Compare(a.settledAt, b.settledAt) })
	return out, nil
}
