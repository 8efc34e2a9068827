// Package metrics holds the service's metrics for Prometheus. No label holds a value that a caller
// or merchant chose, so the number of series is bounded by the code. The workers count their work
// as they do it. Only the pending webhook deliveries are counted at a scrape, from their index
// alone.
package metrics
