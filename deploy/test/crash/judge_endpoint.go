package crash

import (
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// endpointsAreRight requires each webhook endpoint to be there once, as in the last response on
// it.
func (j *judge) endpointsAreRight() {
	if j.later {
		return // Clear has deleted them
	}
	all := must(listOf[v1.WebhookEndpoint](j.ctx, j.h.api, "/v1/webhook_endpoints", ""))
	byDescription, byID := map[string][]string{}, map[string]v1.WebhookEndpoint{}
	for _, e := range all {
		byID[e.ID] = e
		if e.Description != nil {
			byDescription[*e.Description] = append(byDescription[*e.Description], e.ID)
		}
	}
	last := map[string]*Call{}
	for _, c := range j.calls {
		switch c.Kind {
		case EndpointUpdate, SecretRoll, EndpointDelete:
			if c.ok() || c.Kind == EndpointDelete && c.Response != nil {
				last[c.On] = c
			}
		default:
		}
	}
	for _, c := range j.calls {
		if c.Kind != EndpointCreate {
			continue
		}
		l := c
		if c.ok() && last[c.Response.id()] != nil {
			l = last[c.Response.id()]
		}
		if l.Kind == EndpointDelete {
			if _, there := byID[l.On]; there {
				j.failf("%s was deleted and is there", l.On)
			}
			continue
		}
		j.once(c, byDescription[c.Marker])
		was := read[v1.WebhookEndpoint](l.Response)
		if now := byID[was.ID]; c.ok() && (now.Status != was.Status || now.Version != was.Version || now.URL != was.URL) {
			j.failf("%s %s: response %s, and is %s in version %d", l.Kind, l.Marker, l.Response.Body, now.Status, now.Version)
		}
	}
}
