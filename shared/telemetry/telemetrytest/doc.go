// Package telemetrytest is a collector for tests: it takes spans over OTLP/HTTP as a real one does,
// and shows them.
package telemetrytest
