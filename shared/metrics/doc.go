// Package metrics holds the Prometheus metrics that our programs have in common. They count times,
// the requests that are being handled, and the requests that were turned away. No label holds a
// value that a client chose.
package metrics
