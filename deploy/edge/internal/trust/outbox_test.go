package trust_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/causeway-pay/causeway/deploy/edge/internal/trust"
	"github.com/causeway-pay/causeway/shared/announce"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// core accepts events, or fails in a chosen way.
type core struct {
	mu    sync.Mutex
	got   []string // guarded by mu
	token string   // of the last request; guarded by mu
	fail  int      // the status of all responses, 0 for 201; guarded by mu
}

func (c *core) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = r.Header.Get("Authorization")
	c.got = append(c.got, r.Method+" "+r.URL.Path+" "+string(body))
	w.WriteHeader(cmp.Or(c.fail, 201))
	_, _ = io.WriteString(w, `{"error":{"code":"a_code"}}`)
}

func (c *core) set(fail int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail = fail
}

func (c *core) requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.got...)
}

// publishing returns a publisher with a core in this process.
func publishing(t *testing.T) (*published, *core, *bytes.Buffer) {
	t.Helper()
	c, log := &core{}, &bytes.Buffer{}
	return begin(t, func(cfg *trust.Config) {
		cfg.Port = announce.InProcess(c, secret.New("the-filter-token"))
		cfg.Log = slog.New(slog.NewJSONHandler(log, nil))
	}), c, log
}

// deliver delivers, and checks the total number of requests.
func (s *published) deliver(t *testing.T, c *core, want int) {
	t.Helper()
	s.Deliver(t.Context())
	if got := c.requests(); len(got) != want {
		t.Fatalf("requests: got %d, want %d: %s", len(got), want, got)
	}
}

// TestEvents checks that the first certificate is no rotation, and that each rotation is one event.
// It is sent until core accepts it, also after a restart.
func TestEvents(t *testing.T) {
	t.Parallel()
	s, c, log := publishing(t)
	first, second := s.pair(t), s.pair(t)
	s.live(t, first)
	s.deliver(t, c, 0)
	s.next(t, birth.Add(day), second)
	s.deliver(t, c, 0)
	s.clock.Advance(time.Hour)
	s.live(t, second)
	s.live(t, second)
	c.set(503)
	s.deliver(t, c, 1)
	s.deliver(t, c, 1) // not due yet
	s.open(t)
	s.live(t, second)
	s.deliver(t, c, 1)
	s.clock.Advance(5 * time.Second)
	c.set(401)
	s.deliver(t, c, 2)
	s.clock.Advance(10*time.Second - time.Nanosecond)
	s.deliver(t, c, 2)
	s.clock.Advance(time.Nanosecond)
	c.set(200)
	s.deliver(t, c, 3)
	s.clock.Advance(time.Hour)
	s.deliver(t, c, 3)
	s.open(t)
	s.deliver(t, c, 3)
	sent := c.requests()
	if sent[0] != sent[1] || sent[1] != sent[2] || !strings.HasPrefix(sent[0], "POST /admin/v1/events {") {
		t.Errorf("got %s", sent)
	}
	s.checkRotation(t, sent[0], first, second)
	if text := log.String(); !strings.Contains(text, "core rejected the event: HTTP 503 a_code") ||
		!strings.Contains(text, "core rejected filter_token") || strings.Contains(text, "the-filter-token") {
		t.Errorf("log: %s", text)
	}
}

// checkRotation compares an event with the certificates.
func (s *published) checkRotation(t *testing.T, sent string, old, now *certfile.Pair) {
	t.Helper()
	_, body, _ := strings.Cut(sent, "events ")
	var got struct {
		Type, Name string
		Object     v1.CertificateRotation
	}
	if err := json.Unmarshal([]byte(body), &got, json.MatchCaseInsensitiveNames(true),
		json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	o := got.Object
	if got.Type != "certificate.rotated" || got.Name != o.Rotation || o.Object != "certificate" ||
		!o.EffectiveAt.Equal(birth.Add(time.Hour)) || len(o.Hosts) != 2 ||
		!o.NotAfter.Equal(now.Certificate.Leaf.NotAfter) ||
		o.FingerprintsURL != "https://trust.example.com/v1/trust/fingerprints" ||
		o.CalendarURL != "https://trust.example.com/calendar.ics" || len(o.Previous) != 1 || len(o.Current) != 1 {
		t.Fatalf("got %s", body)
	}
	shown := s.fingerprints(t)
	want, is := shown.Current[0], o.Current[0]
	if o.Previous[0].CertificateSha256 != sum(old) || is.CertificateSha256 != sum(now) ||
		is.SpkiSha256 != want.SpkiSha256 || *is.IssuerSpkiSha256 != shown.IssuingCas[0].SpkiSha256 ||
		is.SerialNumber != want.SerialNumber || !is.NotAfter.Equal(want.NotAfter.Time) {
		t.Errorf("got %s", body)
	}
	if uid := s.calendar(t).only(t, "TLS certificate changed").UID; uid != "tls-"+o.Rotation+"-live@trust.example.com" {
		t.Errorf("the calendar calls it %s, the event %s", uid, o.Rotation)
	}
}

// TestEventsOfPolicy checks that an event has the added and the removed parts.
func TestEventsOfPolicy(t *testing.T) {
	t.Parallel()
	s, c, _ := publishing(t)
	for _, suites := range [][]string{{"B", "A"}, {"A", "B"}, {"C", "A"}} {
		if err := s.Policy(t.Context(), v1.TLSPolicy{Versions: []string{"1.2", "1.3"}, CipherSuites: suites}); err != nil {
			t.Fatal(err)
		}
	}
	s.deliver(t, c, 1)
	sent := c.requests()[0]
	for _, want := range []string{
		`"type":"tls.cipher_policy.changed","name":"pol_`, `"object":{"object":"tls_policy","change":"pol_`,
		`"effective_at":"2026-11-21T09:30:00.000Z"`,
		`"previous":{"versions":["1.2","1.3"],"cipher_suites":["A","B"],"signature_algorithms":[]},` +
			`"current":{"versions":["1.2","1.3"],"cipher_suites":["A","C"],"signature_algorithms":[]}`,
		`"added":{"versions":[],"cipher_suites":["C"],"signature_algorithms":[]},"removed":{"versions":[],` +
			`"cipher_suites":["B"],"signature_algorithms":[]}`,
	} {
		if !strings.Contains(sent, want) {
			t.Errorf("no %s in %s", want, sent)
		}
	}
}

// TestEventsDropped checks that an event for which the outbox has no room is logged and counted.
func TestEventsDropped(t *testing.T) {
	t.Parallel()
	s, c, log := publishing(t)
	c.set(503)
	registry := prometheus.NewRegistry()
	registry.MustRegister(s)
	a, b := s.pair(t), s.pair(t)
	s.live(t, b)
	s.live(t, a)
	s.live(t, b)
	s.grow(t, 100, 100)
	oldest := s.oldestRotation(t)
	s.clock.Advance(time.Hour)
	s.wantEvents(t, registry, 0, 100, 3600)
	s.live(t, a)
	s.wantEvents(t, registry, 1, 100, 3600)
	if text := log.String(); strings.Count(text, "an event was dropped") != 1 || !strings.Contains(text, oldest) ||
		!strings.Contains(text, `"level":"ERROR"`) {
		t.Errorf("log: got %s, want %s", text, oldest)
	}
}

// oldestRotation returns the id of the first rotation in the calendar.
func (s *published) oldestRotation(t *testing.T) string {
	t.Helper()
	return strings.TrimSuffix(strings.TrimPrefix(s.calendar(t).Events[0].UID, "tls-"), "-live@trust.example.com")
}

func (s *published) wantEvents(t *testing.T, registry *prometheus.Registry, dropped, pending, oldest int) {
	t.Helper()
	want := fmt.Sprintf(`
# HELP causeway_edge_events_dropped_total Events for merchants that were dropped because the outbox was full.
# TYPE causeway_edge_events_dropped_total counter
causeway_edge_events_dropped_total %d
# HELP causeway_edge_events_oldest_pending_seconds Age of the oldest event that core has not accepted; 0 if none.
# TYPE causeway_edge_events_oldest_pending_seconds gauge
causeway_edge_events_oldest_pending_seconds %d
# HELP causeway_edge_events_pending Events for merchants that core has not accepted yet.
# TYPE causeway_edge_events_pending gauge
causeway_edge_events_pending %d
`, dropped, oldest, pending)
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

// TestTokenIsReadAgain checks that each request has the present token: operators rotate its file.
func TestTokenIsReadAgain(t *testing.T) {
	t.Parallel()
	c := &core{}
	token, missing := "old", error(nil)
	s := begin(t, func(cfg *trust.Config) {
		cfg.Port = announce.InProcess(c, secret.String{})
		cfg.Token = func() (secret.String, error) { return secret.New(token), missing }
	})
	s.live(t, s.pair(t))
	s.live(t, s.pair(t))
	c.set(401)
	s.deliver(t, c, 1)
	if c.token != "Bearer old" {
		t.Errorf("got %q", c.token)
	}
	missing = errors.New("no such file")
	s.clock.Advance(5 * time.Second)
	s.deliver(t, c, 1)
	missing, token = nil, "new"
	c.set(0)
	s.clock.Advance(10 * time.Second)
	s.deliver(t, c, 2)
	if c.token != "Bearer new" {
		t.Errorf("got %q", c.token)
	}
}

// TestPolicyIsRetried checks that a policy whose publication failed is published later, without a
// further change, with one event. The pauses grow.
func TestPolicyIsRetried(t *testing.T) {
	t.Parallel()
	s, c, log := publishing(t)
	set := func(suites ...string) error { return s.Policy(t.Context(), v1.TLSPolicy{CipherSuites: suites}) }
	if err := set("A"); err != nil {
		t.Fatal(err)
	}
	aside := s.cfg.Folder + "-aside"
	if err := os.Rename(s.cfg.Folder, aside); err != nil {
		t.Fatal(err)
	}
	if err := set("B"); err == nil {
		t.Fatal("no error")
	}
	s.clock.Advance(5 * time.Second)
	s.RetryPolicy(t.Context())
	if err := os.Rename(aside, s.cfg.Folder); err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(10*time.Second - time.Nanosecond)
	s.RetryPolicy(t.Context())
	if _, body := s.get(t, "/v1/trust"); !strings.Contains(body, `"cipher_suites":["A"]`) {
		t.Errorf("before it is due: got %s", body)
	}
	s.clock.Advance(time.Nanosecond)
	s.RetryPolicy(t.Context())
	s.RetryPolicy(t.Context())
	if _, body := s.get(t, "/v1/trust"); !strings.Contains(body, `"cipher_suites":["B"]`) {
		t.Errorf("got %s", body)
	}
	s.deliver(t, c, 1)
	if text := log.String(); strings.Count(text, "the TLS policy was not published") != 1 {
		t.Errorf("log: %s", text)
	}
}

// TestRun checks that Run delivers immediately, and ends with its context.
func TestRun(t *testing.T) {
	t.Parallel()
	sent := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent <- struct{}{} }))
	t.Cleanup(server.Close)
	s := begin(t, func(cfg *trust.Config) {
		cfg.Port = &announce.Port{URL: server.URL, Token: secret.New("x"), Client: server.Client()}
	})
	var ended sync.WaitGroup
	ended.Go(func() { s.Run(t.Context()) })
	t.Cleanup(ended.Wait)
	s.live(t, s.pair(t))
	s.live(t, s.pair(t))
	<-sent
}
