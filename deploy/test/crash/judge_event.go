package crash

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// eventsAreRight requires each object's events to be a sequence that ends with the object's present
// state. It has no gap if each change of the object is an event.
func (j *judge) eventsAreRight() {
	sequences := map[string][]int64{}
	for _, e := range j.events {
		if strings.HasPrefix(e.object, "we_") {
			continue // its version counts changes that are not events
		}
		sequences[e.object] = append(sequences[e.object], e.Sequence)
	}
	for object, s := range sequences {
		slices.Sort(s)
		if begun := s[0]; begun != 1 && (j.later || !j.old(object)) {
			j.failf("the events of %s begin with %d", object, begun)
		}
		ofCustomer := strings.HasPrefix(object, "pm_") // later events have the customer's version
		for i := 1; i < len(s); i++ {
			if s[i] != s[i-1]+1 && !ofCustomer || s[i] == s[i-1] {
				j.failf("the events of %s are %v", object, s)
				break
			}
		}
	}
	j.add(j.lastEvents()...)
}

// lastEvents returns the objects whose last event does not show their present state.
func (j *judge) lastEvents() (faults []string) {
	failf := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	latest := map[string]event{}
	for _, e := range j.events {
		if l, ok := latest[e.object]; !ok || e.Sequence > l.Sequence {
			latest[e.object] = e
		}
	}
	for _, t := range j.transactions {
		l := latest[t.ID]
		if l.Sequence != t.Version {
			failf("%s has version %d, its events end with %d", t.ID, t.Version, l.Sequence)
		}
		if shown := decode[v1.Transaction](l.Data.Object); t.Version > 0 && shown.Status != t.Status {
			failf("%s is %s, its last event shows %s", t.ID, t.Status, shown.Status)
		}
	}
	for _, c := range j.customers {
		if l := latest[c.ID]; l.Sequence != c.Version {
			failf("%s has version %d, its events end with %d", c.ID, c.Version, l.Sequence)
		}
	}
	for _, r := range j.refunds {
		if l := latest[r.ID]; l.Sequence != 2 || string(l.Type) != "refund."+string(r.Status) {
			failf("%s is %s, its last event is %d, %s", r.ID, r.Status, l.Sequence, l.Type)
		}
	}
	return faults
}

// old reports whether an object is of an earlier round.
func (j *judge) old(object string) bool {
	_, number, _ := strings.Cut(object, "_")
	_, mark, _ := strings.Cut(j.h.before.event, "_")
	return number <= mark
}

// announced requires each acknowledged effect to be in an event, in the same bytes.
func (j *judge) announced() {
	shown := map[string][]string{}
	events := make([]v1.Event, 0, len(j.events))
	for _, e := range j.events {
		shown[e.object] = append(shown[e.object], strings.TrimSpace(string(e.Data.Object)))
		events = append(events, e.Event)
	}
	gone := erased(events)
	maps.Copy(j.h.erased, gone)
	for _, c := range j.calls {
		switch c.Kind {
		case Create, Update, Confirm, Capture, Void, Refund, Settle, Expire, CustomerCreate, MethodAttach:
		default:
			continue
		}
		if !c.ok() || c.Auth != "" || c.Response.transaction().Status == v1.TransactionStatusRequiresConfirmation {
			continue
		}
		announced := shown[c.Response.id()]
		if gone[c.Response.id()] {
			if len(announced) == 0 || strings.Contains(strings.Join(announced, ""), c.Marker) {
				j.failf("%s %s is erased, its events are %s", c.Kind, c.Marker, announced)
			}
			continue
		}
		if !slices.Contains(announced, strings.TrimSpace(c.Response.Body)) {
			j.failf("%s %s was acknowledged, and no event shows it: %s", c.Kind, c.Marker, c.Response.Body)
		}
	}
}

// erased returns the objects whose events have no personal data any more: deleted customers and
// their payment methods.
func erased(events []v1.Event) map[string]bool {
	out := map[string]bool{}
	for _, e := range events {
		if e.Type == v1.EventTypeCustomerDeleted {
			out[decode[v1.Customer](e.Data.Object).ID] = true
		}
	}
	for _, e := range events {
		if !strings.HasPrefix(string(e.Type), "payment_method.") {
			continue
		}
		if m := decode[v1.PaymentMethod](e.Data.Object); out[m.Customer] {
			out[m.ID] = true
		}
	}
	return out
}

// deliveredInPart requires one delivery of each event to the main endpoint, and another for each
// redelivery. A new endpoint must have received its expected events.
func (j *judge) deliveredInPart() {
	if j.later {
		return
	}
	main := must(id.Parse(id.WebhookEndpoint, j.h.main))
	counts := map[string]int{}
	for _, d := range j.store.deliveries(main, j.since) {
		counts[id.Format(id.Event, d.event)] = d.times
	}
	sure, most := map[string]int{}, map[string]int{}
	for _, c := range j.calls {
		if c.Kind != EventRedelivery {
			continue
		}
		most[c.On]++
		if c.ok() {
			sure[c.On]++
		} else if !c.maybe() {
			most[c.On]--
		}
	}
	for _, e := range j.events {
		if got := counts[e.ID]; got < 1+sure[e.ID] || got > 1+most[e.ID] {
			j.failf("event %s %s: %d deliveries, want %d to %d", e.Type, e.ID, got, 1+sure[e.ID], 1+most[e.ID])
		}
	}
	j.promised()
}

// promised waits for the events that new endpoints must receive.
func (j *judge) promised() {
	created := map[string]string{} // event by the marker of its customer
	for _, e := range j.events {
		if e.Type == v1.EventTypeCustomerCreated {
			if c := decode[v1.Customer](e.Data.Object); c.Reference != nil {
				created[*c.Reference] = e.ID
			}
		}
	}
	for _, w := range j.h.wants {
		event := created[w.object]
		if event == "" {
			continue // the kill came before
		}
		if !j.h.comes(j.ctx, w.path, event) {
			j.failf("%s was promised %s, which did not come", w.path, event)
		}
	}
}

// comes waits for an event at a path.
func (h *Harness) comes(ctx context.Context, path, event string) bool {
	return await(ctx, func() bool {
		_, ok := h.hook.receipt(path, event)
		return ok
	})
}

// settled returns v1's events once the same number has arrived at the main endpoint. After a
// restart, the recovery can add events and deliver them while a list is read.
func (h *Harness) settled(ctx context.Context) (events []jsontext.Value, err error) {
	await(ctx, func() bool {
		events, err = h.api.list(ctx, "/v1/events", h.base.event)
		return err != nil || h.hook.events(mainPath) == len(events)
	})
	return events, err
}

// Delivered waits until every event has come to the main endpoint, and requires the bytes that v1
// shows.
func (h *Harness) Delivered(ctx context.Context) ([]string, error) {
	events, err := h.settled(ctx)
	if err != nil {
		return nil, err
	}
	var faults []string
	all := make([]v1.Event, 0, len(events))
	for _, raw := range events {
		all = append(all, decode[v1.Event](raw))
	}
	gone := erased(all)
	for i, raw := range events {
		e := all[i]
		if !h.comes(ctx, mainPath, e.ID) {
			return append(faults, fmt.Sprintf("event %s %s never came", e.Type, e.ID)), nil
		}
		if gone[decode[v1.Customer](e.Data.Object).ID] {
			continue // a delivery before the erasure had more data than v1 has now
		}
		got, _ := h.hook.receipt(mainPath, e.ID)
		if got.body != sha256.Sum256(raw) && got.body != sha256.Sum256(append(slices.Clone(raw), '\n')) {
			faults = append(faults, fmt.Sprintf("event %s %s arrived with other bytes than v1 shows: %s", e.Type, e.ID, raw))
		}
	}
	if n := h.hook.events(mainPath); n != len(events) {
		faults = append(faults, fmt.Sprintf("%d events came, v1 has %d", n, len(events)))
	}
	return append(faults, h.hook.complaints(gone)...), nil
}
