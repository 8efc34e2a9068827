// Package announce tells core what happened beside it, on its operators' port: core makes events of it, for webhooks and for GET /v1/events. Core
// makes one event of each name, so what may not have arrived is sent again.
package announce
