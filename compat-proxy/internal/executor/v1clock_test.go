package executor_test

import (
	"net/http"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/clock"
)

// skewed returns a further proxy in front of the same v1, with a wrong clock.
func (b windowBundle) skewed(tb testing.TB, by time.Duration) (*executor.Executor, *clock.Fake) {
	tb.Helper()
	own := clock.NewFake(b.clock.Now().Add(by))
	x, err := executor.New(executor.Config{
		V1: v1client.Config{
			URL: b.server.URL, Transport: b.server.Client().Transport, Backoff: time.Microsecond,
			Clock: own,
		},
		DeduplicationSecret: goldentest.Secret(), FollowPause: time.Microsecond,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return x, own
}

// TestDeduplication_clocksDiffer: the clocks of the proxies do not decide whether a request is a
// duplicate.
func TestDeduplication_clocksDiffer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		at            time.Time
		first, second time.Duration
	}{
		{"the second proxy is 3 minutes ahead", noon, 0, 3 * time.Minute},
		{"both proxies are 3 minutes ahead of v1", noon, 3 * time.Minute, 3 * time.Minute},
		{"the second proxy is a day ahead", noon, 0, 24 * time.Hour},
		{"the second proxy is a day behind", noon, 0, -24 * time.Hour},
		{"300 ms of skew where a period begins", midnight, 200 * time.Millisecond, -100 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setupWindow(t, tt.at)
			one, _ := b.skewed(t, tt.first)
			two, _ := b.skewed(t, tt.second)
			if got, want := one.Execute(t.Context(), key, sale(120)).Outcome, command.Done; got != want {
				t.Errorf("first: got %s, want %s", got, want)
			}
			if got, want := two.Execute(t.Context(), key, sale(120)).Outcome, command.Repeated; got != want || b.v1.paid() != 1 {
				t.Errorf("second: got %s and %d payments, want %s and 1", got, b.v1.paid(), want)
			}
		})
	}
}

// TestDeduplication_clockJumps: a proxy's clock jumps between two requests.
func TestDeduplication_clockJumps(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{-10 * time.Hour, -time.Second, 2 * time.Minute, 10 * time.Hour} {
		b := setupWindow(t, noon)
		x, own := b.skewed(t, 0)
		x.Execute(t.Context(), key, sale(100))
		own.Advance(by)
		if got, want := x.Execute(t.Context(), key, sale(100)).Outcome, command.Repeated; got != want || b.v1.paid() != 1 {
			t.Errorf("by %s: got %s and %d payments, want %s and 1", by, got, b.v1.paid(), want)
		}
	}
}

// TestDeduplication_property: equal requests come at any times to proxies whose clocks are up to a
// day off, and v1 refuses some of them. V1 charges a request if and only if none was charged within
// its window before it. The window may last a second longer, because a Date has whole seconds.
func TestDeduplication_property(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		before := rapid.IntRange(0, 40_000_000).Draw(rt, "ms before midnight")
		b := setupWindow(t, midnight.Add(-time.Duration(before)*time.Millisecond))
		clocks := []*clock.Fake{b.clock}
		for i := range b.proxies {
			by := time.Duration(rapid.IntRange(-86_400_000, 86_400_000).Draw(rt, "skew in ms")) * time.Millisecond
			x, own := b.skewed(t, by)
			b.proxies[i], clocks = x, append(clocks, own)
		}
		var last time.Time
		for range rapid.IntRange(1, 30).Draw(rt, "requests") {
			pauses := rapid.SampledFrom([]int{0, 300, 30_000, 118_999, 119_999, 120_000, 121_000, 900_000, 7_200_000})
			pause := pauses.Draw(rt, "pause in ms")
			for _, c := range clocks {
				c.Advance(time.Duration(pause) * time.Millisecond)
			}
			window := time.Duration(rapid.SampledFrom([]int{0, 1, 120, 3600, 28800}).Draw(rt, "window")) * time.Second
			charged := command.Done
			b.v1.response = http.StatusCreated
			if rapid.IntRange(0, 2).Draw(rt, "refused") == 0 {
				charged, b.v1.response = command.Refused, http.StatusBadRequest
			}
			got := b.execute(t.Context(), rapid.IntRange(0, 1).Draw(rt, "proxy"), sale(int(window/time.Second)))
			now := b.clock.Now()
			within := !last.IsZero() && now.Sub(last) < window
			beyond := last.IsZero() || window == 0 || now.Sub(last) >= window+time.Second
			switch {
			case within && got != command.Repeated, beyond && got != charged:
				rt.Fatalf("%s after the last with a window of %s: got %s", now.Sub(last), window, got)
			case got == command.Done:
				last = now
			}
		}
	})
}

// TestNamed_clocksDiffer: v1's time decides how long a refused name may be tried again. After more
// than an hour, v1 could keep a payment under a later key longer than the name's first key. A retry
// would then be charged again.
func TestNamed_clocksDiffer(t *testing.T) {
	t.Parallel()
	for _, skew := range []time.Duration{-24 * time.Hour, 0, 24 * time.Hour} {
		for after, want := range map[time.Duration]command.Outcome{
			59 * time.Minute: command.Done, 61 * time.Minute: command.Refused,
		} {
			b := setupWindow(t, noon)
			x, own := b.skewed(t, skew)
			b.v1.response = http.StatusBadRequest
			if got := x.Execute(t.Context(), key, named(100)).Outcome; got != command.Refused {
				t.Fatalf("first: got %s, want it refused", got)
			}
			b.v1.response = http.StatusCreated
			b.clock.Advance(after)
			own.Advance(after)
			if got := x.Execute(t.Context(), key, named(100)); got.Outcome != want {
				t.Errorf("a proxy off by %s, %s later: got %s %s, want %s", skew, after, got.Outcome, got.Code, want)
			}
		}
	}
}

// TestDeduplication_withoutADate: without v1's time a request with a window is not executed.
func TestDeduplication_withoutADate(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	x, err := executor.New(executor.Config{
		V1: v1client.Config{
			URL: b.server.URL, Transport: undated{b.server.Client().Transport},
			Backoff: time.Microsecond, Clock: b.clock,
		},
		DeduplicationSecret: goldentest.Secret(), FollowPause: time.Microsecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := x.Execute(t.Context(), key, sale(120)).Outcome, command.Unavailable; got != want || b.v1.paid() != 0 {
		t.Errorf("got %s and %d payments, want %s and none", got, b.v1.paid(), want)
	}
	if got, want := x.Execute(t.Context(), key, nakedSale()).Outcome, command.Done; got != want {
		t.Errorf("a request without Once: got %s, want %s", got, want)
	}
}

// undated is a gateway that removes v1's Date.
type undated struct{ http.RoundTripper }

func (u undated) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := u.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Header.Del("Date")
	}
	return response, err
}

// TestDeduplication_serversDiffer: two servers of v1 have clocks that differ where a period begins.
// The second request reaches the one that is behind.
func TestDeduplication_serversDiffer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		blind  bool
		window int
		behind time.Duration
	}{{false, 0, 2 * time.Second}, {false, 120, 2 * time.Second}, {true, 120, 2 * time.Second}, {false, 120, 0}} {
		b := setupWindow(t, midnight.Add(time.Second))
		b.v1.blind = tt.blind
		b.v1.response = http.StatusBadRequest
		if got, want := b.execute(t.Context(), 0, sale(120)), command.Refused; got != want {
			t.Fatalf("the request that closes the earlier period: got %s, want %s", got, want)
		}
		b.v1.response = http.StatusCreated
		b.clock.Advance(-tt.behind)
		if got, want := b.execute(t.Context(), 1, sale(tt.window)), command.Done; got != want {
			t.Errorf("%+v: the second request: got %s, want %s", tt, got, want)
		}
		b.clock.Advance(time.Minute)
		if got, want := b.execute(t.Context(), 0, sale(120)), command.Repeated; got != want {
			t.Errorf("%+v: its duplicate: got %s, want %s", tt, got, want)
		}
	}
}

// TestDeduplication_laterPeriod: a request without a window took a key of the period that is about
// to begin for the server that gets its duplicate.
func TestDeduplication_laterPeriod(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, midnight)
	b.execute(t.Context(), 0, sale(0))
	b.clock.Advance(-2 * time.Second)
	if got, want := b.execute(t.Context(), 1, sale(120)), command.Repeated; got != want || b.v1.paid() != 1 {
		t.Errorf("got %s and %d payments, want %s and 1", got, b.v1.paid(), want)
	}
}

// TestDeduplication_withoutTheScopeWhereASpanBegins: without the right to read keys, an equal
// request of the previous period counts as recent.
func TestDeduplication_withoutTheScopeWhereASpanBegins(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, midnight.Add(-time.Second))
	b.v1.blind = true
	b.execute(t.Context(), 0, sale(120))
	b.clock.Advance(2 * time.Second)
	if got, want := b.execute(t.Context(), 1, sale(120)), command.Repeated; got != want || b.v1.paid() != 1 {
		t.Errorf("got %s and %d payments, want %s and 1", got, b.v1.paid(), want)
	}
}
