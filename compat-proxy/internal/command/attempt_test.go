package command_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
)

// A connection that was kept breaks under the request, and v1 is overloaded from then on: that nothing was done the second time says
// nothing of the first.
func TestLostOnAKeptConnection_thenRefused(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	server := httptest.NewServer(goldentest.Identified(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the fake takes anything
		switch requests.Add(1) {
		case 1:
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, transaction("captured"))
		case 2:
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, refusal("service_overloaded"))
		}
	})))
	t.Cleanup(server.Close)
	x, err := command.New(command.Config{
		DeduplicationSecret: goldentest.Secret(), V1: server.URL, Transport: server.Client().Transport, Backoff: time.Microsecond,
		FollowPause: time.Microsecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := run(t, x, sale(0)).Outcome, command.Done; got != want {
		t.Fatalf("the payment before: got %s, want %s", got, want)
	}
	if got, want := run(t, x, sale(0)).Outcome, command.Uncertain; got != want {
		t.Errorf("the lost one: got %s, want %s", got, want)
	}
}

// A connection that was kept breaks under the request; the transport then sends it again, unseen, and is answered at once, or told that the first is
// still under way, as when its core has died and another one finishes it.
func TestOnce_aLostAnswerOnAKeptConnectionIsOurs(t *testing.T) {
	t.Parallel()
	for _, atIt := range []int{0, 1, 2} {
		aLostAnswerIsOurs(t, atIt)
	}
}

func aLostAnswerIsOurs(t *testing.T, atIt int) {
	t.Helper()
	b := setupOnce(t, noon)
	other := sale(120, func(c *command.Authorize) { c.Once.Same = []string{"shop", "INV-2"} })
	if got, want := b.ask(t.Context(), 0, other), command.Done; got != want {
		t.Fatalf("the payment before: got %s, want %s", got, want)
	}
	b.v1.mute, b.v1.atIt = 1, atIt
	if got, want := b.ask(t.Context(), 0, sale(120)), command.Done; got != want {
		t.Errorf("the answer after a lost one, %d times under way: got %s, want %s", atIt, got, want)
	}
	if got, want := b.ask(t.Context(), 0, sale(120)), command.Repeated; got != want {
		t.Errorf("its repetition: got %s, want %s", got, want)
	}
	if got, want := b.v1.paid(), 2; got != want {
		t.Errorf("payments: got %d, want %d", got, want)
	}
}
