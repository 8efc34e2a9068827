// Package metrics counts what the service does, for Prometheus. No label holds anything that a caller or merchant chose, so the number of
// series is bounded by the code. What the workers do is counted as they pass; only the pending webhook deliveries are counted at a scrape,
// by the index of them alone.
package metrics
