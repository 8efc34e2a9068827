package coretest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

// LiveAccount is the id of the account of OpenLive.
const LiveAccount = 7001

// OpenLive is Open for a merchant in live mode with one account. The service's acquirer serves that
// account. It gives tags and ids, and fails the test for a request that breaks the rules of the
// port. So does the acquirer of test mode for every request.
func OpenLive(tb testing.TB) *Service {
	tb.Helper()
	s := Open(tb)
	s.Tenant.Live = true
	s.Acquirer.rules = newRules(tb)
	s.Accounts.Add(LiveAccount, s.Acquirer)
	s.refuseTestMode(tb)
	return s
}

// refuseTestMode makes the acquirer of test mode fail the test for every request.
func (s *Service) refuseTestMode(tb testing.TB) {
	tb.Helper()
	s.Engine.Test = &Acquirer{Before: func(_ context.Context, c Call) error {
		tb.Errorf("the acquirer of test mode got %+v", c)
		return acquirer.ErrUnavailable
	}}
}

// AddAccount adds another account to the live accounts of the merchant, after the others, and
// returns its acquirer.
func (s *Service) AddAccount(tb testing.TB, id int64) *Acquirer {
	tb.Helper()
	a := &Acquirer{rules: newRules(tb)}
	s.Accounts.Add(id, a)
	return a
}

// Accounts are the live accounts of the merchant of a test. The zero value has none. It is safe for
// concurrent use.
type Accounts struct {
	mu       sync.Mutex
	all      map[int64]*Acquirer // guarded by mu
	once     map[int64]bool      // guarded by mu; the accounts that capture once
	enabled  []int64             // guarded by mu; in the order in which they are tried
	payments []AccountQuery      // guarded by mu
}

// AccountQuery is a call of ForPayment.
type AccountQuery struct {
	Merchant int64
	Currency string
	Method   acquirer.Method
}

var _ acquirer.Accounts = (*Accounts)(nil)

// Add adds an enabled account.
func (a *Accounts) Add(id int64, served *Acquirer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[int64]*Acquirer{}
	}
	a.all[id], a.enabled = served, append(a.enabled, id)
}

// CaptureOnce makes an account capture each authorization once.
func (a *Accounts) CaptureOnce(id int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.once = map[int64]bool{id: true}
}

// Enable makes these accounts the only ones for new payments.
func (a *Accounts) Enable(ids ...int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.enabled = ids
}

// Of returns the acquirer of an account.
func (a *Accounts) Of(id int64) *Acquirer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[id]
}

// Queries returns the calls of ForPayment so far.
func (a *Accounts) Queries() []AccountQuery {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.payments)
}

// ForPayment implements acquirer.Accounts.
func (a *Accounts) ForPayment(
	_ context.Context, merchant int64, currency string, m acquirer.Method,
) ([]acquirer.Account, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.payments = append(a.payments, AccountQuery{merchant, currency, m})
	var out []acquirer.Account
	for _, id := range a.enabled {
		out = append(out, acquirer.Account{
			ID: id, Acquirer: a.all[id], Reporter: a.all[id], CapturesOnce: a.once[id],
		})
	}
	if out == nil {
		return nil, fmt.Errorf("merchant %d: %w", merchant, acquirer.ErrNoAccount)
	}
	return out, nil
}

// Account implements acquirer.Accounts.
func (a *Accounts) Account(_ context.Context, _, id int64) (acquirer.Account, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	found, ok := a.all[id]
	if !ok {
		return acquirer.Account{}, fmt.Errorf("account %d: %w", id, acquirer.ErrNoAccount)
	}
	return acquirer.Account{ID: id, Acquirer: found, Reporter: found, CapturesOnce: a.once[id]}, nil
}

// revive returns the accounts with acquirers as Service.Revive makes them.
func (a *Accounts) revive() *Accounts {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := &Accounts{all: map[int64]*Acquirer{}, once: a.once, enabled: a.enabled}
	for id, of := range a.all {
		next.all[id] = of.revive()
	}
	return next
}

// rules check the requests of one acquirer, over all its lives. The nil rules check nothing. They
// are safe for concurrent use.
type rules struct {
	tb testing.TB

	mu       sync.Mutex
	prepared int
	known    map[string]acquirer.Sent // by reference, as it was requested first
	proved   map[string]bool          // references that certainly had no effect so far
	tags     map[string]string        // the reference of each tag, "" while it has none
}

func newRules(tb testing.TB) *rules {
	tb.Helper()
	return &rules{tb: tb, known: map[string]acquirer.Sent{}, proved: map[string]bool{}, tags: map[string]string{}}
}

// IDOf returns the id of a request at the acquirer of live mode.
func IDOf(reference string) string { return "id_of_" + reference }

func (r *rules) prepare() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prepared++
	tag := fmt.Sprint("tag_", r.prepared)
	r.tags[tag] = ""
	return tag
}

// sent checks a request: a tag belongs to one reference, and a repeated request has Again and the
// same values.
func (r *rules) sent(s acquirer.Sent, again bool) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	first, repeated := r.known[s.Reference]
	of, prepared := r.tags[s.Tag]
	switch {
	case !prepared || of != "" && of != s.Reference:
		r.tb.Errorf("%s has the tag %q, which is of %q", s.Reference, s.Tag, of)
	case repeated && !again && !r.proved[s.Reference]:
		r.tb.Errorf("%s was sent again as a first request", s.Reference)
	case repeated && first != s:
		r.tb.Errorf("sent again: got %+v, want %+v", s, first)
	}
	r.known[s.Reference], r.tags[s.Tag], r.proved[s.Reference] = s, s.Reference, false
}

// took checks the description of an earlier request that took an amount, at most the requested one.
func (r *rules) took(s acquirer.Sent) {
	if r == nil {
		return
	}
	r.mu.Lock()
	want := r.known[s.Reference]
	r.mu.Unlock()
	if s.Amount <= want.Amount {
		s.Amount = want.Amount
	}
	if r.names(s); s.ID == "" || want.Kind != acquirer.Sale && want.Kind != acquirer.Capture {
		r.tb.Errorf("%+v took no money, or has no id", s)
	}
}

// prove allows a first request with a reference that was sent before and had no effect.
func (r *rules) prove(reference string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.proved[reference] = true
}

// follows checks the description of the request that a step follows. If it has an id, its amount is
// the approved one.
func (r *rules) follows(s acquirer.Sent, approved int64) {
	if r == nil {
		return
	}
	if s.ID != "" {
		if s.Amount != approved {
			r.tb.Errorf("a step follows %+v, of which %d were approved", s, approved)
		}
		r.mu.Lock()
		s.Amount = r.known[s.Reference].Amount
		r.mu.Unlock()
	}
	r.names(s)
}

// names checks the description of an earlier request.
func (r *rules) names(s acquirer.Sent) {
	if r == nil {
		return
	}
	if f := s.Follow; f != nil {
		for _, earlier := range append([]acquirer.Sent{f.Original}, f.Captures...) {
			r.names(earlier)
		}
		s.Follow = nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	want, known := r.known[s.Reference]
	if id := IDOf(s.Reference); s.ID != "" && s.ID != id {
		r.tb.Errorf("%s has the id %s", s.Reference, s.ID)
	}
	if of, prepared := r.tags[s.Tag]; !known && (!prepared || of != "") {
		r.tb.Errorf("%s, which was never sent, has the tag %q of %q", s.Reference, s.Tag, of)
	}
	if s.ID = ""; known && s != want {
		r.tb.Errorf("a request is described as %+v, want %+v", s, want)
	}
}
