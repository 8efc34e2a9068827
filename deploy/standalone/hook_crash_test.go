package main_test

import (
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// inbox is a receiver that outlives the standalone. It refuses one in twenty for once, so that a kill also meets deliveries that wait.
type inbox struct {
	*httptest.Server
	mu      sync.Mutex        // guards what follows
	got     map[string]string // body by webhook-id
	refused map[string]bool   // by webhook-id
	twice   int               // how many came again
	change  []string          // ids whose body was another one when it came again
}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	b := &inbox{got: map[string]string{}, refused: map[string]bool{}}
	b.Server = httptest.NewServer(b)
	t.Cleanup(b.Close)
	return b
}

// ServeHTTP implements http.Handler.
func (b *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	message := r.Header.Get("webhook-id")
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil || !b.refused[message] && rand.IntN(20) == 0 {
		b.refused[message] = true
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if was, again := b.got[message]; again {
		b.twice++
		if was != string(body) {
			b.change = append(b.change, message)
		}
	}
	b.got[message] = string(body)
}

// missing are those events that have not come.
func (b *inbox) missing(events []v1.Event) []v1.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(events), func(e v1.Event) bool { _, came := b.got[e.ID]; return came })
}

// hole is a receiver that takes connections and never answers.
func hole(t *testing.T) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return "http://" + ln.Addr().String() + "/"
}

// TestKillLosesNoEvent kills the process under load, with deliveries under way, waiting and failing, beside endpoints that are dead. Every
// event that v1 has must come to the live one, as v1 shows it, and each object's must be complete.
func TestKillLosesNoEvent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	live := newInbox(t)
	p := start(t, dir, "--log", "error", allowPrivate)
	m := merchantOf(t, p)
	m.hook(t, live.URL)
	m.hook(t, hole(t))
	m.hook(t, "http://127.0.0.1:1/") // nobody listens
	var all []*payment
	for round := range crashRoundsOr(t, 3) {
		now := load(t, p, m, round, 100+rand.IntN(400))
		p = start(t, dir, "--log", "error", allowPrivate)
		m = merchantOf(t, p)
		settle(t, m, now)
		all = append(all, now...)
	}
	events := m.events(t)
	waitFor(t, "every event has come", func() bool { return len(live.missing(events)) == 0 })
	if len(live.change) > 0 {
		t.Errorf("%d events came again as other bytes: %v", len(live.change), live.change)
	}
	if len(live.got) != len(events) {
		t.Errorf("%d events came, v1 has %d", len(live.got), len(events))
	}
	wantWhole(t, all, events)
	t.Logf("%d payments, %d events, all came; %d came more than once", len(all), len(events), live.twice)
	p.stop(t)
}

// wantWhole wants every transaction's events to be the sequence 1, 2, … of its versions.
func wantWhole(t *testing.T, payments []*payment, events []v1.Event) {
	t.Helper()
	sequences := map[string][]int64{}
	for _, e := range events {
		id := idOf(string(e.Data.Object))
		if len(e.Type) > 12 && e.Type[:12] == "transaction." {
			sequences[id] = append(sequences[id], e.Sequence)
		}
	}
	for _, p := range payments {
		got := sequences[p.id]
		slices.Sort(got)
		for i, n := range got {
			if n != int64(i+1) {
				t.Errorf("%s: sequences %v", p.reference, got)
				break
			}
		}
		if len(got) == 0 {
			t.Errorf("%s: no event", p.reference)
		}
	}
}
