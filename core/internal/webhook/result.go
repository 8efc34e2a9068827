package webhook

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

const (
	// mostResults bounds the results of one commit.
	mostResults = 100
	// mostCommits bounds the concurrent commits of results. A further commit begins only if a result
	// has waited for longWait, so if a commit waits for a lock, other merchants' results do not.
	mostCommits = 4
	longWait    = 100 * time.Millisecond
)

// result is the result of an attempt.
type result struct {
	endpoint *payment.Endpoint
	lease    store.Lease
	attempt  payment.DeliveryAttempt

	ended    bool // the next fields are set
	err      error
	written  bool                   // also false if the lease had ended or the endpoint was deleted
	status   payment.DeliveryStatus // of the delivery
	disabled payment.EndpointReason // "" if the endpoint stays as it is
}

// end sets the error of a result.
func (r *result) end(err error) { r.ended, r.err = true, err }

// write returns once a result was committed, or could not be.
func (d *Deliverer) write(ctx context.Context, r *result) error {
	err := d.results.Do(ctx, r)
	if r.ended {
		return r.err
	}
	return err
}

// commitResults writes the results of attempts, as many as possible in one commit, and ends them.
// An attempt whose result the store refuses ends as failed inside the service.
func (d *Deliverer) commitResults(batch []*result) error {
	ctx := store.InBackground(context.Background()) // no attempt can cancel the commit of others
	return pass.Rows[*result]{
		Kind: "webhook_delivery", ID: func(r *result) int64 { return r.lease.Delivery },
		Change: func(ctx context.Context, part []*result) (int, error) {
			err := d.Store.Update(ctx, func(tx *store.Tx) error { return d.endAttempts(tx, part) })
			if err != nil {
				return 0, err
			}
			for _, r := range part {
				r.end(nil)
			}
			return len(part), nil
		},
		Refused: func(ctx context.Context, r *result) error {
			r.written, r.disabled = false, ""
			r.end(d.broken(ctx, r.lease))
			return nil
		},
	}.Do(ctx, d.Store.BeginPass(pass.Webhooks), batch)
}

// endAttempts writes the results of attempts in a command. It disables endpoints that responded
// 410, or failed for days.
func (d *Deliverer) endAttempts(tx *store.Tx, batch []*result) error {
	byDelivery := slices.SortedFunc(slices.Values(batch), func(a, b *result) int { // as all batches lock them
		return cmp.Compare(a.lease.Delivery, b.lease.Delivery)
	})
	ends := make([]store.AttemptEnd, len(batch))
	for i, r := range byDelivery {
		ends[i] = endOf(tx, r)
		r.status, r.disabled = ends[i].Status, ""
	}
	written, err := tx.EndAttempts(ends)
	if err != nil {
		return err
	}
	for i, r := range byDelivery {
		r.written = written[i]
	}
	return d.noteResults(tx, batch)
}

// endOf returns a result as the store writes it.
func endOf(tx *store.Tx, r *result) store.AttemptEnd {
	end := store.AttemptEnd{Lease: r.lease, Attempt: r.attempt, Status: payment.DeliverySucceeded, Due: r.attempt.At}
	switch {
	case r.attempt.Error == "":
	case r.attempt.Status == http.StatusGone:
		end.Status, end.Due = payment.DeliveryFailed, tx.Now
	default:
		end.Status, end.Due = afterFailure(r.lease, tx)
	}
	return end
}

// endpointResults are the results of one endpoint in a batch.
type endpointResults struct {
	endpoint  *payment.Endpoint
	succeeded bool    // an attempt has
	last      *result // the last one
	gone      *result // the last result with status 410; nil for none
}

// resultsByEndpoint returns the written results of a batch by endpoint, in the order of the
// endpoints' ids.
func resultsByEndpoint(batch []*result) []*endpointResults {
	of := map[int64]*endpointResults{}
	var out []*endpointResults
	for _, r := range batch {
		if !r.written {
			continue
		}
		e := of[r.endpoint.ID]
		if e == nil {
			e = &endpointResults{endpoint: r.endpoint}
			of[r.endpoint.ID] = e
			out = append(out, e)
		}
		e.last = r
		e.succeeded = e.succeeded || r.attempt.Error == ""
		if r.attempt.Status == http.StatusGone {
			e.gone = r
		}
	}
	slices.SortFunc(out, func(a, b *endpointResults) int { return cmp.Compare(a.endpoint.ID, b.endpoint.ID) })
	return out
}

// disabling is the end of deliveries to an endpoint because of a result.
type disabling struct {
	endpoint *payment.Endpoint
	reason   payment.EndpointReason
	result   *result
}

// noteResults stores which endpoints fail, and disables some of them. It locks the endpoints in the
// order of their ids, as all batches do. It disables endpoints after that, because disabling locks
// tenants. Commands that change an endpoint also lock the endpoint first.
func (d *Deliverer) noteResults(tx *store.Tx, batch []*result) error {
	var succeeded []int64
	var ends []disabling
	for _, e := range resultsByEndpoint(batch) {
		if e.succeeded {
			succeeded = append(succeeded, e.endpoint.ID)
		}
		if e.last.attempt.Error == "" && e.gone == nil {
			continue
		}
		if err := tx.NoteSuccesses(succeeded); err != nil {
			return err
		}
		succeeded = nil
		end, err := noteFailure(tx, e)
		if err != nil {
			return err
		}
		if end.reason != "" {
			ends = append(ends, end)
		}
	}
	if err := tx.NoteSuccesses(succeeded); err != nil {
		return err
	}
	slices.SortStableFunc(ends, func(a, b disabling) int { return cmp.Compare(a.endpoint.Tenant.Merchant, b.endpoint.Tenant.Merchant) })
	for _, end := range ends {
		if err := d.Disable(tx, end.endpoint, end.reason); err != nil {
			return err
		}
		end.result.disabled = end.reason
	}
	return nil
}

// noteFailure stores since when an endpoint fails. It returns a disabling without a reason if the
// endpoint stays as it is.
func noteFailure(tx *store.Tx, e *endpointResults) (disabling, error) {
	// From here on the endpoint is locked: a success elsewhere does not change since when it fails.
	now, err := tx.Endpoint(e.endpoint.Tenant, e.endpoint.ID)
	if errors.Is(err, payment.ErrNotFound) {
		return disabling{}, nil // deleted meanwhile
	}
	if err == nil {
		err = tx.NoteFailure(e.endpoint.ID)
	}
	switch {
	case err != nil:
		return disabling{}, err
	case now.Status != payment.EndpointEnabled:
		return disabling{}, nil
	case e.gone != nil:
		return disabling{now, payment.ReasonGone, e.gone}, nil
	case !now.FailingSince.IsZero() && tx.Confirmed().Sub(now.FailingSince) >= failingDays:
		return disabling{now, payment.ReasonFailing, e.last}, nil
	}
	return disabling{}, nil
}
