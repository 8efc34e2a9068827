package load_test

import (
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/load"
)

func TestOpenLoopKeepsItsRate(t *testing.T) {
	t.Parallel()
	h := &counter{keys: map[string]bool{}}
	p := plan(t, h)
	p.Rate, p.Warmup, p.For = 1000, 20*time.Millisecond, 100*time.Millisecond
	r, err := load.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(r.Latencies), 100; got != want {
		t.Errorf("counted: got %d, want %d", got, want)
	}
	if got, want := r.Responses, 120; got != want || len(h.keys) != want {
		t.Errorf("responses: got %d (%d keys), want %d", got, len(h.keys), want)
	}
	if got, want := r.Rate(), 1000.0; got != want {
		t.Errorf("rate: got %v, want %v", got, want)
	}
}

// TestOpenLoopCountsTheWaitForAConnection: a server that pauses delays every request that is due
// meanwhile, not only the request that it holds.
func TestOpenLoopCountsTheWaitForAConnection(t *testing.T) {
	t.Parallel()
	const still = 100 * time.Millisecond
	var once sync.Once
	p := plan(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		once.Do(func() { <-time.After(still) })
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "made") // the client reports a missing body
	}))
	p.Conns, p.Rate, p.For = 1, 1000, 120*time.Millisecond
	r, err := load.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	late := 0
	for _, d := range r.Latencies {
		if d >= still/10 {
			late++
		}
	}
	if want := 90; late < want { // a request due in the first 90 ms has no response before 100 ms
		t.Errorf("%d of %d requests waited, want at least %d", late, len(r.Latencies), want)
	}
}

func TestOpenLoopFailsOnAWrongResponse(t *testing.T) {
	t.Parallel()
	p := plan(t, &counter{keys: map[string]bool{}})
	p.Rate, p.Want.Status = 1000, http.StatusOK
	if r, err := load.Run(t.Context(), p); err == nil {
		t.Errorf("got %d responses and no error", len(r.Latencies))
	}
}
