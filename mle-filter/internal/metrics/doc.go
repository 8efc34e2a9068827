// Package metrics holds mle-filter's metrics for Prometheus. No label holds a value that a caller
// chose.
package metrics
