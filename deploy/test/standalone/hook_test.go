package standalone_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/test/sdk"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// allowPrivate lets the process deliver to receivers of the tests.
const allowPrivate = "--webhooks-allow-private"

// verdict is what the official library says of one delivery.
type verdict struct {
	Verified   bool   `json:"verified"`
	ID         string `json:"id"`
	Signatures int    `json:"signatures"`
	EventID    string `json:"event_id"`
	Body       string `json:"body"`
}

// library is hook/receiver.js, running.
type library struct {
	url   string
	stdin io.Writer
	ready chan struct{} // it has taken a secret

	mu       sync.Mutex
	verdicts []verdict // guarded by mu
}

func startLibrary(t *testing.T) *library {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", absolute(t, "../hook/receiver.js"))
	cmd.Env = append(os.Environ(), "NODE_PATH="+sdk.InstallNode(t, "hooks", absolute(t, "../hook")))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("node: %v (this test needs it on PATH)", err)
	}
	l := &library{stdin: stdin, ready: make(chan struct{}, 1)}
	lines := bufio.NewReader(stdout)
	url, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	l.url = strings.TrimSpace(url)
	ended := make(chan struct{})
	go func() { defer close(ended); l.read(t, lines) }()
	t.Cleanup(func() {
		_ = stdin.Close() // which ends it
		<-ended
		_ = cmd.Wait() // its context may have killed it
	})
	return l
}

func (l *library) read(t *testing.T, lines *bufio.Reader) {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if line == "\"ready\"\n" {
			l.ready <- struct{}{}
			continue
		}
		var v verdict
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Errorf("the receiver printed %q: %v", line, err)
		}
		l.mu.Lock()
		l.verdicts = append(l.verdicts, v)
		l.mu.Unlock()
	}
}

// trust makes it verify by a secret from now on.
func (l *library) trust(t *testing.T, secret string) {
	t.Helper()
	if _, err := fmt.Fprintln(l.stdin, secret); err != nil {
		t.Fatal(err)
	}
	<-l.ready
}

func (l *library) all() []verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.verdicts)
}

// events returns all events, newest first, as v1 shows them.
func (m *merchant) events(tb testing.TB) []v1.Event {
	tb.Helper()
	var all []v1.Event
	for after := ""; ; {
		got := mustDecode[v1.EventList](tb, m.must(tb, http.MethodGet, "/v1/events?limit=100"+after, "", ""))
		all = append(all, got.Data...)
		if !got.HasMore {
			return all
		}
		after = "&starting_after=" + all[len(all)-1].ID
	}
}

// hook makes an endpoint for all events and returns it with its secret.
func (m *merchant) hook(tb testing.TB, url string) v1.WebhookEndpoint {
	tb.Helper()
	got := m.must(tb, http.MethodPost, "/v1/webhook_endpoints", "hook-"+url, `{"url":"`+url+`","enabled_events":["*"]}`)
	if got.status != http.StatusCreated {
		tb.Fatalf("webhook endpoint: %d %s", got.status, got.body)
	}
	return mustDecode[v1.WebhookEndpoint](tb, got)
}

func TestTheOfficialLibraryVerifiesEveryDelivery(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), allowPrivate)
	m := merchantOf(t, p)
	l := startLibrary(t)
	earlier := len(m.events(t)) // of the merchant's keys, before there was an endpoint
	endpoint := m.hook(t, l.url)
	l.trust(t, endpoint.Secret.Reveal())
	for n := range 12 { // each kind of life twice
		if err := plan(fmt.Sprintf("hook-%d", n), n).proceed(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	m.must(t, http.MethodPost, "/v1/transactions", "", `{"amount":100,"currency":"usd","payment_method":"pm_card_declined"}`)
	events := m.events(t)
	events = events[:len(events)-earlier] // newest first
	programtest.WaitFor(t, "every event has come", func() bool { return len(l.all()) >= len(events) })
	wantVerdicts(t, m, l.all(), events, 1)

	// During a roll both secrets verify, and afterwards none but the new one.
	rolled := mustDecode[v1.WebhookEndpoint](t, m.must(t, http.MethodPost, "/v1/webhook_endpoints/"+endpoint.ID+"/roll_secret", "roll", ""))
	for _, secret := range []string{endpoint.Secret.Reveal(), rolled.Secret.Reveal()} {
		l.trust(t, secret)
		before := len(l.all())
		m.must(t, http.MethodPost, "/v1/events/"+events[0].ID+"/redeliver", "", "")
		programtest.WaitFor(t, "it was delivered again", func() bool { return len(l.all()) > before })
		wantVerdicts(t, m, l.all()[before:], events[:1], 2)
	}
	ended := mustDecode[v1.WebhookEndpoint](t, m.must(t, http.MethodPost, "/v1/webhook_endpoints/"+endpoint.ID+"/roll_secret", "", `{"expires_in":0}`))
	before := len(l.all())
	m.must(t, http.MethodPost, "/v1/events/"+events[0].ID+"/redeliver", "", "")
	programtest.WaitFor(t, "the old secret was tried", func() bool { return len(l.all()) > before })
	if v := l.all()[before]; v.Verified || v.Signatures != 1 {
		t.Errorf("the library takes a signature by another secret: %+v", v)
	}
	l.trust(t, ended.Secret.Reveal())
	programtest.WaitFor(t, "the retry was taken", func() bool { return l.all()[len(l.all())-1].Verified })
}

// wantVerdicts wants exactly one good delivery of each event, with the bytes that v1 shows.
func wantVerdicts(t *testing.T, m *merchant, got []verdict, events []v1.Event, signatures int) {
	t.Helper()
	if len(got) != len(events) {
		t.Errorf("deliveries = %d, want %d", len(got), len(events))
	}
	for _, e := range events {
		i := slices.IndexFunc(got, func(v verdict) bool { return v.ID == e.ID })
		if i < 0 {
			t.Errorf("%s %s did not come", e.Type, e.ID)
			continue
		}
		v := got[i]
		if !v.Verified || v.EventID != e.ID || v.Signatures != signatures {
			t.Errorf("%s: %+v", e.Type, v)
		}
		if shown := m.must(t, http.MethodGet, "/v1/events/"+e.ID, "", "").body; v.Body != shown {
			t.Errorf("%s was delivered as %s, v1 shows %s", e.Type, v.Body, shown)
		}
	}
}

func TestThisMachineIsNoReceiverByDefault(t *testing.T) {
	t.Parallel()
	m := merchantOf(t, start(t, t.TempDir()))
	for _, url := range []string{
		m.base + "/v1/health", "http://localhost:80/", "http://[::1]/", "http://0.0.0.0/", "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/",
		"http://[::ffff:127.0.0.1]/", "http://100.64.0.1/", "file:///etc/passwd",
	} {
		got := m.must(t, http.MethodPost, "/v1/webhook_endpoints", "", `{"url":"`+url+`","enabled_events":["*"]}`)
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, `"invalid_url"`) {
			t.Errorf("%s: %d %s", url, got.status, got.body)
		}
	}
}
