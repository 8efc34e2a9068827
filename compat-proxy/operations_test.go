package compatproxy_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/clock"
)

// operated is a proxy with its operators' port.
type operated struct {
	proxy      *compatproxy.Proxy
	url        string
	operations string
}

func mustOperate(t *testing.T, upstream http.Handler, change func(*compatproxy.Config)) operated {
	t.Helper()
	server := goldentest.Serve(t, upstream)
	cfg := compatproxy.Config{DeduplicationSecret: goldentest.Secret(), V1: server.URL}
	if change != nil {
		change(&cfg)
	}
	p, err := compatproxy.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	front, back := httptest.NewServer(p.Handler()), httptest.NewServer(p.Operations())
	t.Cleanup(front.Close)
	t.Cleanup(back.Close)
	return operated{p, front.URL, back.URL}
}

// wantSeries checks that the metrics have each line, a regular expression.
func (o operated) wantSeries(t *testing.T, lines ...string) {
	t.Helper()
	_, series := send(t, http.MethodGet, o.operations+"/metrics", nil, nil)
	for _, line := range lines {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(series) {
			t.Errorf("%s is not among\n%s", line, series)
		}
	}
	for _, secret := range []string{apiKey, pan, "shop"} {
		if strings.Contains(series, secret) {
			t.Errorf("the metrics hold %q", secret)
		}
	}
}

// faltering is a v1 that is overloaded at the first create.
type faltering struct {
	v1

	refused atomic.Bool
}

func (f *faltering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && f.refused.CompareAndSwap(false, true) {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	f.v1.ServeHTTP(w, r)
}

// TestMetrics counts by method and class of outcome, and calls by route, status and attempt.
func TestMetrics(t *testing.T) {
	t.Parallel()
	o := mustOperate(t, &faltering{}, nil)
	o.wantSeries(t, `causeway_compat_deduplication_secret_info\{fingerprint="fp[0-9a-f]{16}"\} 1`)
	o.wantSeries(t, `causeway_compat_requests_in_flight 0`, `causeway_compat_shed_requests_total{reason="overloaded"} 0`,
		`causeway_compat_credentials_reloads_total\{outcome="ok"\} 0`, `go_goroutines \d+`)
	for _, body := range []string{
		sale, "nonsense", strings.Replace(sale, "createTransactionRequest", "somethingElseRequest", 1),
		strings.Replace(sale, "24.50", "x", 1),
	} {
		send(t, http.MethodPost, o.url+path, strings.NewReader(body), nil)
	}
	send(t, http.MethodPost, o.url+"/compat/rpc", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"compat.provider-a.createTransactionRequest","params":`+
			sale[len(`{"createTransactionRequest":`):len(sale)-1]+`}`), nil)
	const seconds = `causeway_compat_request_seconds_count\{method=`
	const call = `causeway_compat_v1_call_seconds_count\{attempt=`
	o.wantSeries(t,
		seconds+`"createTransactionRequest",outcome="approved"\} 2`,
		seconds+`"none",outcome="refused"\} \d+`,
		call+`"1",route="POST /v1/transactions",status="503"\} 1`,
		call+`"2",route="POST /v1/transactions",status="201"\} 1`, call+`"1",route="POST /v1/transactions",status="201"\} 1`,
		call+`"1",route="GET /v1/api_keys/current",status="200"\} 1`)
}

// withoutAccount is a v1 whose merchant has no account at an acquirer.
type withoutAccount struct{ v1 }

func (a *withoutAccount) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		a.v1.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, `{"error":{"type":"api_error","code":"acquirer_not_configured","status":503}}`)
}

// TestMetricsOfMerchantWithoutAccount: only the refusals of a merchant without an account are
// counted as no fault of the service.
func TestMetricsOfMerchantWithoutAccount(t *testing.T) {
	t.Parallel()
	const refused = `causeway_compat_v1_refused_calls_total\{reason="acquirer_not_configured"\} `
	for _, c := range []struct {
		upstream http.Handler
		want     string
	}{
		{&withoutAccount{}, "1"},
		{&faltering{}, "0"},
	} {
		o := mustOperate(t, c.upstream, nil)
		o.wantSeries(t, refused+"0")
		send(t, http.MethodPost, o.url+path, strings.NewReader(sale), nil)
		o.wantSeries(t, refused+c.want)
	}
}

func TestMetricsOfShedRequests(t *testing.T) {
	t.Parallel()
	s := &v1{hold: make(chan struct{}), arrived: make(chan struct{}, 1)}
	o := mustOperate(t, s, func(c *compatproxy.Config) { c.Concurrency = 1 })
	var first sync.WaitGroup
	first.Go(func() { send(t, http.MethodPost, o.url+path, strings.NewReader(sale), nil) })
	<-s.arrived
	for range 3 {
		send(t, http.MethodPost, o.url+path, strings.NewReader(sale), nil)
	}
	o.wantSeries(t, `causeway_compat_requests_in_flight 1`, `causeway_compat_shed_requests_total{reason="overloaded"} 3`,
		`causeway_compat_request_seconds_count\{method="none",outcome="busy"\} 3`)
	close(s.hold)
	first.Wait()
	o.wantSeries(t, `causeway_compat_requests_in_flight 0`, `causeway_compat_shed_requests_total{reason="overloaded"} 3`)
}

// TestReplaysAreVisible: the log line and the metrics show each command whose result is the stored
// one of an earlier equal request.
func TestReplaysAreVisible(t *testing.T) {
	t.Parallel()
	twoStep := strings.Replace(saleB, `"expirationMonth"`, `"securityCode":"987","expirationMonth"`, 1)
	for name, tt := range map[string]struct {
		path, body string
		kinds      []string
	}{
		"provider-a": {path, sale, []string{"payment.authorize"}},
		"a sale":     {pathB, saleB, []string{"payment.authorize"}},
		"two steps":  {pathB, twoStep, []string{"payment.authorize", "payment.capture"}},
		"a capture":  {pathB + "/60410000123/captures", followUpB, []string{"payment.capture"}},
		"a refund":   {pathB + "/60410000123/refunds", followUpB, []string{"payment.refund"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines bytes.Buffer
			v1 := &keeping{kept: map[string]keptResponse{}, customers: map[string]map[string]any{}}
			o := mustOperate(t, v1, func(c *compatproxy.Config) { c.Log = slog.New(slog.NewJSONHandler(&lines, nil)) })
			post := func(key string) string {
				lines.Reset()
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, tt.path, strings.NewReader(tt.body))
				keyed(key)(r)
				o.proxy.Handler().ServeHTTP(httptest.NewRecorder(), r)
				return lines.String()
			}
			want := `"replayed":"` + strings.Join(tt.kinds, ",") + `"`
			for _, key := range []string{"k", "l"} {
				if got := post(key); strings.Contains(got, "replayed") {
					t.Errorf("the first request under %s: got %s, want no replay", key, got)
				}
			}
			for range 2 {
				if got := post("k"); !strings.Contains(got, want) {
					t.Errorf("a retry: got %s, want %s", got, want)
				}
			}
			for _, kind := range tt.kinds {
				o.wantSeries(t, `causeway_compat_replays_total\{command="`+kind+`"\} 2`)
			}
		})
	}
}

func TestMetricsOfReloads(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "credentials.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("provider_a: []\n")
	o := mustOperate(t, &v1{}, func(c *compatproxy.Config) { c.Credentials = file })
	if err := o.proxy.Reload(); err != nil {
		t.Error(err)
	}
	write("nonsense: 1\n")
	if err := o.proxy.Reload(); err == nil {
		t.Error("nonsense was put in force")
	}
	const reloads = `causeway_compat_credentials_reloads_total\{outcome=`
	o.wantSeries(t, reloads+`"ok"\} 1`, reloads+`"failed"\} 1`)
	if err := os.Remove(file); err != nil || o.proxy.Reload() == nil {
		t.Errorf("a removed file was read, or still exists: %v", err)
	}
	o.wantSeries(t, reloads+`"ok"\} 1`, reloads+`"failed"\} 2`)
}

// TestBrokenCredentials: a scrape alone finds files that a start would refuse, and their repair.
func TestBrokenCredentials(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "credentials.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("provider_a: []\n")
	now := clock.NewFake(time.Unix(1000, 0))
	o := mustOperate(t, &v1{}, func(c *compatproxy.Config) { c.Credentials, c.Clock = file, now })
	for _, step := range []struct{ text, broken string }{
		{"provider_a: []\n", "0"}, {"provider_a: [\n", "1"}, {"provider_a: [\n", "1"}, {"provider_b: []\n\n", "0"},
	} {
		write(step.text)
		now.Advance(time.Second)
		o.wantSeries(t, "causeway_compat_credentials_broken "+step.broken)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	now.Advance(time.Second)
	o.wantSeries(t, "causeway_compat_credentials_broken 1")
}

// TestHealth: the health is v1's, as the proxy reaches it.
func TestHealth(t *testing.T) {
	t.Parallel()
	var ill atomic.Bool
	o := mustOperate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ill.Load() || r.URL.Path != "/v1/health" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, `{"status":"ok","checks":{}}`)
	}), nil)
	if got, body := send(t, http.MethodGet, o.operations+"/health", nil, nil); got.status != 200 ||
		body != `{"status":"ok","checks":{"v1":"ok"}}` {
		t.Errorf("got %d %s", got.status, body)
	}
	ill.Store(true)
	if got, body := send(t, http.MethodGet, o.operations+"/health", nil, nil); got.status != 503 ||
		body != `{"status":"failing","checks":{"v1":"failing"}}` {
		t.Errorf("got %d %s", got.status, body)
	}
	if got, _ := send(t, http.MethodPost, o.operations+path, strings.NewReader(sale), nil); got.status != 404 {
		t.Errorf("payments on the operators' port: got %d, want 404", got.status)
	}
	if got, _ := send(t, http.MethodGet, o.url+"/metrics", nil, nil); got.status != 404 {
		t.Errorf("metrics on the public port: got %d, want 404", got.status)
	}
}

// TestShareOfSlots: the payments of one merchant hold only a share of the slots, in each dialect.
func TestShareOfSlots(t *testing.T) {
	t.Parallel()
	s := &v1{hold: make(chan struct{}), arrived: make(chan struct{}, 2)}
	o := mustOperate(t, s, func(c *compatproxy.Config) { c.Concurrency = 2 })
	var first sync.WaitGroup
	first.Go(func() { send(t, http.MethodPost, o.url+path, strings.NewReader(sale), nil) })
	<-s.arrived
	if resp, body := send(t, http.MethodPost, o.url+path, strings.NewReader(sale), nil); resp.status != 200 ||
		!strings.Contains(body, `"E00053"`) {
		t.Errorf("provider-a: got %d %s", resp.status, body)
	}
	resp, body := send(t, http.MethodPost, o.url+pathB, strings.NewReader(saleB), asB)
	if resp.status != 503 || resp.header.Get("Retry-After") == "" || !strings.Contains(body, "Nothing was executed.") {
		t.Errorf("provider-b: got %d %v %s", resp.status, resp.header, body)
	}
	o.wantSeries(t, `causeway_compat_shed_requests_total{reason="too_many_requests"} 2`)
	close(s.hold)
	first.Wait()
}
