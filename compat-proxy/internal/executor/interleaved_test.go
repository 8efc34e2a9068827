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
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// stepped is a transport whose calls each wait for the schedule.
type stepped struct {
	http.RoundTripper

	arrived chan bool // true before each call, false when the command has ended
	step    chan struct{}
}

func (s *stepped) RoundTrip(r *http.Request) (*http.Response, error) {
	s.arrived <- true
	<-s.step
	return s.RoundTripper.RoundTrip(r)
}

// interleaved runs a command at each proxy concurrently. The function next chooses which one sends
// its next call. All calls of the others wait.
func interleaved(
	tb testing.TB, b windowBundle, c command.Command, proxies [][2]secret.String, skew []time.Duration, next func(int) int,
) {
	tb.Helper()
	live := make([]*stepped, 0, len(proxies))
	for i, secrets := range proxies {
		s := &stepped{b.server.Client().Transport, make(chan bool), make(chan struct{})}
		x, err := executor.New(executor.Config{
			V1: v1client.Config{
				URL: b.server.URL, Transport: s, Backoff: time.Microsecond,
				Clock: clock.NewFake(b.clock.Now().Add(skew[i])),
			},
			DeduplicationSecret: secrets[0], DeduplicationSecretOther: secrets[1],
			FollowPause: time.Microsecond,
		})
		if err != nil {
			tb.Fatal(err)
		}
		go func() {
			x.Execute(tb.Context(), key, c)
			s.arrived <- false
		}()
		if <-s.arrived {
			live = append(live, s)
		}
	}
	for len(live) > 0 {
		i := next(len(live))
		live[i].step <- struct{}{}
		if !<-live[i].arrived {
			live = append(live[:i], live[i+1:]...)
		}
	}
}

// TestInterleaved: equal requests run concurrently at several proxies, where a period begins, and
// while the deduplication secret is replaced. In any order of their calls, v1 charges once.
func TestInterleaved(t *testing.T) {
	t.Parallel()
	var none secret.String
	before, after := goldentest.Secret(), otherSecret
	rotation := map[string][][2]secret.String{
		"one secret":             {{before, none}},
		"the new one is added":   {{before, none}, {before, after}},
		"the two are swapped":    {{before, after}, {after, before}},
		"the old one is removed": {{after, before}, {after, none}},
	}
	for stage, secrets := range rotation {
		for name, c := range map[string]command.Command{
			"in a window": sale(120), "in a long window": sale(28800), "by name": command.Named{Command: nakedSale(), Name: "n"},
		} {
			t.Run(stage+", "+name, func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(rt *rapid.T) {
					early := time.Duration(rapid.IntRange(0, 20).Draw(rt, "seconds before midnight")) * time.Second
					b := setupWindow(t, midnight.Add(-early))
					var proxies [][2]secret.String
					var skew []time.Duration
					for range rapid.IntRange(2, 3).Draw(rt, "proxies") {
						proxies = append(proxies, rapid.SampledFrom(secrets).Draw(rt, "secrets"))
						skew = append(skew, time.Duration(rapid.IntRange(-86400, 86400).Draw(rt, "skew"))*time.Second)
					}
					interleaved(t, b, c, proxies, skew, func(n int) int {
						b.clock.Advance(time.Duration(rapid.IntRange(0, 4000).Draw(rt, "pause in ms")) * time.Millisecond)
						return rapid.IntRange(0, n-1).Draw(rt, "next")
					})
					if got := b.v1.paid(); got != 1 {
						rt.Fatalf("got %d payments, want 1", got)
					}
				})
			})
		}
	}
}

// TestNamed_skippedStep: one proxy has the new secret as its current one before the others have it
// at all, against the procedure. A retry at another proxy is refused, not charged again.
func TestNamed_skippedStep(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	c := command.Named{Command: nakedSale(), Name: "n"}
	b.proxy(t, otherSecret, goldentest.Secret()).Execute(t.Context(), key, c)
	r := b.proxies[0].Execute(t.Context(), key, c)
	if r.Outcome != command.Refused || r.Code != v1.CodeKeyReused || b.v1.paid() != 1 {
		t.Errorf("got %s %s and %d payments, want it refused and 1", r.Outcome, r.Code, b.v1.paid())
	}
}
