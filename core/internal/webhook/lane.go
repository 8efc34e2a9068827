package webhook

import (
	"cmp"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// The bounds of the attempts under way at the same time.
const (
	mostFast = 512 // in the fast lane; the late ones do not count
	mostSlow = 256 // in the slow lane
)

// lane bounds the attempts at some endpoints, the fast ones or the slow ones. Their tenants take
// turns, and so do the endpoints of a tenant. Endpoints of different lanes do not delay each other.
type lane struct {
	most  int                    // attempts that may count at the same time
	count int                    // attempts in progress, without the late ones
	held  map[payment.Tenant]int // all attempts under way
	short bool                   // due deliveries may wait until an attempt ends

	// Only Run reads and writes these.
	tenants   line[payment.Tenant]
	endpoints line[int64]
}

func newLane(most int) *lane { return &lane{most: most, held: map[payment.Tenant]int{}} }

// may reports whether a tenant may begin one more attempt. It may hold at most half as many
// attempts as the bound has left, so other tenants get attempts too. Late attempts and attempts at
// deleted endpoints count.
func (l *lane) may(t payment.Tenant) bool { return 2*l.held[t] < l.most-l.count }

// line is the order of the turns of tenants or endpoints that have due deliveries.
type line[K comparable] struct {
	last  int64       // the highest number so far
	turns map[K]int64 // the lowest number has the next turn
}

// keep appends new keys, and removes missing ones.
func (l *line[K]) keep(keys []K) {
	before := l.turns
	l.turns = make(map[K]int64, len(before))
	for _, k := range keys {
		if turn, waits := before[k]; waits {
			l.turns[k] = turn
		} else if l.turns[k] == 0 {
			l.endTurn(k)
		}
	}
}

// endTurn moves a key to the end.
func (l *line[K]) endTurn(k K) {
	l.last++
	l.turns[k] = l.last
}

// endTurn moves an endpoint and its tenant to the ends of their lines.
func (l *lane) endTurn(e *payment.Endpoint) {
	l.tenants.endTurn(e.Tenant)
	l.endpoints.endTurn(e.ID)
}

// take is a right to begin attempts at one endpoint.
type take struct {
	lane     *lane
	endpoint *payment.Endpoint
	attempts int  // that can still begin
	leased   bool // a commit has leased the due deliveries, or as many as there are attempts
}

// setShort notes whether due deliveries in a lane may wait until an attempt ends.
func (d *Deliverer) setShort(l *lane, short bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l.short = short
}

// queue returns the due endpoints by tenant, both in the order of their turns.
func (l *lane) queue(due []*payment.Endpoint) (tenants [][]*take) {
	of, ids := make([]payment.Tenant, len(due)), make([]int64, len(due))
	for i, e := range due {
		of[i], ids[i] = e.Tenant, e.ID
	}
	l.tenants.keep(of)
	l.endpoints.keep(ids)
	slices.SortFunc(due, func(a, b *payment.Endpoint) int {
		return cmp.Or(
			cmp.Compare(l.tenants.turns[a.Tenant], l.tenants.turns[b.Tenant]),
			cmp.Compare(l.endpoints.turns[a.ID], l.endpoints.turns[b.ID]),
		)
	})
	for i, e := range due {
		if i == 0 || e.Tenant != due[i-1].Tenant {
			tenants = append(tenants, nil)
		}
		last := len(tenants) - 1
		tenants[last] = append(tenants[last], &take{lane: l, endpoint: e})
	}
	return tenants
}

// reserve returns the attempts that may begin now at due endpoints of a lane, in the order of
// their turns. They count as under way. Each tenant gets one attempt after the other, each time at
// its next endpoint.
func (d *Deliverer) reserve(l *lane, due []*payment.Endpoint) (takes []*take) {
	tenants := l.queue(due)
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(tenants) > 0 {
		left := tenants[:0]
		for _, endpoints := range tenants {
			t, rest := d.reserveNext(endpoints)
			if t == nil {
				continue
			}
			if t.attempts == 1 {
				takes = append(takes, t)
			}
			left = append(left, rest)
		}
		tenants = left
	}
	return takes
}

// reserveNext reserves an attempt at the first of a tenant's endpoints that may have one more. It
// returns nil if no endpoint may. Otherwise it also returns the endpoints that may have further
// attempts, with the reserved one last.
func (d *Deliverer) reserveNext(endpoints []*take) (*take, []*take) {
	for i, t := range endpoints {
		if d.reserveAt(t) {
			return t, append(endpoints[i+1:], t)
		}
	}
	return nil, nil
}

// reserveAt reserves an attempt at an endpoint. It returns false if the endpoint has as many as it
// may.
func (d *Deliverer) reserveAt(t *take) bool {
	l, e := t.lane, t.endpoint
	h := d.healthOf(e)
	if h.under >= h.limit(e) || !l.may(e.Tenant) {
		return false
	}
	t.attempts++
	h.under++
	l.count++
	l.held[e.Tenant]++
	return true
}

// leave ends an attempt, or drops it if it has not begun. With wake, the next round begins
// immediately if deliveries wait for the attempt. Without wake the round waits, because after a
// failure it would find the same deliveries.
func (d *Deliverer) leave(a *attempt, wake bool) {
	d.mu.Lock()
	delete(d.requests, a) // it is there after a panic
	l, tenant := a.lane, a.endpoint.Tenant
	if !a.late {
		l.count--
	}
	if l.held[tenant]--; l.held[tenant] == 0 {
		delete(l.held, tenant)
	}
	d.healthOf(a.endpoint).under--
	wake = wake && (l.short || d.laneOf(a.endpoint).short)
	d.mu.Unlock()
	if !wake {
		return
	}
	select {
	case d.freed <- struct{}{}:
	default: // a round is due already
	}
}
