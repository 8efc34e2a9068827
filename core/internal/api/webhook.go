package api

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (a *API) webhookRoutes() []route {
	const scope = apikey.ScopeWebhooksWrite
	return []route{
		{http.MethodPost, "/v1/webhook_endpoints", scope, a.changing(a.createEndpoint)},
		{http.MethodGet, "/v1/webhook_endpoints", scope, a.listEndpoints},
		{http.MethodGet, "/v1/webhook_endpoints/{id}", scope, a.getEndpoint},
		{http.MethodPatch, "/v1/webhook_endpoints/{id}", scope, a.changing(a.changeEndpoint)},
		{http.MethodDelete, "/v1/webhook_endpoints/{id}", scope, a.deleteEndpoint},
		{http.MethodPost, "/v1/webhook_endpoints/{id}/roll_secret", scope, a.changing(a.rollSecret)},
		{http.MethodGet, "/v1/webhook_endpoints/{id}/deliveries", scope, a.listDeliveries},
		{http.MethodPost, "/v1/events/{id}/redeliver", scope, a.changing(a.redeliver)},
	}
}

// endpointDetails is the part of a webhook endpoint that the merchant sets, stored as the contract
// shows it.
type endpointDetails struct {
	Description *string      `json:"description,omitempty"`
	Metadata    *v1.Metadata `json:"metadata,omitempty"`
}

func (a *API) createEndpoint(c *call) (engine.Result, error) {
	var in v1.WebhookEndpointCreate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	if in.URL == "" {
		return engine.Result{}, &fault{code: codeMissingField, param: "url"}
	}
	if in.EnabledEvents == nil {
		return engine.Result{}, &fault{code: codeMissingField, param: "enabled_events"}
	}
	if f := a.endpointFault(c.key.Tenant.Live, &in.URL, &in.EnabledEvents, in.Description, in.Metadata); f != nil {
		return engine.Result{}, f
	}
	details := encode(&endpointDetails{Description: in.Description, Metadata: in.Metadata})
	return a.Engine.CreateEndpoint(c.Context(), c.request, payment.Endpoint{URL: in.URL, Types: in.EnabledEvents, Details: details})
}

// endpointFault returns the first fault of the given fields of an endpoint, or nil. A nil field was
// not sent.
func (a *API) endpointFault(live bool, url *string, types *v1.WebhookEventTypes, description *string, metadata *v1.Metadata) *fault {
	if url != nil {
		if err := a.WebhookPolicy.CheckURL(*url, live); err != nil {
			return &fault{code: codeInvalidURL, param: "url", message: "The URL cannot be used for a webhook endpoint: " + err.Error() + "."}
		}
	}
	if types != nil {
		if f := typesFault(*types); f != nil {
			return f
		}
	}
	if f := lengthFault(field{"description", description, 1000}); f != nil {
		return f
	}
	return metadataFault(metadata)
}

func typesFault(types v1.WebhookEventTypes) *fault {
	bad := func(message string) *fault {
		return &fault{code: codeInvalidValue, param: "enabled_events", message: message}
	}
	if len(types) == 0 || len(types) > 50 {
		return bad("Send 1 to 50 event types, or \"*\" alone.")
	}
	for i, t := range types {
		switch {
		case t == payment.AllEventTypes && len(types) > 1:
			return bad("\"*\" means every type. Send it alone.")
		case t != payment.AllEventTypes && !v1.EventType(t).Valid():
			return bad(fmt.Sprintf("Entry %d, %q, is not an event type. Check its name.", i+1, safeParam(t)))
		case slices.Contains(types[:i], t):
			return bad(fmt.Sprintf("Entry %d repeats %q. Send each type once.", i+1, t))
		}
	}
	return nil
}

func (a *API) changeEndpoint(c *call) (engine.Result, error) {
	n, err := pathID(c.Request, id.WebhookEndpoint)
	if err != nil {
		return engine.Result{}, err
	}
	var in v1.WebhookEndpointUpdate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	f := a.endpointFault(c.key.Tenant.Live, in.URL, in.EnabledEvents, in.Description, in.Metadata)
	if f == nil && in.Status != nil && !in.Status.Valid() {
		f = &fault{code: codeInvalidValue, param: "status", message: "The status must be \"enabled\" or \"disabled\"."}
	}
	if f != nil {
		return engine.Result{}, f
	}
	return a.Engine.ChangeEndpoint(c.Context(), c.request, n, func(e *payment.Endpoint) error { return edit(e, &in) })
}

// edit puts the given fields into e.
func edit(e *payment.Endpoint, in *v1.WebhookEndpointUpdate) error {
	var details endpointDetails
	decodeDetails(e.Details, &details)
	if in.URL != nil {
		e.URL = *in.URL
	}
	if in.EnabledEvents != nil {
		e.Types = *in.EnabledEvents
	}
	if in.Status != nil {
		e.Status = payment.EndpointStatus(*in.Status)
	}
	if in.Description != nil {
		details.Description = in.Description
	}
	var err error
	if details.Metadata, err = mergeMetadata(details.Metadata, in.Metadata); err != nil {
		return err
	}
	e.Details = encode(&details)
	return nil
}

func (a *API) deleteEndpoint(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	n, err := pathID(r, id.WebhookEndpoint)
	if err != nil {
		return err
	}
	if err := decode(w, r, &struct{}{}, true); err != nil {
		return err
	}
	out, err := a.Engine.DeleteEndpoint(r.Context(), requestOf(r, k), n)
	return a.respond(w, r, out, err)
}

func (a *API) rollSecret(c *call) (engine.Result, error) {
	n, err := pathID(c.Request, id.WebhookEndpoint)
	if err != nil {
		return engine.Result{}, err
	}
	var in v1.WebhookSecretRoll
	if err := c.decode(&in, true); err != nil {
		return engine.Result{}, err
	}
	stay, f := overlap(in.ExpiresIn)
	if f != nil {
		return engine.Result{}, f
	}
	return a.Engine.RollSecret(c.Context(), c.request, n, stay)
}

func (a *API) listEndpoints(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	p, err := reservePage(r, id.WebhookEndpoint, metadataEntries)
	if err != nil {
		return err
	}
	f, err := metadataFilter(r.URL.Query())
	if err != nil {
		return err
	}
	found, err := a.Store.Endpoints(r.Context(), k.Tenant, f, p)
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, showList(p, found, showEndpoint))
	return nil
}

func (a *API) getEndpoint(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	n, err := pathID(r, id.WebhookEndpoint)
	if err != nil {
		return err
	}
	e, err := a.Store.Endpoint(r.Context(), k.Tenant, n)
	if err != nil {
		return err
	}
	shown := showEndpoint(e)
	a.write(w, r, http.StatusOK, encode(&shown))
	return nil
}

func showEndpoint(e *payment.Endpoint) v1.WebhookEndpoint {
	out := v1.WebhookEndpoint{
		ID: id.Format(id.WebhookEndpoint, e.ID), Object: v1.WebhookEndpointObjectWebhookEndpoint, Mode: mode(e.Tenant), URL: e.URL,
		EnabledEvents: e.Types, Status: v1.WebhookEndpointStatus(e.Status), FailingSince: optionalTime(e.FailingSince), Metadata: v1.Metadata{},
		PreviousSecretUntil: optionalTime(e.OverlapUntil), Version: e.Version, CreatedAt: v1.Time{Time: e.CreatedAt}, UpdatedAt: v1.Time{Time: e.UpdatedAt},
	}
	var details endpointDetails
	decodeDetails(e.Details, &details)
	out.Description = details.Description
	if details.Metadata != nil {
		out.Metadata = *details.Metadata
	}
	if e.Reason != "" {
		reason := v1.WebhookEndpointDisabledReason(e.Reason)
		out.DisabledReason = &reason
	}
	return out
}
