package standalone_test

import (
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestAdminShowsBothPrograms checks that one port exports the metrics of core and of the proxy for
// a legacy sale.
func TestAdminShowsBothPrograms(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), "--admin", "127.0.0.1:0", "--log", "info")
	m := merchantOf(t, p)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.HTTP+"/compat/provider-a/xml",
		strings.NewReader(saleXML(p, "5.00")))
	if err != nil {
		t.Fatal(err)
	}
	response, err := m.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close() // the metrics show the outcome
	series := readMetrics(t, p.adminURL(t)+"/metrics")
	for _, want := range []string{
		`causeway_compat_request_seconds_count{method="createTransactionRequest",outcome="approved"} 1`,
		`causeway_compat_v1_call_seconds_count{attempt="1",route="POST /v1/transactions",status="201"} 1`,
		`causeway_request_seconds_count{route="POST /v1/transactions",status="201"} 1`,
		`causeway_acquirer_seconds_count{operation="authorize",outcome="approved"} 1`,
		`causeway_webhook_pending_deliveries 0`, `causeway_recovery_oldest_open_seconds 0`, "go_goroutines ",
	} {
		if !strings.Contains(series, "\n"+want) {
			t.Errorf("%s is not in\n%s", want, series)
		}
	}
	p.Stop(t)
}

// adminURL returns the address of the operators' port of a program with --log info.
func (p *process) adminURL(t *testing.T) string {
	t.Helper()
	line := regexp.MustCompile(`operators' port","listener":"admin","address":"([^"]+)"`)
	var match []string
	programtest.WaitFor(t, "the address of the operators' port is logged", func() bool {
		match = line.FindStringSubmatch(p.Log.String())
		return match != nil
	})
	return "http://" + match[1]
}

func readMetrics(t *testing.T, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return string(text)
}
