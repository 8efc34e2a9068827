package webhook

import (
	"context"
	"maps"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

const (
	// refusalPause is the pause of a delivery after the store refused to lease it.
	refusalPause = time.Minute
	// refusalPage is how many due deliveries to an endpoint one round reads to lease them one by one.
	refusalPage = 64
)

// refusal is the state of an endpoint with a delivery that the store refused to lease.
type refusal struct {
	after store.Due // the due deliveries up to this one are left alone during the pause
	since time.Time
}

// endRefusals removes the refusals whose pause is over.
func (d *Deliverer) endRefusals(now time.Time) {
	maps.DeleteFunc(d.refusals, func(_ int64, r refusal) bool { return now.Sub(r.since).Abs() >= refusalPause })
}

// begin begins attempts of leases that were committed. leased is when their commit wrote them.
type begin func(t *take, leases []store.Lease, leased time.Time)

// lease leases deliveries by endpoint, for many endpoints in one commit, and begins their attempts
// after that commit. The endpoints beyond the bounds of a commit keep their turns. If the commit
// fails, it leases parts in smaller commits. If the deliveries to an endpoint cannot be leased
// together, they are leased one by one.
func (d *Deliverer) lease(ctx context.Context, takes []*take, attempt begin) error {
	skipping := d.Store.BeginPass(pass.Webhooks)
	return pass.Rows[*take]{
		Kind: "webhook_endpoint", ID: func(t *take) int64 { return t.endpoint.ID },
		Change: func(ctx context.Context, part []*take) (int, error) {
			var now time.Time
			var got [][]store.Lease
			err := d.Store.Update(ctx, func(tx *store.Tx) error {
				now, got = d.Clock.Now(), nil
				_, err := store.Each(tx, part, func(t *take) error {
					after := d.refusals[t.endpoint.ID].after
					leases, err := tx.LeaseDeliveries(t.endpoint.ID, after, t.attempts, now.Add(leaseTime))
					got = append(got, leases)
					return err
				})
				return err
			})
			if err != nil {
				return 0, err
			}
			for i, leases := range got {
				part[i].lane.endTurn(part[i].endpoint)
				attempt(part[i], leases, now)
			}
			return len(part), nil // those beyond got are the first ones of the next round
		},
		Refused: func(ctx context.Context, t *take) error { return d.leaseSingly(ctx, skipping, t, attempt) },
	}.Do(ctx, skipping, takes)
}

// leaseSingly leases the due deliveries to one endpoint one by one, and skips refused ones.
func (d *Deliverer) leaseSingly(ctx context.Context, skipping *pass.Pass, t *take, attempt begin) error {
	t.lane.endTurn(t.endpoint) // even if it fails: endpoints of other tenants are next
	r := refusal{d.refusals[t.endpoint.ID].after, d.Clock.Now()}
	due, err := d.Store.DueDeliveries(ctx, t.endpoint.ID, r.after, r.since, refusalPage)
	if err != nil {
		return err
	}
	rows := pass.Rows[store.Due]{
		Kind: "webhook_delivery", ID: func(one store.Due) int64 { return one.ID },
		Change: func(ctx context.Context, part []store.Due) (n int, err error) {
			var now time.Time
			var got []store.Lease
			err = d.Store.Update(ctx, func(tx *store.Tx) (err error) {
				now, got = d.Clock.Now(), nil
				n, err = store.Each(tx, part, func(one store.Due) error {
					l, err := tx.LeaseDelivery(one.ID, now.Add(leaseTime))
					got = append(got, l...)
					return err
				})
				return err
			})
			if err == nil {
				attempt(t, got, now)
			}
			return n, err
		},
	}
	for len(due) > 0 && t.attempts > 0 && err == nil {
		part := due[:min(t.attempts, len(due))]
		err = rows.Do(ctx, skipping, part)
		r.after, due = part[len(part)-1], due[len(part):]
	}
	d.refusals[t.endpoint.ID] = r
	return err
}
