// Package trust publishes the certificates: the present and the next ones, the times of changes,
// and an event after each change. Fingerprints, calendar and events come from one history, which is
// on the disk before it is published.
package trust
