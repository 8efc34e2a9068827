// Package export builds the tracer's exporter and sends spans to a collector. Its settings are
// OpenTelemetry's environment variables.
//
//	OTEL_SDK_DISABLED                    true switches all of it off
//	OTEL_TRACES_EXPORTER                 otlp, console (to stderr), none; unset: otlp if an endpoint is set, else none
//	OTEL_EXPORTER_OTLP_TRACES_ENDPOINT   URL to post to, as it stands
//	OTEL_EXPORTER_OTLP_ENDPOINT          base URL, before /v1/traces; for otlp without one: http://localhost:4318
//	OTEL_EXPORTER_OTLP_HEADERS           name=value,… percent-encoded, sent with each batch; may be secret
//	OTEL_EXPORTER_OTLP_TIMEOUT           milliseconds for a batch, 10000
//	OTEL_EXPORTER_OTLP_COMPRESSION       gzip, none
//	OTEL_EXPORTER_OTLP_PROTOCOL          http/protobuf
//	OTEL_SERVICE_NAME                    as which service the process is shown
//	OTEL_RESOURCE_ATTRIBUTES             name=value,… percent-encoded, on every span
//	OTEL_TRACES_SAMPLER                  always_on, always_off, traceidratio, parentbased_always_on (default),
//	                                     parentbased_always_off, parentbased_traceidratio
//	OTEL_TRACES_SAMPLER_ARG              the ratio, 0 to 1
//	OTEL_BSP_…                           the batches: SCHEDULE_DELAY, EXPORT_TIMEOUT, MAX_QUEUE_SIZE (65536 at most),
//	                                     MAX_EXPORT_BATCH_SIZE
//
// The variables of the exporter also exist as OTEL_EXPORTER_OTLP_TRACES_…, which win. An unknown
// exporter or protocol, or an invalid endpoint, is an error at the start: spans would be lost or
// sent elsewhere. Any other wrong value is a warning and counts as unset, as the specification has
// it. No message contains a value, because it may be a secret in the wrong place.
//
// The package reads the variables itself. OpenTelemetry's autoexport (v0.72) would replace
// environment.go and client.go. It links gRPC and the exporters of metrics and logs. A program has
// 24.0 instead of 13.0 MB then, and 15.7 instead of 9.3 MB resident. Its errors do not name the
// variable.
//
// Spans wait in a queue of a fixed length (2048) and are dropped when it is full. No measured
// request waits for the collector.
package export
