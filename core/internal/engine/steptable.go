package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

const (
	// stepsPerPass is the number of steps of a table that a pass reads. The tenants whose steps do
	// not fit in a page share them. Each has at least leastShare.
	stepsPerPass, leastShare = 4000, 100
	// stepsPerPage is the number of steps for which a page counts if it has fewer.
	stepsPerPage = 25
)

// stepTable is a table of unfinished steps. Rounds read it tenant by tenant, over several passes if
// necessary. A round reads about one page of a tenant, and the next round continues after it. So
// the time until a step is read depends on the number of tenants, and not on the number of the
// other tenants' steps. A step that cannot be finished does not delay later steps.
type stepTable struct {
	kind payment.StepKind // of its steps, for the log
	page pager[task]

	tenant  payment.Tenant // the next page begins after the step id of this tenant
	id      int64
	part    int                             // how many of the tenant's steps this round has read
	reading *tenantSteps                    // of tenant; nil if the round has read its part
	tenants map[payment.Tenant]*tenantSteps // with steps in the last round or in this one
	parts   map[payment.Tenant]int64        // the tenants of which a round read only a part, with its last id
	ended   bool                            // a round has ended since expectWhole
}

// tenantSteps is the reading of the unfinished steps of one tenant.
type tenantSteps struct {
	seen bool // in this round
	now  stepCount
	last stepCount // of the last complete reading

	begun, whole bool // a reading has begun, or is complete, since expectWhole
}

// stepCount counts steps.
type stepCount struct {
	open   map[payment.StepKind]int
	oldest time.Time
}

func (c *stepCount) add(t task) {
	c.addAll(stepCount{map[payment.StepKind]int{t.id.Kind: 1}, t.since})
}

func (c *stepCount) addAll(d stepCount) {
	if c.open == nil {
		c.open = map[payment.StepKind]int{}
	}
	for kind, n := range d.open {
		c.open[kind] += n
	}
	if !d.oldest.IsZero() && (c.oldest.IsZero() || d.oldest.Before(c.oldest)) {
		c.oldest = d.oldest
	}
}

// offerFunc receives an unfinished step and the attempts at it so far.
type offerFunc func(task, payment.StepAttempt)

func newStepTable(kind payment.StepKind, page pager[task]) *stepTable {
	return &stepTable{
		kind: kind, page: page, tenants: map[payment.Tenant]*tenantSteps{}, parts: map[payment.Tenant]int64{},
	}
}

// read continues the round, and passes the steps of the next pages to offer, each step once.
func (s *stepTable) read(ctx context.Context, offer offerFunc) error {
	for left := stepsPerPass; left > 0; {
		p := s.next()
		rows, err := s.page(ctx, p)
		if err != nil {
			return fmt.Errorf("read unfinished steps: %w", err)
		}
		for _, row := range rows {
			s.found(row, offer)
		}
		left -= max(len(rows), stepsPerPage)
		switch {
		case len(rows) == p.Limit:
			if s.part >= p.Limit/2 {
				s.leave()
			}
		case p.Until != payment.Tenant{}:
			s.enter(p.Until)
		default:
			s.endRound()
			return nil
		}
	}
	return nil
}

// next returns the next page. It ends before the next tenant of which only a part was read.
func (s *stepTable) next() store.StepPage {
	p := store.StepPage{Tenant: s.tenant, ID: s.id, Limit: max(stepsPerPass/(len(s.parts)+2), leastShare)}
	for t := range s.parts {
		if compareTenants(t, s.tenant) > 0 && (p.Until == payment.Tenant{} || compareTenants(t, p.Until) < 0) {
			p.Until = t
		}
	}
	return p
}

// compareTenants compares two tenants by their order in store.StepPage.
func compareTenants(a, b payment.Tenant) int {
	switch {
	case a.Merchant != b.Merchant:
		return cmp.Compare(a.Merchant, b.Merchant)
	case a.Live == b.Live:
		return 0
	case b.Live:
		return -1
	}
	return 1
}

func (s *stepTable) found(o store.OpenStep[task], offer offerFunc) {
	s.enter(o.Row.tenant)
	s.id, _ = o.Row.id.Object()
	s.part++
	if !o.Waits {
		s.reading.now.add(o.Row)
		offer(o.Row, o.Last)
	}
}

// enter continues the reading of a tenant's steps. That of the previous tenant is complete.
func (s *stepTable) enter(t payment.Tenant) {
	if s.reading != nil && s.tenant == t {
		return
	}
	s.finish()
	r := s.tenants[t]
	if r == nil {
		r = &tenantSteps{}
		s.tenants[t] = r
	}
	s.tenant, s.id, s.part, s.reading = t, s.parts[t], 0, r
	r.seen, r.begun = true, r.begun || s.id == 0
}

// leave ends this round's part of the tenant's steps.
func (s *stepTable) leave() {
	s.parts[s.tenant] = s.id
	s.id, s.reading = math.MaxInt64, nil
}

// finish completes the reading of the tenant's steps.
func (s *stepTable) finish() {
	if r := s.reading; r != nil {
		r.last, r.now, r.whole = r.now, stepCount{}, r.whole || r.begun
		delete(s.parts, s.tenant)
	}
	s.reading = nil
}

// endRound begins the next round, and removes the tenants that have no steps any more.
func (s *stepTable) endRound() {
	s.finish()
	maps.DeleteFunc(s.tenants, func(_ payment.Tenant, r *tenantSteps) bool { return !r.seen })
	for _, r := range s.tenants {
		r.seen = false
	}
	s.tenant, s.id, s.ended = payment.Tenant{}, 0, true
}

// expectWhole makes whole return false until every step was read once more.
func (s *stepTable) expectWhole() {
	s.ended = false
	for _, r := range s.tenants {
		r.begun, r.whole = false, false
	}
}

// whole reports whether every step was read since expectWhole, from the first one.
func (s *stepTable) whole() bool {
	for _, r := range s.tenants {
		if !r.whole {
			return false
		}
	}
	return s.ended
}
