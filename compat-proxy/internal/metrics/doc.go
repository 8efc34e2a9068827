// Package metrics holds the proxy's metrics for Prometheus. No label holds a value that a client
// chose, so the number of series is bounded by the code. All names begin with causeway_compat_, so
// that one process can show them together with core's.
package metrics
