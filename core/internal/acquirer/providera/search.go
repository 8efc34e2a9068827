package providera

import (
	"context"
	"errors"
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
	// skew is how far the clocks may differ for a search that proves an absence.
	skew = 5 * time.Minute
	// longestBatchSpan is the greatest range of a list of batches. A payment settles within days.
	longestBatchSpan = 31 * 24 * time.Hour
	// mostSearches bounds the searches that are kept.
	mostSearches = 1024
	// mostReads bounds the requests of one search attempt, and of the lists of one report. The
	// provider does not respond to more of them in that time.
	mostReads = 200
	// lastPage is the greatest number of a page in the API's schema.
	lastPage = 100_000
	// mostCandidates bounds the transactions of a list that have the invoice number of one request.
	mostCandidates = 100
	// mostBatches bounds the batches of longestBatchSpan.
	mostBatches = 250
	// unsettledList is the name of the list that is not of a batch.
	unsettledList = ""
)

// search finds the transactions that a request has made: first in the list of unsettled
// transactions, then in the batches. It reads only the rows that were submitted at the time of the
// request. Each list is in the order of that time, so it finds these rows without the others.
//
// An attempt at a step can end before its search. The next attempt goes on with the same search. A
// process that ends only repeats it. Once all lists were read, or if an attempt could read none,
// the next attempt begins again. It skips the batches that cannot change.
type search struct {
	c           *Connector
	about       acquirer.Sent
	first, last time.Time           // when the transaction can have been submitted
	begun       time.Time           // when it began to read the lists; zero if it has not
	timely      bool                // the clock agreed with the host's, from the request to now
	absent      time.Time           // the start of the first search of all lists that began after last; zero if none
	read        map[string]position // by list
	advanced    bool                // this attempt has read rows
	left        int                 // the requests that this attempt can still send
	candidates  []string            // the numbers of rows with the request's invoice number
}

// position is the part of a list that was read.
type position struct {
	pages    pages
	complete bool // the list had all its rows when the search began to read it
}

// resume returns the search for a request. Two attempts at once have a search each.
func (c *Connector) resume(about acquirer.Sent, prepared time.Time) *search {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.searches[about.Reference]
	delete(c.searches, about.Reference)
	if s == nil {
		s = c.newSearch(prepared)
	}
	s.about, s.advanced, s.left = about, false, mostReads
	return s
}

// begin keeps a search for a request whose response was just lost. timely reports whether the
// clock agreed with the host's just before. Any other search proves nothing: the clock may have
// been wrong at the request.
func (c *Connector) begin(about acquirer.Sent, timely bool) {
	prepared, dated := timeOf(about.Tag)
	if !dated {
		return
	}
	s := c.newSearch(prepared)
	s.about, s.timely = about, timely && c.clock.Now().Sub(prepared).Abs() <= skew
	c.keep(s)
}

func (c *Connector) newSearch(prepared time.Time) *search {
	first := prepared
	if now := c.clock.Now().UTC(); now.Before(first) {
		first = now // the clock was ahead when it was prepared
	}
	return &search{c: c, first: first.Add(-lag), last: prepared.Add(lag), read: map[string]position{}}
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
	err := s.list(ctx, unsettledList, false, "getUnsettledTransactionList", func(p paging) any {
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
		err := s.list(ctx, b.id, b.complete(now), "getTransactionList", func(p paging) any {
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
//
// While a transaction settles, no list may have it: it has left the unsettled list, and its batch
// appears within lag. So the error is acquirer.ErrNotListed only if an unsettled list without the
// transaction is older than lag, and all batches were complete.
func (s *search) end(batches []batch, now time.Time) error {
	if s.absent.IsZero() && s.begun.After(s.last) {
		s.absent = s.begun
	}
	whole := !s.absent.IsZero() && now.Sub(s.absent) >= lag
	s.begin()
	for _, b := range batches {
		if !s.read[b.id].complete {
			whole = false
			delete(s.read, b.id)
		}
	}
	if !whole {
		return fmt.Errorf("providera: %w: the lists do not have the request yet", acquirer.ErrUnknown)
	}
	if !s.timely {
		return fmt.Errorf("providera: %w: %w", acquirer.ErrNotListed, errUntimely)
	}
	return fmt.Errorf("providera: %w", acquirer.ErrNotListed)
}

// errUntimely: the clock did not agree with the host's from the request to now, or this process did
// not send it. The clock was perhaps wrong then, so the request can be in a part of the lists that
// the search does not read.
var errUntimely = errors.New("the clock was perhaps wrong at the time of the request")

// oldestFirst adds each new row to the last page.
var oldestFirst = sorting{By: "submitTimeUTC"}

// list reads the rows of a list that can be of the request, from the position of the last attempt.
// It reads the pages backwards. Rows leave the unsettled list when they settle, and all rows after
// them move to earlier pages. The search has yet to read those.
func (s *search) list(
	ctx context.Context, name string, complete bool, method string, request func(paging) any,
) error {
	at, ok := s.read[name]
	if !ok {
		if len(s.read) >= mostBatches { // the host has listed other batches before: begin again
			clear(s.read)
		}
		at = position{pages{next: 1}, complete}
	}
	known, last := len(s.candidates), page{}
	for at.pages.next > 0 {
		p, err := page{beyond: true}, error(nil)
		if at.pages.next <= lastPage {
			p, err = s.page(ctx, method, request(paging{Limit: pageSize, Page: at.pages.next}))
		}
		if err != nil {
			return err
		}
		s.note(p.rows)
		s.advanced = true
		why := ""
		switch {
		case p.repeats(last):
			why = "a repeated page"
		case len(s.candidates) > mostCandidates:
			why = "too many transactions of the request"
		case !at.pages.turn(p, s.first, s.last):
			why = "the list is longer than it can be read"
		}
		if why != "" { // the next attempt begins the list again
			delete(s.read, name)
			s.candidates = s.candidates[:known]
			return fmt.Errorf("providera: %s: %w: %s", method, acquirer.ErrUnknown, why)
		}
		s.read[name], last = at, p
	}
	return nil
}

// pages is a way through the pages of a list in the order of time. Like a binary search, it first
// finds the last page with a row up to a time. From there it goes back to the first row that is not
// before another time.
//
// No row moves to a later page. So a page without rows up to the time remains one.
type pages struct {
	next  int  // the page to read; 0 for none
	with  int  // the last page that had a row up to the time; 0 for none
	after int  // the first page known to have none; 0 for none
	back  bool // it goes back
	cut   bool // the list may go on at after, but cannot be read there
}

// turn takes the next page into account, and sets the page to read after it. It returns false if
// the list can have rows up to the time that cannot be read.
func (w *pages) turn(p page, first, last time.Time) bool {
	n, full := w.next, len(p.rows) == pageSize
	has := len(p.rows) > 0 && !p.rows[0].at.After(last)
	switch {
	case w.back:
	case !has:
		w.after, w.cut = n, p.beyond
	case full:
		w.with = n
	default:
		w.with, w.after = n, n+1
	}
	switch {
	case has && w.after == n+1 || w.back:
		if w.cut && w.after == n+1 && full && !p.rows[pageSize-1].at.After(last) {
			return false
		}
		w.back, w.next = true, n-1
		if has && p.rows[0].at.Before(first) {
			w.next = 0
		}
	case w.after == 1:
		w.next = 0
	case w.after == 0:
		w.next = 2 * n
	case w.with == w.after-1:
		w.back, w.next = true, w.with
	default:
		w.next = (w.with + w.after) / 2
	}
	return true
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
		if err := s.spend(); err != nil {
			return nil, err
		}
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

// page is a page of a list.
type page struct {
	rows   []listed
	beyond bool // the provider does not read so far
}

// repeats reports whether a page has the rows of another one.
func (p page) repeats(other page) bool {
	return len(p.rows) > 0 && slices.EqualFunc(p.rows, other.rows, func(a, b listed) bool {
		return a.id == b.id && a.invoice == b.invoice && a.at.Equal(b.at)
	})
}

// spend counts a request of this attempt.
func (s *search) spend() error {
	if s.left == 0 {
		return fmt.Errorf("providera: %w: the next attempt goes on with the search", acquirer.ErrUnknown)
	}
	s.left--
	return nil
}

// page reads a page of a list. A page after the last one has no rows. It returns an error for rows
// in the other order, because the search would miss a row then.
func (s *search) page(ctx context.Context, method string, request any) (page, error) {
	if err := s.spend(); err != nil {
		return page{}, err
	}
	d, err := s.c.read(ctx, method, request)
	if err != nil {
		return page{}, err
	}
	s.timely = s.timely && d.timely
	switch d.code() {
	case codeNoRows:
		return page{}, nil
	case codeTooFar:
		return page{beyond: true}, nil
	}
	if !d.ok() {
		return page{}, d.refusal(method)
	}
	out := make([]listed, 0, len(d.Rows))
	for _, r := range d.Rows {
		at, err := time.Parse(time.RFC3339Nano, r.SubmittedAt.value)
		if err != nil {
			return page{}, contradiction("time of a row")
		}
		out = append(out, listed{number(r.ID), r.Invoice.value, at})
	}
	if n := len(out); n > 0 && out[n-1].at.Before(out[0].at) {
		return page{}, contradiction("order of the list")
	}
	return page{rows: out}, nil
}
