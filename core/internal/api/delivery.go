package api

import (
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (a *API) listDeliveries(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	n, err := pathID(r, id.WebhookEndpoint)
	if err != nil {
		return err
	}
	p, err := reservePage(r, id.Delivery)
	if err != nil {
		return err
	}
	if _, err := a.Store.Endpoint(r.Context(), k.Tenant, n); err != nil {
		return err
	}
	found, err := a.Store.Deliveries(r.Context(), k.Tenant, n, p)
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, showList(p, found, showDelivery))
	return nil
}

func (a *API) redeliver(c *call) (engine.Result, error) {
	n, err := pathID(c.Request, id.Event)
	if err != nil {
		return engine.Result{}, err
	}
	var in v1.EventRedeliver
	if err := c.decode(&in, true); err != nil {
		return engine.Result{}, err
	}
	endpoint := int64(0)
	if in.Endpoint != nil {
		if endpoint, err = id.Parse(id.WebhookEndpoint, *in.Endpoint); err != nil {
			return engine.Result{}, &fault{code: codeNotFound, param: "endpoint", cause: err}
		}
	}
	return a.Engine.Redeliver(c.Context(), c.request, n, endpoint)
}

func showDelivery(d *payment.Delivery) v1.WebhookDelivery {
	out := v1.WebhookDelivery{
		ID: id.Format(id.Delivery, d.ID), Object: v1.WebhookDeliveryObjectWebhookDelivery, Mode: mode(d.Tenant),
		Endpoint: id.Format(id.WebhookEndpoint, d.Endpoint), Event: id.Format(id.Event, d.Event), EventType: d.EventType,
		Status: v1.WebhookDeliveryStatus(d.Status), Attempts: d.Attempts,
		CreatedAt: v1.Time{Time: d.CreatedAt}, UpdatedAt: v1.Time{Time: d.UpdatedAt},
	}
	if d.Status == payment.DeliveryPending && !d.Leased {
		out.NextAttemptAt = optionalTime(d.DueAt)
	}
	if !d.Last.At.IsZero() {
		out.LastAttempt = &v1.WebhookAttempt{At: v1.Time{Time: d.Last.At}, DurationMs: d.Last.Duration.Milliseconds()}
		if d.Last.Status != 0 {
			out.LastAttempt.ResponseStatus = &d.Last.Status
		}
		if d.Last.Error != "" {
			class := v1.WebhookAttemptError(d.Last.Error)
			out.LastAttempt.Error = &class
		}
	}
	return out
}
