package executor_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/upstream"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
)

// A kept connection breaks under the request, and v1 is overloaded from then on. The second attempt
// had no effect, which proves nothing about the first.
func TestLostOnAKeptConnection_thenRefused(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	server := goldentest.Serve(t, goldentest.Identified(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the fake accepts any body
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
	x, err := executor.New(executor.Config{
		V1: v1client.Config{
			URL: server.URL, Transport: server.Client().Transport, Backoff: time.Microsecond,
		},
		DeduplicationSecret: goldentest.Secret(), FollowPause: time.Microsecond,
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

// A kept connection breaks under the request, and the transport sends it again. V1 responds
// immediately, or with the error that the first attempt is still running, as when another core
// finishes it.
func TestDeduplication_lostResponseOnAKeptConnection(t *testing.T) {
	t.Parallel()
	for _, atIt := range []int{0, 1, 2} {
		checkLostResponse(t, atIt)
	}
}

func checkLostResponse(t *testing.T, atIt int) {
	t.Helper()
	b := setupWindow(t, noon)
	other := sale(120, func(c *command.Authorize) { c.Deduplication.Same = []string{"shop", "INV-2"} })
	if got, want := b.execute(t.Context(), 0, other), command.Done; got != want {
		t.Fatalf("the payment before: got %s, want %s", got, want)
	}
	b.v1.lostResponses, b.v1.atIt = 1, atIt
	if got, want := b.execute(t.Context(), 0, sale(120)), command.Done; got != want {
		t.Errorf("the response after a lost one, %d times in progress: got %s, want %s", atIt, got, want)
	}
	if got, want := b.execute(t.Context(), 0, sale(120)), command.Repeated; got != want {
		t.Errorf("its repetition: got %s, want %s", got, want)
	}
	if got, want := b.v1.paid(), 2; got != want {
		t.Errorf("payments: got %d, want %d", got, want)
	}
}

// TestLostOnAKeptConnection_thenGone: v1 executes a payment from a kept connection and stops. The
// transport's second attempt fails to connect, which proves nothing about the first.
func TestLostOnAKeptConnection_thenGone(t *testing.T) {
	t.Parallel()
	for name, transport := range map[string]http.RoundTripper{
		"upstream": upstream.New(upstream.Config{}), "net/http": &http.Transport{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var payments atomic.Int32
			go payWindowed(ln, &payments)
			x, err := executor.New(executor.Config{
				V1: v1client.Config{
					URL: "http://" + ln.Addr().String(), Transport: transport, Backoff: time.Microsecond,
				},
				DeduplicationSecret: goldentest.Secret(), FollowPause: time.Microsecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, r := x.Identify(t.Context(), key); r.Outcome != command.Done {
				t.Fatalf("inspect: %+v", r)
			}
			if got, want := run(t, x, nakedSale()).Outcome, command.Uncertain; got != want || payments.Load() != 1 {
				t.Errorf("after %d payments: got %s, want %s", payments.Load(), got, want)
			}
			if got, want := run(t, x, nakedSale()).Outcome, command.Unavailable; got != want {
				t.Errorf("a payment that was never sent: got %s, want %s", got, want)
			}
		})
	}
}

// nakedSale returns a sale without a lookup at v1 before it.
func nakedSale() command.Authorize {
	c := sale(0)
	c.Deduplication = command.Deduplication{}
	return c
}

// payWindowed serves one connection: it responds to reads, executes the first payment and closes.
func payWindowed(ln net.Listener, payments *atomic.Int32) {
	c, err := ln.Accept()
	if err != nil {
		return
	}
	defer c.Close()  //nolint:errcheck // nothing depends on it
	defer ln.Close() //nolint:errcheck // nothing depends on it
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method != http.MethodGet {
			payments.Add(1)
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 47\r\n\r\n"+
			`{"merchant":"mer_1", "mode":"test","scopes":[]}`)
	}
}
