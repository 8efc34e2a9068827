package api_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// scrape reads the metrics.
func (b *bundle) scrape(t *testing.T) string {
	t.Helper()
	operations := httptest.NewServer(b.core.Operations())
	defer operations.Close()
	series, _ := read(t, operations.URL+"/metrics")
	return series
}

// wantSeries waits until each line, a regular expression, is among the metrics. It reports the
// lines that are missing.
func (b *bundle) wantSeries(t *testing.T, lines ...string) {
	t.Helper()
	var series string
	holds := func(line string) bool { return regexp.MustCompile(`(?m)^causeway_` + line + `$`).MatchString(series) }
	deadline := time.NewTimer(programtest.Patience)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		series = b.scrape(t)
		missing := ""
		for _, line := range lines {
			if !holds(line) {
				missing += line + "\n"
			}
		}
		select {
		case <-deadline.C:
			t.Fatalf("missing:\n%samong\n%s", missing, series)
		case <-tick.C:
			if missing == "" {
				return
			}
		}
	}
}

// MustHookFor makes an endpoint that gets the captured transactions only, and that responds with
// the given status.
func (b *bundle) MustHookFor(t *testing.T, status int) {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(receiver.Close)
	MustDecode[v1.WebhookEndpoint](t, b.post(t, "/v1/webhook_endpoints", `{"url":"`+receiver.URL+`","enabled_events":["transaction.captured"]}`), 201)
}

// TestMetricsOfLeadership: a core that shares its store with no other core leads.
func TestMetricsOfLeadership(t *testing.T) {
	t.Parallel()
	setup(t).wantSeries(t, "core_leads 1")
}

// TestMetricsOfTheLog: only a store in a folder has a write-ahead log.
func TestMetricsOfTheLog(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustCreate(t, 100, "")
	want := `[1-9]\S+`
	if coretest.Shared() {
		want = "0"
	}
	b.wantSeries(t, `store_log_bytes `+want)
}

func TestMetricsOfWebhooks(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, private: true})
	b.wantSeries(t, `webhook_pending_deliveries 0`, `webhook_oldest_pending_seconds 0`, `webhook_attempts_total\{outcome="timeout"\} 0`, `webhook_discarded_total 0`)
	for _, status := range []int{200, 410, 500} {
		b.MustHookFor(t, status)
	}
	b.MustCreate(t, 100, "")
	b.wantSeries(t,
		`webhook_attempts_total\{outcome="accepted"\} 1`, `webhook_attempts_total\{outcome="bad_status"\} 2`,
		`webhook_deliveries_total\{status="succeeded"\} 1`, `webhook_deliveries_total\{status="failed"\} 1`,
		`webhook_endpoints_disabled_total\{reason="gone"\} 1`, `webhook_endpoints_disabled_total\{reason="failing"\} 0`,
		`webhook_pending_deliveries 1`, `webhook_oldest_pending_seconds 0`)
	b.clock.Advance(90 * time.Second)
	b.wantSeries(t, `webhook_attempts_total\{outcome="bad_status"\} 3`, `webhook_pending_deliveries 1`, `webhook_oldest_pending_seconds (90|89\.\d+)`)
	b.clock.Advance(80 * time.Hour) // no attempt follows then
	b.wantSeries(t, `webhook_deliveries_total\{status="failed"\} 2`, `webhook_pending_deliveries 0`, `webhook_oldest_pending_seconds 0`)
}

// TestMetricsOfPasses: a service starts after forty-five days. A server keeps deliveries up to two
// weeks longer than they must be kept.
func TestMetricsOfPasses(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, private: true})
	b.MustHookFor(t, 200)
	b.post(t, "/v1/transactions", create(100, ""), keyed("k"))
	b.MustCreate(t, 100, manual)
	b.MustToken(t, visa)
	b.wantSeries(t, `webhook_deliveries_total\{status="succeeded"\} 1`, `pass_transactions_total\{pass="settlement"\} 0`,
		`pass_last_success_timestamp_seconds\{pass="settlement"\} 1.7952534e\+09`, `purged_rows_total\{kind="token"\} 0`)
	b.stop(t) // otherwise its own passes may handle due rows
	b.clock.Advance(45 * 24 * time.Hour)
	b.database.MustConfirm(t, b.clock)
	b.start(t)
	now := `1.7991414e\+09`
	b.wantSeries(t,
		`pass_transactions_total\{pass="settlement"\} 1`, `pass_transactions_total\{pass="expiry"\} 1`, `settlement_lag_seconds 0`,
		`pass_last_success_timestamp_seconds\{pass="settlement"\} `+now, `pass_last_success_timestamp_seconds\{pass="expiry"\} `+now,
		`pass_failures_total\{pass="settlement"\} 0`, `pass_failures_total\{pass="expiry"\} 0`,
		`purged_rows_total\{kind="idempotency_key"\} 1`, `purged_rows_total\{kind="token"\} 1`, `purged_rows_total\{kind="webhook_delivery"\} 1`,
		`purge_last_success_timestamp_seconds\{kind="idempotency_key"\} `+now, `purge_last_success_timestamp_seconds\{kind="token"\} `+now,
		`purge_last_success_timestamp_seconds\{kind="webhook_delivery"\} `+now)
	if series := b.scrape(t); strings.Contains(series, b.merchant) {
		t.Error("a series names a merchant")
	}
}

func TestMetricsOfRecovery(t *testing.T) {
	t.Parallel()
	b := setupWith(t, MustHurryCatalogue(t, 20*time.Millisecond))
	lost := wantRefusal(t, b.post(t, "/v1/transactions", create1("pm_card_timeout_after_effect", "")),
		refusal{504, v1.ErrorTypeAPIError, "outcome_unknown", ""}).Transaction.ID
	b.clock.Advance(time.Second)
	b.resolved(t, lost)
	b.wantSeries(t, `recovery_taken_up_total\{step="authorize"\} 1`, `recovery_finished_total\{step="authorize"\} 1`,
		`recovery_taken_up_total\{step="refund"\} 0`, `recovery_open_steps\{step="authorize"\} 0`, `recovery_oldest_open_seconds 0`)
}

// TestMetricsOfOverload: while a payment that waits for the acquirer holds the only slot, other
// requests are turned away and counted. Health and the contract are served.
func TestMetricsOfOverload(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, atOnce: 1, catalogue: MustHurryCatalogue(t, time.Second)})
	programtest.WaitFor(t, "a refusal during a slow payment", func() bool {
		paid := make(chan struct{})
		go func() {
			defer close(paid)
			_, _ = b.try(t, http.MethodPost, "/v1/transactions", create1("pm_card_slow", "")) // this payment may be refused
		}()
		for refused := false; ; {
			if a := b.get(t, "/v1/transactions"); a.status != 200 {
				wantRefusal(t, a, refusal{503, v1.ErrorTypeAPIError, "overloaded", ""})
				refused = true
			}
			b.MustHealth(t) // a failed probe restarts the process
			MustDecode[map[string]any](t, b.get(t, "/v1/openapi.json", header("Authorization")), 200)
			select {
			case <-paid:
				return refused
			default:
			}
		}
	})
	b.wantSeries(t, `refused_requests_total\{reason="overloaded"\} [1-9]\d*`, `refused_requests_total\{reason="rate_limited"\} 0`,
		`refused_requests_total\{reason="too_many_requests"\} 0`,
		`refused_requests_total\{reason="too_many_unfinished_bodies"\} 0`, `refused_requests_total\{reason="body_too_slow"\} 0`)
	MustDecode[page](t, b.get(t, "/v1/transactions"), 200)
}

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
		`causeway_refused_requests_total\{reason="filter_secret_missing"\} 0\n`,
		`causeway_refused_requests_total\{reason="filter_secret_wrong"\} 0\n`,
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
