// Package announce reports events to core on its operators' port. Core turns each into an event for
// webhooks and for GET /v1/events. Core makes only one event of each name, so a report whose
// delivery is uncertain can be sent again.
package announce
