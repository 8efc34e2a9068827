// Package trust tells one story of the certificates: what is served now and next, when it changes, and an event when it did. Fingerprints, calendar
// and events are made of one history, which is on the disk before anybody reads of it.
package trust
