// Package announce sends the keyring's announcements to core. Core stores them as events of the
// merchant, for webhooks and for GET /v1/events. An announcement is stored in the commit of its
// change, so none is lost if mle-filter or core dies. Core stores one event for each name, so
// repeated deliveries have no effect.
package announce
