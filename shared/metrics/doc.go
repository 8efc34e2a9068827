// Package metrics is what the metrics of our programs have in common, for Prometheus: how times are counted, how many requests are being
// handled and were turned away, and how all of it is shown. No label holds anything that a client chose.
package metrics
