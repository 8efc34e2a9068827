package executor_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// clientHeader names the scheduled client of a call, and turnHeader the acquirer's state for the
// call.
const clientHeader, turnHeader = "X-Scheduled-Client", "X-Scheduled-Turn"

// turn is the state of the acquirer for a call.
type turn string

const (
	served      turn = "served"      // the acquirer is available; a payment of unknown outcome stays unknown
	unavailable turn = "unavailable" // the acquirer is unavailable; recovery fails a payment of unknown outcome
	lost        turn = "lost"        // the acquirer's response is lost, and it never had the payment
)

// scheduled is the transport of a client whose calls each wait for the schedule. A payment waits a
// second time, at the acquirer, with its key claimed.
type scheduled struct {
	http.RoundTripper

	name    string
	arrived chan bool // true before each call and at the acquirer, false when the command has ended
	step    chan turn

	reads int    // of the client's payment, while its outcome is unknown
	key   string // of that payment
}

func (s *scheduled) RoundTrip(r *http.Request) (*http.Response, error) {
	s.arrived <- true
	next := <-s.step
	r = r.Clone(r.Context())
	r.Header.Set(clientHeader, s.name)
	r.Header.Set(turnHeader, string(next))
	return s.RoundTripper.RoundTrip(r)
}

// scheduledV1 is keyedV1 with an acquirer that the schedule controls.
type scheduledV1 struct {
	*keyedV1

	clients map[string]*scheduled
}

func (f *scheduledV1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	client := f.clients[r.Header.Get(clientHeader)]
	if client != nil && r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v1/transactions/") {
		f.read(w, client, turn(r.Header.Get(turnHeader)))
		return
	}
	if client == nil || r.Method != http.MethodPost || r.URL.Path != "/v1/transactions" {
		f.keyedV1.ServeHTTP(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	if key := r.Header.Get("Idempotency-Key"); f.claim(key, string(body)) {
		client.arrived <- true
		w.Header().Set("Date", f.clock.Now().UTC().Format(http.TimeFormat))
		switch <-client.step {
		case lost:
			client.key, client.reads = key, 0
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, refusalWith(v1.CodeOutcomeUnknown, fmt.Sprintf(lostPayment, "unknown")))
			return
		case unavailable:
			f.mu.Lock()
			f.recovered(key)
			f.mu.Unlock()
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, refusal(v1.CodeAcquirerUnavailable))
			return
		case served:
			f.free(key)
		}
	}
	f.keyedV1.ServeHTTP(w, r)
}

// read returns a payment of unknown outcome. Recovery fails it before the fourth read, the client's
// last one.
func (f *scheduledV1) read(w http.ResponseWriter, client *scheduled, next turn) {
	w.Header().Set("Date", f.clock.Now().UTC().Format(http.TimeFormat))
	if client.reads++; next != unavailable && client.reads < 4 {
		_, _ = fmt.Fprintf(w, lostPayment, "unknown")
		return
	}
	f.mu.Lock()
	f.recovered(client.key)
	f.mu.Unlock()
	_, _ = fmt.Fprintf(w, lostPayment, "failed")
}

func (f *scheduledV1) claim(key, body string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.uses[key] != nil {
		return false
	}
	f.uses[key] = &keyUse{body: body, made: f.clock.Now(), running: true}
	return true
}

func (f *scheduledV1) free(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.uses, key)
}

// TestDeduplication_freedKeys: equal requests of different bodies, with and without a window, run
// concurrently at several proxies. For some of them the acquirer is unavailable, or recovery finds
// that it never had their payments, and v1 frees their keys. Some run where a period ends. In any
// order of the calls, each request that is Done has one payment, and a later duplicate makes none.
func TestDeduplication_freedKeys(t *testing.T) {
	t.Parallel()
	for i := range 5 { // each run checks 100 orders, too few to find the rare faults
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, freedKeys(t))
		})
	}
}

// freedKeys returns the check of one order.
func freedKeys(t *testing.T) func(*rapid.T) {
	t.Helper()
	return func(rt *rapid.T) {
		at := rapid.SampledFrom([]time.Time{noon, midnight.Add(-2 * time.Second)}).Draw(rt, "at")
		b := setupWindow(t, at)
		f := &scheduledV1{b.v1, map[string]*scheduled{}}
		server := goldentest.Serve(t, f)
		defer server.Close()
		transport := &byCommand{server.Client().Transport}
		var proxies []*executor.Executor
		for range rapid.IntRange(1, 3).Draw(rt, "proxies") {
			x, err := executor.New(executor.Config{
				V1: v1client.Config{
					URL: server.URL, Transport: transport, Backoff: time.Microsecond, Clock: b.clock,
				},
				DeduplicationSecret: goldentest.Secret(), FollowPause: time.Microsecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			x.Execute(t.Context(), key, sale(0, func(c *command.Authorize) { c.Body.Amount++ }))
			// x now has v1's time and the merchant of the API key, so its next request makes no other calls.
			proxies = append(proxies, x)
		}
		b.v1.effects, b.v1.keys = nil, nil
		var live []*scheduled
		step := func(i int, next turn) {
			live[i].step <- next
			if !<-live[i].arrived {
				live = append(live[:i], live[i+1:]...)
			}
		}
		defer func() { // ends the requests of a schedule that rapid stops early
			for len(live) > 0 {
				step(0, served)
			}
		}()
		n := rapid.IntRange(2, 5).Draw(rt, "requests")
		results, windows := make([]command.Result, n), make([]int, n)
		for i := range n {
			windows[i] = rapid.SampledFrom([]int{0, 0, 120}).Draw(rt, "window")
			c := sale(windows[i], func(c *command.Authorize) { c.Body.Description = new(strconv.Itoa(i)) })
			s := &scheduled{
				RoundTripper: transport.RoundTripper, name: strconv.Itoa(i), arrived: make(chan bool), step: make(chan turn),
			}
			f.clients[s.name] = s
			x := proxies[rapid.IntRange(0, len(proxies)-1).Draw(rt, "proxy")]
			go func() {
				results[i] = x.Execute(withTransport(t.Context(), s), key, c)
				s.arrived <- false
			}()
			if <-s.arrived {
				live = append(live, s)
			}
		}
		for len(live) > 0 {
			b.clock.Advance(time.Duration(rapid.IntRange(0, 500).Draw(rt, "pause in ms")) * time.Millisecond)
			i := rapid.IntRange(0, len(live)-1).Draw(rt, "next")
			step(i, rapid.SampledFrom([]turn{served, unavailable, lost}).Draw(rt, "turn"))
		}
		checkFreedKeys(rt, b, results, windows)
	}
}

func checkFreedKeys(rt *rapid.T, b windowBundle, results []command.Result, windows []int) {
	done, withoutWindow := 0, 0
	for i, r := range results {
		if r.Outcome == command.Done {
			done++
			if windows[i] == 0 {
				withoutWindow++
			}
		}
	}
	paid := b.v1.paid()
	if done != paid || paid > withoutWindow+1 {
		rt.Fatalf("got %d payments, %d done, %d of them without a window", paid, done, withoutWindow)
	}
	if paid == 0 {
		return
	}
	b.clock.Advance(2 * time.Second)
	for i, x := range b.proxies {
		r := x.Execute(rt.Context(), key, sale(120))
		if r.Outcome != command.Repeated || b.v1.paid() != paid {
			rt.Fatalf("later duplicate %d: got %s and %d payments after %d, keys %v", i, r.Outcome, b.v1.paid(), paid, b.v1.keys)
		}
	}
}

// transportKey is the context key of a request's own transport.
type transportKey struct{}

func withTransport(ctx context.Context, s *scheduled) context.Context {
	return context.WithValue(ctx, transportKey{}, s)
}

// byCommand sends each call with the transport of its command.
type byCommand struct{ http.RoundTripper }

func (b *byCommand) RoundTrip(r *http.Request) (*http.Response, error) {
	if s, ok := r.Context().Value(transportKey{}).(*scheduled); ok {
		return s.RoundTrip(r)
	}
	return b.RoundTripper.RoundTrip(r)
}

// paused is a transport that closes posted at the first response to a payment. It delays each
// lookup of a key until goOn is closed.
type paused struct {
	http.RoundTripper

	posted, goOn chan struct{}
	once         sync.Once
}

func (p *paused) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v1/idempotency_keys/") {
		<-p.goOn
	}
	response, err := p.RoundTripper.RoundTrip(r)
	if r.Method == http.MethodPost && r.URL.Path == "/v1/transactions" {
		p.once.Do(func() { close(p.posted) })
	}
	return response, err
}

// TestDeduplication_gapBehindAFreedKey: B claims the first key. V1 refuses that key to A, an equal
// request with another body at another proxy. The acquirer is unavailable for B, v1 frees the key,
// and B finds the next key free. Then A reads the first key. Its retry within the window is a
// duplicate.
func TestDeduplication_gapBehindAFreedKey(t *testing.T) {
	t.Parallel()
	other := func(c *command.Authorize) { c.Body.Description = new("the same order, another text") }
	for _, tt := range []struct{ a, b, retry int }{{120, 120, 120}, {0, 120, 120}, {0, 0, 120}} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			t.Parallel()
			b := setupWindow(t, noon)
			p := &paused{
				RoundTripper: b.server.Client().Transport, posted: make(chan struct{}), goOn: make(chan struct{}),
			}
			slow, err := executor.New(executor.Config{
				V1:                  v1client.Config{URL: b.server.URL, Transport: p, Backoff: time.Microsecond, Clock: b.clock},
				DeduplicationSecret: goldentest.Secret(), FollowPause: time.Microsecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			resultA := make(chan command.Result, 1)
			b.v1.claimed, b.v1.meanwhile = v1.CodeAcquirerUnavailable, func() {
				go func() { resultA <- slow.Execute(t.Context(), key, sale(tt.a, other)) }()
				<-p.posted
			}
			b.proxies[0].Execute(t.Context(), key, sale(tt.b))
			close(p.goOn)
			a := <-resultA
			if a.Outcome != command.Done || b.v1.paid() != 1 {
				t.Fatalf("A: got %s and %d payments", a.Outcome, b.v1.paid())
			}
			b.clock.Advance(2 * time.Second)
			b.proxies[1].Execute(t.Context(), key, sale(tt.retry, other))
			if b.v1.paid() != 1 {
				t.Errorf("A was charged %d times: its retry two seconds later was not a duplicate", b.v1.paid())
			}
		})
	}
}
