package webhook

import (
	"cmp"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// The bounds of the attempts under way at once.
const (
	mostProven  = 256 // at endpoints that took their last delivery here
	mostFresh   = 128 // at endpoints without a result here
	mostFailing = 128 // at endpoints whose last attempt failed
	mostEach    = 4   // at one endpoint; one at a failing endpoint
)

// holder holds attempts of a group: a merchant, one mode of a merchant, or an endpoint.
type holder struct {
	merchant int64
	mode     string // "" for both
	endpoint int64  // 0 for all
}

// holders returns the merchant, the mode and the endpoint that hold the attempts at an endpoint.
func holders(e *payment.Endpoint) [3]holder {
	merchant, mode := e.Tenant.Merchant, "test"
	if e.Tenant.Live {
		mode = "live"
	}
	return [3]holder{{merchant: merchant}, {merchant: merchant, mode: mode}, {merchant, mode, e.ID}}
}

// group is endpoints of one kind: they have a bound of attempts in common, and their merchants have
// their turn one after the other. Endpoints of different groups do not delay each other.
type group struct {
	most     int            // attempts that may be under way at once
	mostEach int            // of these, at one endpoint
	under    int            // attempts under way
	held     map[holder]int // of these, by holder; those at deleted endpoints included

	// Only Run reads and writes these.
	last  int64            // the highest number of a turn so far
	turns map[holder]int64 // of those with due deliveries; the lowest number has the next turn
}

func newGroup(most, mostEach int) *group {
	return &group{most: most, mostEach: mostEach, held: map[holder]int{}, turns: map[holder]int64{}}
}

// may reports whether one more attempt at an endpoint may begin. A merchant holds at most as many
// attempts as are left of the bound, and a mode at most as many as are then left of the merchant's
// share. So one merchant leaves attempts to the others, and one mode to the other.
func (g *group) may(e *payment.Endpoint) bool {
	of := holders(e)
	return g.most-g.under-g.held[of[0]]-g.held[of[1]] > 0
}

// keep gives the last turns to the holders that are new among those with due deliveries, and removes
// the holders that are no longer among them.
func (g *group) keep(due []*payment.Endpoint) {
	before := g.turns
	g.turns = make(map[holder]int64, len(due))
	for _, e := range due {
		for _, h := range holders(e) {
			if _, waited := before[h]; !waited {
				g.last++
				before[h] = g.last
			}
			g.turns[h] = before[h]
		}
	}
}

// endTurn gives an endpoint, its mode and its merchant the last turn.
func (g *group) endTurn(e *payment.Endpoint) {
	g.last++
	for _, h := range holders(e) {
		g.turns[h] = g.last
	}
}

// take is a right to begin attempts at one endpoint.
type take struct {
	group    *group
	endpoint *payment.Endpoint
	attempts int // that can still begin
}

// queue is the due endpoints of a holder that can still get an attempt, by their turns.
type queue struct {
	of    holder
	parts []*queue // of a group by merchant, of a merchant by mode, of a mode by endpoint
	take  *take    // of an endpoint
}

// queue returns the due endpoints by their turns.
func (g *group) queue(due []*payment.Endpoint) *queue {
	g.keep(due)
	slices.SortFunc(due, func(a, b *payment.Endpoint) int {
		x, y := holders(a), holders(b)
		for i := range x {
			if c := cmp.Compare(g.turns[x[i]], g.turns[y[i]]); c != 0 {
				return c
			}
		}
		return 0
	})
	all := &queue{}
	for _, e := range due {
		q := all
		for _, h := range holders(e) {
			if last := len(q.parts) - 1; last < 0 || q.parts[last].of != h {
				q.parts = append(q.parts, &queue{of: h})
			}
			q = q.parts[len(q.parts)-1]
		}
		q.take = &take{group: g, endpoint: e}
	}
	return all
}

// reserve returns the attempts that may begin now at due endpoints of a group, in the order of their
// turns. They count as under way. Each merchant gets one attempt after the other, each time in its
// next mode, at the next endpoint of that mode.
func (d *Deliverer) reserve(g *group, due []*payment.Endpoint) (takes []*take) {
	all := g.queue(due)
	d.mu.Lock()
	defer d.mu.Unlock()
	for t := d.reserveOne(all); t != nil; t = d.reserveOne(all) {
		if t.attempts == 1 {
			takes = append(takes, t)
		}
	}
	return takes
}

// reserveOne reserves an attempt at the next endpoint of a queue. It returns nil if all of them have
// as many as they may.
func (d *Deliverer) reserveOne(q *queue) *take {
	if q.take != nil {
		return d.reserveAt(q.take)
	}
	for len(q.parts) > 0 {
		next := q.parts[0]
		q.parts = q.parts[1:]
		if t := d.reserveOne(next); t != nil {
			q.parts = append(q.parts, next)
			return t
		}
	}
	return nil
}

// reserveAt reserves an attempt at an endpoint. It returns nil if the endpoint has as many as it may.
func (d *Deliverer) reserveAt(t *take) *take {
	g, e := t.group, t.endpoint
	if d.under[e.ID] >= g.mostEach || !g.may(e) {
		return nil
	}
	t.attempts++
	d.under[e.ID]++
	g.under++
	for _, h := range holders(e) {
		g.held[h]++
	}
	return t
}

// leave ends one attempt of a take, or drops it if it has not begun. With wake the next round begins
// at once. Without it that round waits: after a failure it would find the same deliveries.
func (d *Deliverer) leave(t *take, wake bool) {
	d.mu.Lock()
	t.group.under--
	for _, h := range holders(t.endpoint) {
		release(t.group.held, h)
	}
	release(d.under, t.endpoint.ID)
	d.mu.Unlock()
	if !wake {
		return
	}
	select {
	case d.freed <- struct{}{}:
	default: // a round is due already
	}
}

// release takes one attempt from those under way by holder.
func release[H comparable](under map[H]int, of H) {
	if under[of]--; under[of] == 0 {
		delete(under, of)
	}
}
