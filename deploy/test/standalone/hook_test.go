package standalone_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/hook"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// allowPrivate lets the process deliver to receivers of the tests.
const allowPrivate = "--webhooks-allow-private"

// events returns all events, newest first.
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
	l := hook.Start(t)
	earlier := len(m.events(t)) // of the merchant's keys, before the endpoint existed
	endpoint := m.hook(t, l.URL)
	l.Trust(t, endpoint.Secret.Reveal())
	for n := range 12 { // each kind of life twice
		if err := plan(fmt.Sprintf("hook-%d", n), n).proceed(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	m.must(t, http.MethodPost, "/v1/transactions", "",
		`{"amount":100,"currency":"usd","payment_method":"pm_card_declined"}`)
	events := m.events(t)
	events = events[:len(events)-earlier] // newest first
	programtest.WaitFor(t, "every event has come", func() bool { return len(l.All(t)) >= len(events) })
	wantVerdicts(t, m, l.All(t), events, 1)

	// During a roll both secrets verify, afterwards only the new one.
	rolled := mustDecode[v1.WebhookEndpoint](t,
		m.must(t, http.MethodPost, "/v1/webhook_endpoints/"+endpoint.ID+"/roll_secret", "roll", ""))
	for _, secret := range []string{endpoint.Secret.Reveal(), rolled.Secret.Reveal()} {
		l.Trust(t, secret)
		before := len(l.All(t))
		m.must(t, http.MethodPost, "/v1/events/"+events[0].ID+"/redeliver", "", "")
		programtest.WaitFor(t, "it was delivered again", func() bool { return len(l.All(t)) > before })
		wantVerdicts(t, m, l.All(t)[before:], events[:1], 2)
	}
	ended := mustDecode[v1.WebhookEndpoint](t,
		m.must(t, http.MethodPost, "/v1/webhook_endpoints/"+endpoint.ID+"/roll_secret", "", `{"expires_in":0}`))
	before := len(l.All(t))
	m.must(t, http.MethodPost, "/v1/events/"+events[0].ID+"/redeliver", "", "")
	programtest.WaitFor(t, "the old secret was tried", func() bool { return len(l.All(t)) > before })
	if v := l.All(t)[before]; v.Verified || v.Signatures != 1 {
		t.Errorf("the library takes a signature by another secret: %+v", v)
	}
	l.Trust(t, ended.Secret.Reveal())
	programtest.WaitFor(t, "the retry was taken", func() bool {
		all := l.All(t) // once: another delivery may arrive
		return all[len(all)-1].Verified
	})
}

// wantVerdicts checks that each event has exactly one valid delivery, with the bytes that v1 shows.
func wantVerdicts(t *testing.T, m *merchant, got []hook.Delivery, events []v1.Event, signatures int) {
	t.Helper()
	if len(got) != len(events) {
		t.Errorf("deliveries = %d, want %d", len(got), len(events))
	}
	for _, e := range events {
		i := slices.IndexFunc(got, func(v hook.Delivery) bool { return v.ID == e.ID })
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
		m.base + "/v1/health", "http://localhost:80/", "http://[::1]/", "http://0.0.0.0/",
		"http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/",
		"http://[::ffff:127.0.0.1]/", "http://100.64.0.1/", "file:///etc/passwd",
	} {
		got := m.must(t, http.MethodPost, "/v1/webhook_endpoints", "", `{"url":"`+url+`","enabled_events":["*"]}`)
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, `"invalid_url"`) {
			t.Errorf("%s: %d %s", url, got.status, got.body)
		}
	}
}
