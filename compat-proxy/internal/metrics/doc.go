// Package metrics counts what the proxy does, for Prometheus. No label holds anything that a client chose, so the number of series is bounded
// by the code. All names begin with causeway_compat_, so that one process can show them beside core's.
package metrics
