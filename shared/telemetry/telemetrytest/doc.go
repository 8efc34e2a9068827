// Package telemetrytest is a collector for tests: it accepts spans over OTLP/HTTP like a real
// collector, and shows them.
package telemetrytest
