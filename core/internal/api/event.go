package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (a *API) eventRoutes() []route {
	return []route{
		{http.MethodGet, "/v1/events", apikey.ScopeEventsRead, a.listEvents},
		{http.MethodGet, "/v1/events/{id}", apikey.ScopeEventsRead, a.getEvent},
	}
}

// eventKinds are the kinds of an object's events, by the prefix of its id.
var eventKinds = map[id.Prefix]string{
	id.Transaction: "transaction", id.Capture: "capture", id.Refund: "refund", id.Customer: "customer", id.PaymentMethod: "payment_method",
	id.APIKey: "api_key", id.WebhookEndpoint: "webhook_endpoint",
}

func (a *API) listEvents(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	p, err := reservePage(r, id.Event, "type", "object", "created_after", "created_before")
	if err != nil {
		return err
	}
	f, err := eventFilter(r.URL.Query())
	if err != nil {
		return err
	}
	found, err := a.Store.Events(r.Context(), k.Tenant, f, p)
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, showList(p, found, showEvent))
	return nil
}

func eventFilter(q url.Values) (f payment.EventFilter, err error) {
	if q.Has("type") {
		f.Type = q.Get("type")
		if !v1.EventType(f.Type).Valid() {
			return f, &fault{code: codeInvalidValue, param: "type", message: fmt.Sprintf("%q is not an event type. Check its name.", safeParam(f.Type))}
		}
	}
	if q.Has("object") {
		prefix, _, _ := strings.Cut(q.Get("object"), "_")
		f.Kind = eventKinds[id.Prefix(prefix)]
		if f.Object, err = id.ParseFilter(id.Prefix(prefix), q.Get("object")); err != nil || f.Kind == "" {
			return f, &fault{code: codeInvalidValue, param: "object", message: "This is not the id of an object that has events. Check its prefix.", cause: err}
		}
	}
	if f.After, err = moment(q, "created_after"); err != nil {
		return f, err
	}
	f.Before, err = moment(q, "created_before")
	return f, err
}

// wantTime is the message for a text that is not a time.
const wantTime = "The time must be RFC 3339 with a zone, such as 2026-11-21T09:30:00Z or 2026-11-21T10:30:00+01:00."

// moment reads a time, the zero one when the parameter is absent.
func moment(q url.Values, name string) (time.Time, error) {
	var t v1.Time
	if !q.Has(name) {
		return t.Time, nil
	}
	if err := t.UnmarshalText([]byte(q.Get(name))); err != nil {
		return t.Time, &fault{code: codeInvalidValue, param: name, message: wantTime + " In a query string, write %2B instead of +."}
	}
	return t.Time, nil
}

func (a *API) getEvent(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	n, err := pathID(r, id.Event)
	if err != nil {
		return err
	}
	e, err := a.Store.Event(r.Context(), k.Tenant, n)
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, Event(e))
	return nil
}

// Event returns the event as the contract shows it: the same bytes every time.
func Event(e *payment.Event) []byte {
	shown := showEvent(e)
	return encode(&shown)
}

func showEvent(e *payment.Event) v1.Event {
	data := e.Data
	if e.Personal {
		data = Erased(e.Type, data)
	}
	return v1.Event{
		ID: id.Format(id.Event, e.ID), Object: v1.EventObjectEvent, Type: v1.EventType(e.Type), Mode: mode(e.Tenant),
		CreatedAt: v1.Time{Time: e.CreatedAt}, Sequence: e.Sequence, Data: v1.EventData{Object: jsontext.Value(data)},
	}
}
