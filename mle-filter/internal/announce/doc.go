// Package announce brings the keyring's announcements for merchants to core, which makes events of
// them: for webhooks and for GET /v1/events. An announcement is stored in the commit of its change,
// so nothing is lost when mle-filter or core dies. Core makes one event of each name, so a merchant
// gets each event once, however often it is sent.
package announce
