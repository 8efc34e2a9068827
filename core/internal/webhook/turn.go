package webhook

import (
	"cmp"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// The bounds of the attempts under way at once.
const (
	mostProven  = 256 // at endpoints that took their last delivery here
	mostFresh   = 128 // at endpoints without a result here
	mostFailing = 128 // at endpoints whose last attempt failed
	mostEach    = 4   // at one endpoint; one at a failing endpoint
)

// group is endpoints of one kind: they have a bound of attempts in common, and their merchants have
// their turn one after the other. Endpoints of different groups do not delay each other.
type group struct {
	most     int           // attempts that may be under way at once
	mostEach int           // of these, at one endpoint
	under    int           // attempts under way
	held     map[int64]int // of these, by merchant; those at deleted endpoints included

	merchants, endpoints turns // only Run reads and writes these
}

func newGroup(most, mostEach int) *group {
	return &group{
		most: most, mostEach: mostEach, held: map[int64]int{},
		merchants: turns{of: map[int64]int64{}}, endpoints: turns{of: map[int64]int64{}},
	}
}

// may reports whether one more attempt at an endpoint of a merchant may begin. A merchant holds at most
// as many attempts as are left: one merchant alone holds half of them, each of two a third. So an
// attempt is left for a merchant that holds none, unless there are as many merchants as attempts.
func (g *group) may(merchant int64) bool { return g.held[merchant] < g.most-g.under }

// turns is the order in which merchants, or the endpoints of a merchant, have their turn. Its memory is
// bounded by the number of endpoints with due deliveries.
type turns struct {
	last int64           // the highest number given so far
	of   map[int64]int64 // by id of those with due deliveries; the lowest number has the next turn
}

// keep gives the last turns to the ids that are new among those with due deliveries, and removes the
// ids that are no longer among them.
func (t *turns) keep(due []int64) {
	before := t.of
	t.of = make(map[int64]int64, len(due))
	for _, id := range due {
		if _, waited := before[id]; !waited {
			t.last++
			before[id] = t.last
		}
		t.of[id] = before[id]
	}
}

// end gives the last turn to an id after its turn.
func (t *turns) end(id int64) {
	t.last++
	t.of[id] = t.last
}

// endTurn gives an endpoint, and its merchant, the last turn.
func (g *group) endTurn(e *store.Endpoint) {
	g.merchants.end(e.Tenant.Merchant)
	g.endpoints.end(e.ID)
}

// take is a right to begin attempts at one endpoint.
type take struct {
	group    *group
	endpoint *store.Endpoint
	attempts int // that can still begin
}

// queue is the due endpoints of one merchant that can still get an attempt, by their turns.
type queue struct {
	merchant int64
	takes    []*take
}

// sort returns the due endpoints by merchant, the merchants by their turns.
func (g *group) sort(due []*store.Endpoint) []*queue {
	var merchants, endpoints []int64
	for _, e := range due {
		merchants, endpoints = append(merchants, e.Tenant.Merchant), append(endpoints, e.ID)
	}
	g.merchants.keep(merchants)
	g.endpoints.keep(endpoints)
	slices.SortFunc(due, func(a, b *store.Endpoint) int {
		return cmp.Or(
			cmp.Compare(g.merchants.of[a.Tenant.Merchant], g.merchants.of[b.Tenant.Merchant]),
			cmp.Compare(g.endpoints.of[a.ID], g.endpoints.of[b.ID]))
	})
	var queues []*queue
	for i, e := range due {
		if i == 0 || e.Tenant.Merchant != due[i-1].Tenant.Merchant {
			queues = append(queues, &queue{merchant: e.Tenant.Merchant})
		}
		q := queues[len(queues)-1]
		q.takes = append(q.takes, &take{group: g, endpoint: e})
	}
	return queues
}

// reserve returns the attempts that may begin now at due endpoints of a group, in the order of their
// turns. They count as under way. Each merchant gets one attempt after the other, each time at its
// next endpoint.
func (d *Deliverer) reserve(g *group, due []*store.Endpoint) (takes []*take) {
	queues := g.sort(due)
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(queues) > 0 {
		q := queues[0]
		queues = queues[1:]
		t := d.reserveOne(q)
		if t == nil {
			continue
		}
		if t.attempts == 1 {
			takes = append(takes, t)
		}
		queues = append(queues, q)
	}
	return takes
}

// reserveOne reserves an attempt at the next endpoint of a merchant. It returns nil if the merchant or
// all of its endpoints have as many as they may.
func (d *Deliverer) reserveOne(q *queue) *take {
	for len(q.takes) > 0 {
		t := q.takes[0]
		q.takes = q.takes[1:]
		if !t.group.may(q.merchant) {
			return nil
		}
		if d.under[t.endpoint.ID] < t.group.mostEach {
			q.takes = append(q.takes, t)
			t.attempts++
			d.under[t.endpoint.ID]++
			t.group.under++
			t.group.held[q.merchant]++
			return t
		}
	}
	return nil
}

// leave ends one attempt of a take, or drops it if it has not begun. With wake the next round begins
// at once. Without it that round waits: after a failure it would find the same deliveries.
func (d *Deliverer) leave(t *take, wake bool) {
	d.mu.Lock()
	t.group.under--
	release(t.group.held, t.endpoint.Tenant.Merchant)
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

// release takes one attempt from those under way by id.
func release(under map[int64]int, id int64) {
	if under[id]--; under[id] == 0 {
		delete(under, id)
	}
}
