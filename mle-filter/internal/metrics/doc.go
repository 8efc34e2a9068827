// Package metrics counts what the filter does, for Prometheus. No label is anything that a caller chose.
package metrics
