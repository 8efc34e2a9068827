// Package announce brings what the keyring has to tell merchants to core, which makes events of it: to webhooks and to GET /v1/events. What is
// to be told stands in the store since the write that it tells of, so nothing is lost when a filter or core dies; and core makes one event of
// each name, so nothing is told twice, however often it is sent.
package announce
