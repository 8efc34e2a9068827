package metrics_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/metrics"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// scraped returns the series of m in their text form.
func scraped(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	return w.Body.String()
}

// TestAccountReports: the time of the last complete reports of an account stays while it makes
// none. It begins with the first attempt.
func TestAccountReports(t *testing.T) {
	t.Parallel()
	const begin = 1_800_000_000
	c := clock.NewFake(time.Unix(begin, 0))
	m := metrics.New(metrics.Config{
		Waiting: func() int { return 0 }, LogSize: func() int64 { return 0 },
		Pending: func(context.Context) (int64, time.Time, error) { return 0, time.Time{}, nil },
		Clock:   c, Leads: func() bool { return true },
	})
	want := func(series string, value float64) {
		t.Helper()
		line := fmt.Sprintf("\n%s{account=\"acct_1\"} %s\n", series, strconv.FormatFloat(value, 'g', -1, 64))
		if text := scraped(t, m); !strings.Contains(text, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	const last = "causeway_account_reports_last_success_timestamp_seconds"
	const failed = "causeway_account_reports_failures_total"
	for _, step := range []struct {
		complete     bool
		last, failed float64
	}{{false, begin, 1}, {false, begin, 2}, {true, begin + 120, 2}, {false, begin + 120, 3}} {
		m.AccountReported("acct_1", step.complete)
		want(last, step.last)
		want(failed, step.failed)
		c.Advance(time.Minute)
	}
	for n := range 500 {
		m.AccountReported(fmt.Sprintf("acct_of_%d", n), true)
	}
	text := scraped(t, m)
	if strings.Contains(text, last+`{account="other"}`) || !strings.Contains(text, failed+`{account="other"} 0`) {
		t.Error("the other accounts have a last success, or no failures")
	}
}

// TestAccountCalls counts the calls by account. The number of series is bounded: the accounts after
// the first 500 share the series of others.
func TestAccountCalls(t *testing.T) {
	t.Parallel()
	m := metrics.New(metrics.Config{
		Waiting: func() int { return 0 }, LogSize: func() int64 { return 0 },
		Pending: func(context.Context) (int64, time.Time, error) { return 0, time.Time{}, nil },
		Clock:   clock.NewFake(time.Unix(1_800_000_000, 0)), Leads: func() bool { return true },
	})
	call := func(n int, outcome string) {
		m.AccountCalled(account.Call{
			Account: fmt.Sprintf("acct_%03d", n), Kind: "provider-a", Operation: "authorize", Outcome: outcome,
			Took: time.Second,
		})
	}
	for n := range 502 {
		call(n, "approved")
	}
	call(7, "unknown")
	call(501, "approved")
	m.AccountCalled(account.Call{
		Account: "acct_007", Kind: "provider-a", Operation: "report", Outcome: "reported", Took: time.Minute,
	})
	text := scraped(t, m)
	for _, want := range []string{
		`causeway_account_calls_total{account="acct_007",kind="provider-a",operation="report",outcome="reported"} 1`,
		`causeway_account_calls_total{account="other",kind="other",operation="report",outcome="unavailable"} 0`,
		`causeway_account_calls_total{account="acct_007",kind="provider-a",operation="authorize",outcome="approved"} 1`,
		`causeway_account_calls_total{account="acct_007",kind="provider-a",operation="authorize",outcome="unknown"} 1`,
		// An increase in Prometheus needs the 0 before the first burst of lost responses.
		`causeway_account_calls_total{account="acct_008",kind="provider-a",operation="authorize",outcome="unknown"} 0`,
		`causeway_account_calls_total{account="acct_008",kind="provider-a",operation="authorize",outcome="unavailable"} 0`,
		`causeway_account_calls_total{account="other",kind="other",operation="authorize",outcome="approved"} 3`,
		`causeway_account_calls_total{account="other",kind="other",operation="void",outcome="unknown"} 0`,
		`causeway_account_seconds_count{account="acct_007",kind="provider-a"} 2`,
		`causeway_account_seconds_sum{account="other",kind="other"} 3`,
		`causeway_acquirer_seconds_count{operation="authorize",outcome="approved"} 503`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if got := strings.Count(text, "causeway_account_seconds_sum{"); got != 501 {
		t.Errorf("got series of %d accounts, want 500 and the others", got)
	}
	if strings.Contains(text, "acct_500") || strings.Contains(text, "acct_501") {
		t.Error("an account after the first 500 has its own series")
	}
}

// TestStoreUnavailable: the requests that the store refuses have a series, which begins at 0.
func TestStoreUnavailable(t *testing.T) {
	t.Parallel()
	m := metrics.New(metrics.Config{
		Waiting: func() int { return 0 }, LogSize: func() int64 { return 0 },
		Pending: func(context.Context) (int64, time.Time, error) { return 0, time.Time{}, nil },
		Clock:   clock.NewFake(time.Unix(1_800_000_000, 0)), Leads: func() bool { return true },
	})
	for n := range 2 {
		want := fmt.Sprintf("\ncauseway_refused_requests_total{reason=\"store_unavailable\"} %d\n", n)
		if text := scraped(t, m); !strings.Contains(text, want) {
			t.Errorf("the metrics lack %s", want)
		}
		m.Request(httpx.Sample{Route: "POST /v1/transactions", Status: 503, Outcome: "store_unavailable"})
	}
}
