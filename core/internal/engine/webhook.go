package engine

import (
	"context"
	"errors"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	// maxEndpoints bounds the deliveries that one event costs its commit.
	maxEndpoints = 16
	// maxStored bounds the stored endpoints of a tenant, including deleted ones with remaining
	// deliveries. Each one costs time in every search for due deliveries.
	maxStored = 2 * maxEndpoints
)

// The refusals of requests on webhook endpoints that have no response to store.
var (
	// ErrTooManyEndpoints: the tenant has as many webhook endpoints as it may, or as many deleted ones
	// whose deliveries are not removed yet.
	ErrTooManyEndpoints = errors.New("engine: too many webhook endpoints")
	// ErrEndpointNotFound: a request names a webhook endpoint that does not exist.
	ErrEndpointNotFound = errors.New("engine: webhook endpoint not found")
	// ErrEndpointDisabled: nothing is delivered to a disabled endpoint.
	ErrEndpointDisabled = errors.New("engine: webhook endpoint disabled")
)

// CreateEndpoint makes a webhook endpoint of the request's tenant, enabled, with its first secret,
// which the response shows. It returns ErrTooManyEndpoints at the bound.
func (e *Engine) CreateEndpoint(ctx context.Context, r Request, w payment.Endpoint) (Result, error) {
	defer e.running.enter(ctx, r)()
	done, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		n, deleted, err := tx.CountEndpoints(r.Tenant)
		if err != nil {
			return nil, err
		}
		if n >= maxEndpoints || n+deleted >= maxStored {
			return nil, ErrTooManyEndpoints
		}
		w.Tenant, w.Status, w.Generation, w.Version = r.Tenant, payment.EndpointEnabled, 1, 1
		w.ID = e.IDs.Next()
		if err := tx.InsertEndpoint(&w); err != nil {
			return nil, err
		}
		result := e.rendered(Result{Kind: Created, Object: &w, Credential: e.endpointSecret(&w)})
		return &result, nil
	})
	return value(done), err
}

// ChangeEndpoint calls change on an endpoint. If that disables the endpoint, an event announces it.
func (e *Engine) ChangeEndpoint(
	ctx context.Context, r Request, endpoint int64, change func(*payment.Endpoint) error,
) (Result, error) {
	return e.endpointStep(ctx, r, endpoint, func(tx *store.Tx, w *payment.Endpoint) (Result, error) {
		was := *w
		if err := change(w); err != nil {
			return Result{}, err
		}
		if w.Status != was.Status || w.URL != was.URL {
			w.FailingSince = time.Time{} // earlier failures do not count
		}
		if w.Status == payment.EndpointDisabled && was.Status != w.Status {
			w.Status = was.Status
			err := e.DisableEndpoint(tx, w, payment.ReasonRequested)
			return e.existing(w), err
		}
		if w.Status == payment.EndpointEnabled {
			w.Reason = ""
		}
		err := tx.UpdateEndpoint(w)
		return e.existing(w), err
	})
}

// DeleteEndpoint deletes an endpoint of the request's tenant. Its pending deliveries end.
func (e *Engine) DeleteEndpoint(ctx context.Context, r Request, endpoint int64) (Result, error) {
	return e.endpointStep(ctx, r, endpoint, func(tx *store.Tx, w *payment.Endpoint) (Result, error) {
		err := tx.DeleteEndpoint(w)
		return e.deleted(w), err
	})
}

// RollSecret gives an endpoint its next secret, which the response shows. The previous secret also
// signs for the time of overlap. Older secrets do not.
func (e *Engine) RollSecret(ctx context.Context, r Request, endpoint int64, overlap time.Duration) (Result, error) {
	return e.endpointStep(ctx, r, endpoint, func(tx *store.Tx, w *payment.Endpoint) (Result, error) {
		w.Generation++
		w.OverlapUntil = tx.Now.Add(overlap)
		err := tx.UpdateEndpoint(w)
		return e.rendered(Result{Kind: Existing, Object: w, Credential: e.endpointSecret(w)}), err
	})
}

// endpointSecret returns the newest signing secret of an endpoint.
func (e *Engine) endpointSecret(w *payment.Endpoint) secret.String {
	return webhook.NewSecrets(e.Roots.Lasting(root.WebhookSecrets)).Of(w.ID, w.Generation)
}

// endpointStep runs a step on an endpoint of the tenant under the request's key.
func (e *Engine) endpointStep(
	ctx context.Context, r Request, endpoint int64, step func(*store.Tx, *payment.Endpoint) (Result, error),
) (Result, error) {
	defer e.running.enter(ctx, r)()
	done, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		w, err := tx.Endpoint(r.Tenant, endpoint)
		if err != nil {
			return nil, err
		}
		result, err := step(tx, w)
		return &result, err
	})
	return value(done), err
}

// DisableEndpoint stops the deliveries to an endpoint, and announces that to the tenant's other
// endpoints, in the command of tx. Pending deliveries stay for three days, in case it is enabled
// again.
func (e *Engine) DisableEndpoint(tx *store.Tx, w *payment.Endpoint, why payment.EndpointReason) error {
	w.Status, w.Reason = payment.EndpointDisabled, why
	if err := tx.UpdateEndpoint(w); err != nil {
		return err
	}
	return tx.InsertEvent(e.event("webhook_endpoint.disabled", w.Tenant, w.ID, w.Version, e.shown(w)))
}

// Redeliver delivers an event once more: to one endpoint, or with 0 to all enabled endpoints that
// subscribe to its type.
func (e *Engine) Redeliver(ctx context.Context, r Request, event, endpoint int64) (Result, error) {
	defer e.running.enter(ctx, r)()
	done, err := e.intent(ctx, r, func(tx *store.Tx, _ int64) (*Result, error) {
		ev, err := tx.Event(r.Tenant, event)
		if err != nil {
			return nil, err
		}
		targets, err := redeliverTo(tx, r.Tenant, ev.Type, endpoint)
		if err != nil {
			return nil, err
		}
		made := make([]*payment.Delivery, len(targets))
		for i, target := range targets {
			n, err := tx.InsertDelivery(event, target)
			if err != nil {
				return nil, err
			}
			if made[i], err = tx.Delivery(r.Tenant, n); err != nil {
				return nil, err
			}
		}
		result := e.created(made)
		return &result, nil
	})
	return value(done), err
}

func redeliverTo(tx *store.Tx, tenant payment.Tenant, kind string, endpoint int64) ([]int64, error) {
	if endpoint == 0 {
		return tx.EndpointsFor(tenant, kind)
	}
	w, err := tx.Endpoint(tenant, endpoint)
	switch {
	case errors.Is(err, payment.ErrNotFound):
		return nil, ErrEndpointNotFound
	case err != nil:
		return nil, err
	case w.Status != payment.EndpointEnabled:
		return nil, ErrEndpointDisabled
	}
	return []int64{endpoint}, nil
}
