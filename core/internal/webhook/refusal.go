package webhook

import (
	"context"
	"maps"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
)

const (
	// refusalPause is how long a delivery waits that the store refused to lease.
	refusalPause = time.Minute
	// refusalPage is how many due deliveries to an endpoint one round reads to lease them one by one.
	refusalPage = 64
)

// refusal is of an endpoint with a delivery that the store refused to lease.
type refusal struct {
	after store.Due // the due deliveries up to this one are left alone during the pause
	since time.Time
}

// endRefusals forgets the refusals whose pause is over.
func (d *Deliverer) endRefusals(now time.Time) {
	maps.DeleteFunc(d.refusals, func(_ int64, r refusal) bool { return now.Sub(r.since).Abs() >= refusalPause })
}

// begin begins attempts of leases that were committed. leased is when their commit wrote them.
type begin func(t *take, leases []store.Lease, leased time.Time)

// lease leases deliveries by endpoint, those of many endpoints in one commit, and begins their
// attempts after each commit. Of failing endpoints it leases one commit only. The others have their
// turn in the next rounds, so that on a slow store healthy endpoints do not wait for them. If the
// deliveries to an endpoint cannot be leased together, they are leased one by one.
func (d *Deliverer) lease(ctx context.Context, takes []*take, attempt begin) error {
	pass := d.Store.BeginPass(store.PassWebhooks)
	return store.Rows[*take]{
		Kind: "webhook_endpoint", ID: func(t *take) int64 { return t.endpoint.ID },
		Change: func(ctx context.Context, part []*take) (n int, err error) {
			var now time.Time
			var got [][]store.Lease
			err = d.Store.Update(ctx, func(tx *store.Tx) (err error) {
				now, got = d.Clock.Now(), nil
				n, err = store.Each(tx, part, func(t *take) error {
					after := d.refusals[t.endpoint.ID].after
					leases, err := tx.LeaseDeliveries(t.endpoint.ID, after, t.places, now.Add(leaseTime))
					got = append(got, leases)
					return err
				})
				return err
			})
			if err != nil {
				return 0, err
			}
			for i, leases := range got {
				attempt(part[i], leases, now)
			}
			if fails(part[n-1].endpoint) {
				return len(part), nil
			}
			return n, nil
		},
		Refused: func(ctx context.Context, t *take) error { return d.leaseSingly(ctx, pass, t, attempt) },
	}.Do(ctx, pass, takes)
}

// leaseSingly is lease of the due deliveries to one endpoint. It skips those that fail.
func (d *Deliverer) leaseSingly(ctx context.Context, pass *store.Pass, t *take, attempt begin) error {
	r := refusal{d.refusals[t.endpoint.ID].after, d.Clock.Now()}
	due, err := d.Store.DueDeliveries(ctx, t.endpoint.ID, r.after, r.since, refusalPage)
	if err != nil {
		return err
	}
	rows := store.Rows[store.Due]{
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
	for len(due) > 0 && t.places > 0 && err == nil {
		part := due[:min(t.places, len(due))]
		err = rows.Do(ctx, pass, part)
		r.after, due = part[len(part)-1], due[len(part):]
	}
	d.refusals[t.endpoint.ID] = r
	return err
}
