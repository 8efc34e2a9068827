// Package metrics holds mle-filter's Prometheus metrics. No label contains input of a client.
package metrics
