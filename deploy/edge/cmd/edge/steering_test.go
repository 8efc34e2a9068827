package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// controlFields are the request fields that control Envoy 1.40, with their values. They are from
// its documentation of the router, sanitizing, connection manager headers, faults and
// authorization. The values are the ones with the largest effect.
var controlFields = []string{
	"x-envoy-retry-on",
	"5xx,gateway-error,reset,reset-before-request,retriable-4xx,retriable-status-codes," +
		"retriable-headers,envoy-ratelimited",
	"x-envoy-retry-grpc-on", "cancelled,deadline-exceeded,internal,resource-exhausted,unavailable",
	"x-envoy-max-retries", "5",
	"x-envoy-retriable-status-codes", "200,201,409,503",
	"x-envoy-retriable-header-names", "content-type,date",
	"x-envoy-upstream-alt-stat-name", "mine",
	"x-envoy-upstream-canary", "true",
	"x-envoy-upstream-healthchecked-cluster", "core",
	"x-envoy-upstream-service-time", "1",
	"x-envoy-upstream-stream-duration-ms", "60000",
	"x-envoy-decorator-operation", "mine",
	"x-envoy-downstream-service-cluster", "mine",
	"x-envoy-downstream-service-node", "mine",
	"x-envoy-expected-rq-timeout-ms", "60000",
	"x-envoy-external-address", "203.0.113.9",
	"x-envoy-force-trace", "true",
	"x-envoy-internal", "true",
	"x-envoy-ip-tags", "mine",
	"x-envoy-attempt-count", "7",
	"x-envoy-is-timeout-retry", "true",
	"x-envoy-original-path", "/v1/special",
	"x-envoy-original-host", "other.example.com",
	"x-envoy-original-method", "GET",
	"x-envoy-original-url", "http://other.example.com/",
	"x-envoy-original-dst-host", "127.0.0.1:1",
	"x-envoy-overloaded", "true",
	"x-envoy-local-overloaded", "true",
	"x-envoy-ratelimited", "true",
	"x-envoy-degraded", "true",
	"x-envoy-immediate-health-check-fail", "true",
	"x-envoy-auth-partial-body", "false",
	"x-envoy-auth-failure-mode-allowed", "true",
	"x-envoy-peer-metadata", "bWluZQ==",
	"x-envoy-peer-metadata-id", "mine",
	"x-envoy-fault-abort-request", "503",
	"x-envoy-fault-abort-grpc-request", "14",
	"x-envoy-fault-abort-request-percentage", "100",
	"x-envoy-fault-delay-request", "1",
	"x-envoy-fault-delay-request-percentage", "100",
	"x-envoy-fault-throughput-response", "1",
	"x-envoy-fault-throughput-response-percentage", "100",
	"x-envoy-of-a-later-version", "true",
	"X-Request-Id", spoofedID,
}

// timeoutFields are further control fields. They shorten a request or make Envoy send a second one
// in parallel.
var timeoutFields = []string{
	"x-envoy-upstream-rq-timeout-ms", "40",
	"x-envoy-upstream-rq-per-try-timeout-ms", "10",
	"x-envoy-upstream-rq-timeout-alt-response", "true",
	"x-envoy-hedge-on-per-try-timeout", "true",
}

const spoofedID = "11111111-2222-4333-8444-555555555555"

// TestSteering checks that no field of a client controls Envoy: one request makes one payment. The
// client is on loopback, which Envoy trusts by default, like every client behind a balancer on a
// private network.
func TestSteering(t *testing.T) {
	t.Parallel()
	b := served(t)
	for name, client := range map[string]*http.Client{"HTTP1": b.client(), "HTTP2": b.http2()} {
		for _, to := range []struct {
			path   string
			status int
			at     *standIn
			fields []string
		}{
			{"/v1/created", 201, b.core, controlFields},
			{"/v1/failed", 503, b.core, controlFields},
			{"/v1/slow", 200, b.core, slices.Concat(controlFields, timeoutFields)},
			{"/v1/slow", 200, b.core, timeoutFields},
			{"/compat/created", 201, b.compat, controlFields},
			{"/compat/failed", 503, b.compat, controlFields},
			{"/compat/slow", 200, b.compat, slices.Concat(controlFields, timeoutFields)},
			{"/compat/slow", 200, b.compat, timeoutFields},
		} {
			for _, method := range []string{"POST", "GET"} {
				_, before := to.at.last()
				got := b.send(t, client, method, "https://"+host+to.path, `{"amount":777}`, to.fields...)
				r, after := to.at.last()
				if got.status != to.status || after-before != 1 {
					t.Errorf("%s %s %s: got %d, and %d requests", name, method, to.path, got.status, after-before)
				}
				wantNoControl(t, name+" "+to.path, r.Header, got.header)
			}
		}
	}
}

// wantNoControl checks that neither the forwarded request nor the response has a control field.
func wantNoControl(t *testing.T, name string, request, response http.Header) {
	t.Helper()
	for _, h := range []http.Header{request, response} {
		for field := range h {
			if strings.HasPrefix(strings.ToLower(field), "x-envoy") {
				t.Errorf("%s: %s: %q", name, field, h[field])
			}
		}
	}
	if id := request.Get("X-Request-Id"); id == "" || id == spoofedID || response.Get("X-Request-Id") != "" {
		t.Errorf("%s: ids %q, %q", name, id, response.Get("X-Request-Id"))
	}
}
