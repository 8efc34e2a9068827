package load_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/load"
	"github.com/causeway-pay/causeway/shared/clock"
)

func TestPercentile(t *testing.T) {
	t.Parallel()
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, c := range []struct {
		of   []time.Duration
		p    float64
		want time.Duration
	}{
		{nil, 50, 0},
		{[]time.Duration{7}, 0, 7},
		{[]time.Duration{7}, 99, 7},
		{[]time.Duration{1, 2}, 50, 1},
		{[]time.Duration{1, 2}, 51, 2},
		{[]time.Duration{1, 2, 3}, 50, 2},
		{hundred, 50, 50},
		{hundred, 99, 99},
		{hundred, 99.5, 100},
		{hundred, 100, 100},
	} {
		if got := load.Percentile(c.of, c.p); got != c.want {
			t.Errorf("p%v of %d values: got %d, want %d", c.p, len(c.of), got, c.want)
		}
	}
}

func TestRequestSlots(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, header, body string
		width              int
		length             string // of the body, when there is one
		ok                 bool
	}{
		"none":          {"/a", "K: v", "", 0, "", true},
		"in the path":   {"/a/{slot}", "K: v", "", 4, "", true},
		"in a header":   {"/a", "K: {slot}", "abc", 4, "3", true},
		"in the body":   {"/a", "K: v", "<{slot}>", 4, "6", true},
		"everywhere":    {"/{slot}", "K: {slot}", "{slot}{slot}", 4, "8", true},
		"width missing": {"/{slot}", "K: v", "", 0, "", false},
		"width of none": {"/a", "K: v", "", 4, "", false},
	} {
		r, err := load.NewRequest("GET", "host:1", c.path, []string{c.header}, c.body, c.width)
		if got, want := err == nil, c.ok; got != want {
			t.Errorf("%s: got %v, want ok %t", name, err, want)
			continue
		}
		if !c.ok {
			continue
		}
		fill := func(slot []byte, n uint64) { copy(slot, fmt.Sprintf("%04d", n)) }
		length := ""
		if c.length != "" {
			length = "Content-Length: " + c.length + "\r\n"
		}
		want := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: host:1\r\n%s\r\n%s\r\n%s", c.path, c.header, length, c.body)
		want = strings.ReplaceAll(want, "{slot}", "0042")
		if got := string(r.Bytes(fill, 42)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// TestRequestFinally: the function sees the filled slots of every request.
func TestRequestFinally(t *testing.T) {
	t.Parallel()
	r, err := load.NewRequest("POST", "host:1", "/", []string{"Sum: 0"}, "{slot}", 1)
	if err != nil {
		t.Fatal(err)
	}
	r.Finally(func(request []byte) {
		request[bytes.Index(request, []byte("Sum: "))+len("Sum: ")] = request[len(request)-1]
	})
	for n := range uint64(3) {
		got := string(r.Bytes(func(slot []byte, n uint64) { slot[0] = byte('a' + n) }, n))
		if want := fmt.Sprintf("Sum: %c", 'a'+n); !strings.Contains(got, want) {
			t.Errorf("got %q, want %s in it", got, want)
		}
	}
}

// counter responds 201 to every key once, and refuses the key the second time.
type counter struct {
	mu   sync.Mutex
	keys map[string]bool
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || string(body) != "body" || c.keys[r.Header.Get("Key")] {
		w.WriteHeader(http.StatusConflict)
		return
	}
	c.keys[r.Header.Get("Key")] = true
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, "made") // the client reports a missing body
}

func plan(t *testing.T, h http.Handler) load.Plan {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	addr := s.Listener.Addr().String()
	r, err := load.NewRequest("POST", addr, "/", []string{"Key: {slot}"}, "body", 8)
	if err != nil {
		t.Fatal(err)
	}
	return load.Plan{
		Addr: addr, Conns: 4, Request: r, Fill: func(slot []byte, n uint64) { copy(slot, fmt.Sprintf("%08d", n)) },
		Want: load.Want{Status: http.StatusCreated, Contains: []byte("ma")},
		For:  500 * time.Millisecond, Clock: clock.System(),
	}
}

// mustRun runs a plan. It repeats the plan for four times as long while the responses are not
// enough, as on a slow machine.
func mustRun(t *testing.T, plan func() load.Plan, enough func(*load.Result) bool) (load.Plan, *load.Result) {
	t.Helper()
	for longer := time.Duration(1); ; longer *= 4 {
		p := plan()
		p.For *= longer
		r, err := load.Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if enough(r) || longer > 200 {
			return p, r
		}
	}
}

func TestRunSendsEveryNumberOnce(t *testing.T) {
	t.Parallel()
	var h *counter
	p, r := mustRun(t, func() load.Plan {
		h = &counter{keys: map[string]bool{}}
		p := plan(t, h)
		p.Warmup = 10 * time.Millisecond
		return p
	}, func(r *load.Result) bool { return len(r.Latencies) > 0 })
	if got, most := len(r.Latencies), len(h.keys); got == 0 || got > most {
		t.Errorf("got %d counted responses of %d", got, most)
	}
	if got, want := r.Rate(), float64(len(r.Latencies))/p.For.Seconds(); got != want {
		t.Errorf("rate: got %v, want %v", got, want)
	}
	if p50, p99 := load.Percentile(r.Latencies, 50), load.Percentile(r.Latencies, 99); p50 <= 0 || p99 < p50 {
		t.Errorf("got p50 %v, p99 %v", p50, p99)
	}
}

func TestRunFailsOnAWrongResponse(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*load.Plan){
		"status":       func(p *load.Plan) { p.Want.Status = http.StatusOK },
		"replay":       func(p *load.Plan) { p.Want.Replayed = true },
		"body":         func(p *load.Plan) { p.Want.Contains = []byte("sold") },
		"repeated key": func(p *load.Plan) { p.Fill = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := plan(t, &counter{keys: map[string]bool{}})
			spoil(&p)
			if r, err := load.Run(t.Context(), p); err == nil {
				t.Errorf("got %d responses and no error", len(r.Latencies))
			}
		})
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p := plan(t, &counter{keys: map[string]bool{}})
	p.For = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	p.Fill = func(slot []byte, n uint64) {
		copy(slot, fmt.Sprintf("%08d", n))
		if n > 20 {
			cancel()
		}
	}
	if _, err := load.Run(ctx, p); err == nil {
		t.Error("got no error from a run that was stopped")
	}
}

func TestRunFailsWhenTheServerCloses(t *testing.T) {
	t.Parallel()
	p := plan(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "made") // the client reports a missing body
	}))
	if _, err := load.Run(t.Context(), p); err == nil {
		t.Error("got no error from connections that were closed")
	}
}
