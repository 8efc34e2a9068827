package executor_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestDeduplication_gap: a request takes a key of a chain and leaves it unused, while another one
// is charged under the next key. A later request with a window is a duplicate of the charged one.
func TestDeduplication_gap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		window  int    // of the first request
		claimed string // v1 claimed its key, and freed it with this error
		other   int    // the proxy of the other request
		at      time.Time
	}{
		{"refused, at one proxy", 0, "", 0, noon},
		{"refused, where a period ends", 0, "", 0, midnight.Add(-time.Second)},
		{"the acquirer was unavailable, at one proxy", 0, v1.CodeAcquirerUnavailable, 0, noon},
		{"the acquirer was unavailable, at two proxies", 0, v1.CodeAcquirerUnavailable, 1, noon},
		{"the acquirer was unavailable, with a window, at one proxy", 120, v1.CodeAcquirerUnavailable, 0, noon},
		{"the acquirer was unavailable, with a window, at two proxies", 120, v1.CodeAcquirerUnavailable, 1, noon},
		{"never processed, at two proxies", 0, v1.CodeNotProcessed, 1, noon},
		{"never processed, with a window, at two proxies", 120, v1.CodeNotProcessed, 1, noon},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setupWindow(t, tt.at)
			b.v1.claimed, b.v1.meanwhile = tt.claimed, func() {
				if got, want := b.execute(t.Context(), tt.other, sale(0)), command.Done; got != want {
					t.Errorf("the other request: got %s, want %s", got, want)
				}
			}
			if got := b.execute(t.Context(), 0, sale(tt.window)); got == command.Done {
				t.Errorf("the first request: got %s", got)
			}
			b.clock.Advance(2 * time.Second)
			for proxy := range 2 {
				if got, want := b.execute(t.Context(), proxy, sale(120)), command.Repeated; got != want {
					t.Errorf("its duplicate by proxy %d: got %s, want %s", proxy, got, want)
				}
			}
			for proxy, paid := range []int{2, 3} {
				if got, want := b.execute(t.Context(), proxy, sale(0)), command.Done; got != want || b.v1.paid() != paid {
					t.Errorf("a later one by proxy %d: got %s and %d payments, want %s and %d", proxy, got, b.v1.paid(), want, paid)
				}
			}
		})
	}
}

// TestDeduplication_gapThatStays: the reservation of the skipped key fails too. The next request
// without a window takes that key.
func TestDeduplication_gapThatStays(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.v1.meanwhile = func() {
		b.execute(t.Context(), 0, sale(0))
		b.v1.refuse = 1 // the next request is the first one, which is still running
	}
	for i, want := range []command.Outcome{command.Refused, command.Done} {
		if got := b.execute(t.Context(), 0, sale(0)); got != want {
			t.Errorf("request %d: got %s, want %s", i, got, want)
		}
	}
	if got, want := b.execute(t.Context(), 1, sale(120)), command.Repeated; got != want || b.v1.paid() != 2 {
		t.Errorf("the duplicate: got %s and %d payments, want %s and 2", got, b.v1.paid(), want)
	}
}

// busyV1 refuses reservations of keys before they reach v1.
type busyV1 struct {
	http.RoundTripper
	status int
	code   string
	left   atomic.Int64 // how many it refuses
}

func (x *busyV1) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/idempotency_keys" || x.left.Add(-1) < 0 {
		return x.RoundTripper.RoundTrip(r)
	}
	return &http.Response{
		StatusCode: x.status, Header: http.Header{}, Request: r, ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(strings.NewReader(refusal(x.code))),
	}, nil
}

// TestDeduplication_gapIsFilledByARetry: v1 is too busy for the reservation of the skipped key. The
// proxy repeats it, so a duplicate at another proxy finds the payment.
func TestDeduplication_gapIsFilledByARetry(t *testing.T) {
	t.Parallel()
	for code, status := range map[string]int{"overloaded": 503, "too_many_changes": 429, "rate_limited": 429} {
		b := setupWindow(t, noon)
		busy := &busyV1{RoundTripper: b.server.Client().Transport, status: status, code: code}
		first, err := executor.New(executor.Config{
			V1:                  v1client.Config{URL: b.server.URL, Transport: busy, Backoff: time.Microsecond, Clock: b.clock},
			DeduplicationSecret: goldentest.Secret(), FollowPause: time.Microsecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		b.proxies[0] = first
		b.v1.claimed, b.v1.meanwhile = v1.CodeAcquirerUnavailable, func() {
			if got := b.execute(t.Context(), 0, sale(0)); got != command.Done {
				t.Errorf("%s: the other request: got %s", code, got)
			}
			busy.left.Store(1)
		}
		b.execute(t.Context(), 0, sale(0))
		b.clock.Advance(2 * time.Second)
		if got, want := b.execute(t.Context(), 1, sale(120)), command.Repeated; got != want || b.v1.paid() != 1 {
			t.Errorf("%s: the duplicate: got %s and %d payments, want %s and 1", code, got, b.v1.paid(), want)
		}
	}
}

// TestDeduplication_noGap: a request that is alone in its chain leaves the key free. That costs one
// lookup if v1 had claimed the key.
func TestDeduplication_noGap(t *testing.T) {
	t.Parallel()
	for _, window := range []int{0, 120} {
		b := setupWindow(t, noon)
		b.v1.claimed, b.v1.meanwhile = v1.CodeAcquirerUnavailable, func() {}
		if got, want := b.execute(t.Context(), 0, sale(window)), command.Unavailable; got != want {
			t.Errorf("first: got %s, want %s", got, want)
		}
		if len(b.v1.keys) != 1 || len(b.v1.uses) != 0 || b.v1.looks != 1 {
			t.Errorf("got %d requests, %d keys and %d looks, want 1, 0 and 1", len(b.v1.keys), len(b.v1.uses), b.v1.looks)
		}
		if got, want := b.execute(t.Context(), 1, sale(window)), command.Done; got != want || b.v1.keys[0] != b.v1.keys[1] {
			t.Errorf("the retry: got %s under %v, want %s under the same key", got, b.v1.keys, want)
		}
	}
}

// TestDeduplication_skippedKeyIsNoPayment: a skipped key makes no request a duplicate, even if the
// API key may not read keys.
func TestDeduplication_skippedKeyIsNoPayment(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{noon, midnight.Add(-time.Second)} {
		skippedKeyIsNoPayment(t, at, false)
		skippedKeyIsNoPayment(t, at, true)
	}
}

func skippedKeyIsNoPayment(t *testing.T, at time.Time, blind bool) {
	t.Helper()
	b := setupWindow(t, at)
	b.v1.meanwhile = func() { b.execute(t.Context(), 0, sale(0)) }
	b.execute(t.Context(), 0, sale(0))
	for key, u := range b.v1.uses {
		if u.id != "" {
			delete(b.v1.uses, key)
		}
	}
	if got := len(b.v1.uses); got != 1 {
		t.Fatalf("keys: got %d, want the skipped one", got)
	}
	b.v1.blind = blind
	b.clock.Advance(2 * time.Second)
	for proxy, want := range []command.Outcome{command.Done, command.Repeated} {
		if got := b.execute(t.Context(), proxy, sale(120)); got != want {
			t.Errorf("at %s, blind %v, proxy %d: got %s, want %s", at, blind, proxy, got, want)
		}
	}
}

// TestDeduplication_beforeRefusals: stored refusals at a chain's end do not hide the payment before
// them.
func TestDeduplication_beforeRefusals(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]time.Time{
		"in one period": noon, "across a period's beginning": midnight.Add(-3 * time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupWindow(t, at)
			for i, step := range []struct {
				after  time.Duration
				status int
				want   command.Outcome
			}{
				{0, http.StatusCreated, command.Done},
				{time.Hour, http.StatusCreated, command.Done},
				{30 * time.Minute, http.StatusBadRequest, command.Refused},
				{30 * time.Minute, http.StatusBadRequest, command.Refused},
				{30 * time.Minute, http.StatusBadRequest, command.Refused},
			} {
				b.clock.Advance(step.after)
				b.v1.response = step.status
				if got := b.execute(t.Context(), i%2, sale(120)); got != step.want {
					t.Fatalf("request %d: got %s, want %s", i, got, step.want)
				}
			}
			b.clock.Advance(time.Hour)
			b.v1.response = http.StatusCreated
			for _, last := range []struct {
				window int
				want   command.Outcome
			}{{10800, command.Repeated}, {8000, command.Done}} {
				if got := b.execute(t.Context(), 1, sale(last.window)); got != last.want {
					t.Errorf("with a window of %d s: got %s, want %s", last.window, got, last.want)
				}
			}
		})
	}
}

// TestDeduplication_beforeARefusalRuns: the payment before a refusal has no outcome yet, so an
// equal request with a window is not executed.
func TestDeduplication_beforeARefusalRuns(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	for _, status := range []int{http.StatusBadRequest, http.StatusCreated, http.StatusBadRequest} {
		b.v1.response = status
		b.execute(t.Context(), 0, sale(0))
	}
	b.v1.response = http.StatusCreated
	for _, u := range b.v1.uses {
		u.running = u.status == http.StatusCreated
	}
	if got, want := b.execute(t.Context(), 1, sale(120)), command.Uncertain; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDeduplication_manyRefusals: a request reads only the refusals within its window.
func TestDeduplication_manyRefusals(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.v1.response = http.StatusBadRequest
	for range 200 {
		b.execute(t.Context(), 0, sale(0))
		b.clock.Advance(30 * time.Second)
	}
	before := b.v1.looks
	if got, want := b.execute(t.Context(), 1, sale(120)), command.Refused; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, limit := b.v1.looks-before, 25; got > limit {
		t.Errorf("looks: got %d, want at most %d", got, limit)
	}
}
