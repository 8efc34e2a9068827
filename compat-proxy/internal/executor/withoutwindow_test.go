package executor_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
)

// A request with a window of 0 is never a duplicate, but later requests are duplicates of it.
func TestWithoutWindow(t *testing.T) {
	t.Parallel()
	type step struct {
		after  time.Duration
		window int
		want   command.Outcome
	}
	plain := step{0, 0, command.Done}
	for name, tt := range map[string]struct {
		at    time.Time
		steps []step
	}{
		"one, then one that looks back": {noon, []step{{0, 0, command.Done}, {119 * time.Second, 120, command.Repeated}}},
		"one, and the window is over":   {noon, []step{{0, 0, command.Done}, {120 * time.Second, 120, command.Done}}},
		"after one with a window":       {noon, []step{{0, 120, command.Done}, {0, 0, command.Done}}},
		"several":                       {noon, []step{plain, plain, plain, {0, 120, command.Repeated}}},
		"in between": {noon, []step{
			{0, 120, command.Done},
			{100 * time.Second, 0, command.Done},
			{100 * time.Second, 120, command.Repeated},
		}},
		"across a period's beginning": {
			midnight.Add(-time.Second),
			[]step{{0, 0, command.Done}, {2 * time.Second, 120, command.Repeated}},
		},
		"several across a period's beginning": {
			midnight.Add(-time.Second),
			[]step{plain, plain, {2 * time.Second, 0, command.Done}, {0, 120, command.Repeated}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupWindow(t, tt.at)
			paid := 0
			for i, s := range tt.steps {
				b.clock.Advance(s.after)
				if got := b.execute(t.Context(), i%2, sale(s.window)); got != s.want {
					t.Errorf("request %d: got %s, want %s", i, got, s.want)
				}
				if s.want == command.Done {
					paid++
				}
			}
			if got := b.v1.paid(); got != paid {
				t.Errorf("payments: got %d, want %d", got, paid)
			}
		})
	}
}

// TestWithoutWindow_brokenConnection: each request charges once. No request treats the effect of
// another one under the same key as its own.
func TestWithoutWindow_brokenConnection(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(*keyedV1){
		"before v1 has it": func(f *keyedV1) { f.lostRequests = 1 },
		"after v1 acted":   func(f *keyedV1) { f.lostResponses = 1 },
		"both":             func(f *keyedV1) { f.lostRequests, f.lostResponses = 1, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupWindow(t, noon)
			for i := range 2 { // the second proxy has no memory of the first
				cut(b.v1)
				if got, want := b.execute(t.Context(), i, sale(0)), command.Done; got != want {
					t.Errorf("request %d: got %s, want %s", i, got, want)
				}
				if got, want := b.v1.paid(), i+1; got != want {
					t.Errorf("payments after request %d: got %d, want %d", i, got, want)
				}
			}
			if got, want := b.execute(t.Context(), 0, sale(120)), command.Repeated; got != want {
				t.Errorf("one that looks back: got %s, want %s", got, want)
			}
		})
	}
}

func TestWithoutWindow_concurrent(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	outcomes := make(chan command.Outcome, 64)
	var all sync.WaitGroup
	for i := range cap(outcomes) {
		all.Go(func() { outcomes <- b.execute(t.Context(), i%2, sale(0)) })
	}
	all.Wait()
	close(outcomes)
	for o := range outcomes {
		if o != command.Done {
			t.Errorf("got %s, want done", o)
		}
	}
	if got, want := b.v1.paid(), 64; got != want {
		t.Errorf("payments: got %d, want %d", got, want)
	}
	if got, want := b.execute(t.Context(), 0, sale(120)), command.Repeated; got != want {
		t.Errorf("one that looks back: got %s, want %s", got, want)
	}
}

// TestWithoutWindow_whileAnotherRuns: a request of unknown outcome stops equal requests with a
// window, but not ones without.
func TestWithoutWindow_whileAnotherRuns(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	for i, want := range []int{1, 2} {
		if got, want := b.execute(t.Context(), i, sale(0)), command.Done; got != want {
			t.Fatalf("request %d: got %s, want %s", i, got, want)
		}
		for _, u := range b.v1.uses {
			u.running = true
		}
		if got := b.v1.paid(); got != want {
			t.Errorf("payments: got %d, want %d", got, want)
		}
	}
	if got, want := b.execute(t.Context(), 0, sale(120)), command.Uncertain; got != want {
		t.Errorf("one that looks back: got %s, want %s", got, want)
	}
}

// TestWithoutWindow_afterARefusal: the next request takes the key of a refused one. Otherwise no
// walk would find the requests after it.
func TestWithoutWindow_afterARefusal(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	for i, want := range []command.Outcome{command.Refused, command.Done, command.Refused, command.Done} {
		b.v1.refuse = 1 - i%2
		if got := b.execute(t.Context(), 0, sale(0)); got != want {
			t.Errorf("request %d: got %s, want %s", i, got, want)
		}
	}
	keys := b.v1.keys
	b.clock.Advance(time.Hour)
	if got, want := b.execute(t.Context(), 1, sale(120)), command.Done; got != want {
		t.Errorf("an hour later: got %s, want %s", got, want)
	}
	last := b.v1.keys[len(b.v1.keys)-1]
	if len(keys) != 2 || slices.Contains(keys, last) || last[:len(last)-1] != keys[0][:len(keys[0])-1] ||
		last[len(last)-1] != '2' {
		t.Errorf("keys: got %v, want the chain's first three", b.v1.keys)
	}
}

// A long chain costs a proxy that made it no calls, and a new proxy a few.
func TestWithoutWindow_longChain(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	for range 200 {
		if got, want := b.execute(t.Context(), 0, sale(0)), command.Done; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
	if len(b.v1.keys) != 200 || b.v1.looks != 0 {
		t.Errorf("got %d requests and %d questions, want 200 and none", len(b.v1.keys), b.v1.looks)
	}
	if got, want := b.execute(t.Context(), 1, sale(0)), command.Done; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	if got, limit := b.v1.looks, 20; got > limit || b.v1.paid() != 201 {
		t.Errorf("questions: got %d, want at most %d", got, limit)
	}
	if got, want := b.execute(t.Context(), 0, sale(120)), command.Repeated; got != want {
		t.Errorf("one that looks back: got %s, want %s", got, want)
	}
}

// A caller whose key may not read keys finds no end of a long chain, and pays nevertheless.
func TestWithoutWindow_withoutTheScopeToReadKeys(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.v1.blind = true
	for i := range 31 {
		if got, want := b.execute(t.Context(), i/30, sale(0)), command.Done; got != want {
			t.Fatalf("request %d: got %s, want %s", i, got, want)
		}
	}
	if got, want := b.v1.paid(), 31; got != want {
		t.Errorf("payments: got %d, want %d", got, want)
	}
	if got, limit := len(b.v1.keys), 48; got > limit { // two for each of eight keys that are in use
		t.Errorf("requests: got %d, want at most %d", got, limit)
	}
}

// TestWithoutWindow_manyChains: there are more chains than the proxy remembers, so it finds their
// ends again at v1.
func TestWithoutWindow_manyChains(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	of := func(n int64) command.Authorize {
		return sale(0, func(c *command.Authorize) { c.Body.Amount = n })
	}
	for range 2 {
		for n := range int64(1100) {
			if got, want := b.execute(t.Context(), 0, of(n)), command.Done; got != want {
				t.Fatalf("chain %d: got %s, want %s", n, got, want)
			}
		}
	}
	if got, want := b.v1.paid(), 2200; got != want {
		t.Errorf("payments: got %d, want %d", got, want)
	}
}
