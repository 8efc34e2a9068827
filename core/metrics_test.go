package core_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	b := setup(t)
	txn := b.MustCreate(t, 100, "").ID
	b.get(t, "/v1/transactions/"+txn)
	b.get(t, "/v1/nowhere")
	operations := httptest.NewServer(b.core.Operations())
	t.Cleanup(operations.Close)
	series, header := read(t, operations.URL+"/metrics")
	if !strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
		t.Errorf("content type: got %q", header.Get("Content-Type"))
	}
	for _, want := range []string{
		`causeway_request_seconds_count\{route="POST /v1/transactions",status="201"\} 1\n`,
		`causeway_request_seconds_count\{route="GET /v1/transactions/\{id\}",status="200"\} 1\n`,
		`causeway_request_seconds_count\{route="none",status="404"\} 1\n`,
		`causeway_acquirer_seconds_count\{operation="authorize",outcome="approved"\} 1\n`,
		`causeway_store_group_commands_count [1-9]`, `causeway_store_group_seconds_count [1-9]`, `causeway_store_wait_seconds_count [1-9]`,
		`causeway_refused_requests_total\{reason="rate_limited"\} 0\n`, `causeway_refused_requests_total\{reason="overloaded"\} 0\n`,
		`causeway_store_waiting_commands \d+\n`, `go_goroutines `,
	} {
		if !regexp.MustCompile(want).MatchString(series) {
			t.Errorf("%s is not in\n%s", want, series)
		}
	}
	if strings.Contains(series, b.merchant) || strings.Contains(series, txn) {
		t.Error("a series names a merchant or an object")
	}
	read(t, operations.URL+"/v1/health")
	resp, err := http.DefaultTransport.RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodGet, operations.URL+"/v1/transactions", nil))
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close() != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("payments on the operators' port: got %d, want %d", resp.StatusCode, http.StatusNotFound)
	}
}
