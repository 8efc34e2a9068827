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

// lease leases deliveries by endpoint, in one commit for all of the round. An endpoint whose
// deliveries cannot be leased together gets them one by one, and delays no other. With an error the
// leases so far are returned too.
func (d *Deliverer) lease(ctx context.Context, takes []take, now time.Time) (map[int64][]store.Lease, error) {
	leases, pass := map[int64][]store.Lease{}, d.Store.BeginPass(store.PassWebhooks)
	err := store.Rows[take]{
		Kind: "webhook_endpoint", ID: func(t take) int64 { return t.endpoint.ID },
		Change: func(ctx context.Context, part []take) (n int, err error) {
			got := map[int64][]store.Lease{}
			err = d.Store.Update(ctx, func(tx *store.Tx) (err error) {
				clear(got)
				n, err = store.Each(tx, part, func(t take) (err error) {
					e := t.endpoint.ID
					got[e], err = tx.LeaseDeliveries(e, d.refusals[e].after, t.places, now.Add(leaseTime))
					return err
				})
				return err
			})
			if err == nil {
				maps.Copy(leases, got)
			}
			return n, err
		},
		Refused: func(ctx context.Context, t take) (err error) {
			leases[t.endpoint.ID], err = d.leaseSingly(ctx, pass, t, now)
			return err
		},
	}.Do(ctx, pass, takes)
	return leases, err
}

// leaseSingly leases the due deliveries to one endpoint and leaves out those that fail.
func (d *Deliverer) leaseSingly(
	ctx context.Context, pass *store.Pass, t take, now time.Time,
) (out []store.Lease, err error) {
	r := refusal{d.refusals[t.endpoint.ID].after, now}
	due, err := d.Store.DueDeliveries(ctx, t.endpoint.ID, r.after, now, refusalPage)
	if err != nil {
		return nil, err
	}
	rows := store.Rows[store.Due]{
		Kind: "webhook_delivery", ID: func(one store.Due) int64 { return one.ID },
		Change: func(ctx context.Context, part []store.Due) (n int, err error) {
			var got []store.Lease
			err = d.Store.Update(ctx, func(tx *store.Tx) (err error) {
				got = nil
				n, err = store.Each(tx, part, func(one store.Due) error {
					l, err := tx.LeaseDelivery(one.ID, now.Add(leaseTime))
					got = append(got, l...)
					return err
				})
				return err
			})
			if err == nil {
				out = append(out, got...)
			}
			return n, err
		},
	}
	for len(due) > 0 && len(out) < t.places && err == nil {
		part := due[:min(t.places-len(out), len(due))]
		err = rows.Do(ctx, pass, part)
		r.after, due = part[len(part)-1], due[len(part):]
	}
	d.refusals[t.endpoint.ID] = r
	return out, err
}
