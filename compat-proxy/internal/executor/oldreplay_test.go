package executor_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/clock"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// windowedCommands returns a payment, a refund and a refund without a payment, with one window.
func windowedCommands(window int) map[string]command.Command {
	amount, currency, method := int64(100), "usd", "card"
	once := command.Deduplication{Window: window, Same: []string{"shop", "INV-1"}}
	return map[string]command.Command{
		"payment": sale(window),
		"refund":  command.Refund{Target: number, Amount: "1", Deduplication: once},
		"credit": command.Credit{
			Body: v1.RefundCreate{
				Amount: &amount, Currency: &currency, PaymentMethod: &method,
				Card: sale(0).Body.Card,
			},
			Deduplication: once,
		},
	}
}

// TestDeduplication_oldResponse: the connection to v1 breaks under the first attempt of a request
// without a recent duplicate. V1 stored a response under the same key long before. The request is
// executed, and does not get that old result.
func TestDeduplication_oldResponse(t *testing.T) {
	t.Parallel()
	outcomes := map[int]command.Outcome{
		http.StatusCreated: command.Done, http.StatusPaymentRequired: command.Declined,
		http.StatusBadRequest: command.Refused,
	}
	for name, c := range windowedCommands(120) {
		for first, want := range outcomes {
			for _, after := range []time.Duration{122 * time.Second, 3 * time.Hour} {
				b := setupWindow(t, noon)
				b.v1.response = first
				if got := b.execute(t.Context(), 0, c); got != want {
					t.Fatalf("%s, the first: got %s, want %s", name, got, want)
				}
				b.clock.Advance(after)
				b.v1.response, b.v1.lostRequests = http.StatusCreated, 1
				got := b.execute(t.Context(), 1, c)
				if got != command.Done || b.v1.paid() != 2 {
					t.Errorf("%s, %s after one that was %s: got %s and %d effects, want it done and 2", name, after, want, got,
						b.v1.paid())
				}
				if got, want := b.execute(t.Context(), 0, c), command.Repeated; got != want || b.v1.paid() != 2 {
					t.Errorf("%s, its retry: got %s and %d effects, want %s and 2", name, got, b.v1.paid(), want)
				}
			}
		}
	}
}

// TestDeduplication_oldResponseWithinASmallWindow: with a window below the skew among servers of
// v1, the window decides whether a stored response is the request's own.
func TestDeduplication_oldResponseWithinASmallWindow(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	b.execute(t.Context(), 0, sale(1))
	b.clock.Advance(4 * time.Second)
	b.v1.lostRequests = 1
	if got, want := b.execute(t.Context(), 1, sale(1)), command.Done; got != want || b.v1.paid() != 2 {
		t.Errorf("got %s and %d payments, want %s and 2", got, b.v1.paid(), want)
	}
}

// TestDeduplication_recentResponse: in a long window, the stored response of an earlier request
// makes this one its duplicate, even if the connection breaks.
func TestDeduplication_recentResponse(t *testing.T) {
	t.Parallel()
	for name, c := range windowedCommands(3600) {
		b := setupWindow(t, noon)
		b.execute(t.Context(), 0, c)
		b.clock.Advance(time.Minute)
		b.v1.lostRequests = 1
		if got, want := b.execute(t.Context(), 1, c), command.Repeated; got != want || b.v1.paid() != 1 {
			t.Errorf("%s: got %s and %d effects, want %s and 1", name, got, b.v1.paid(), want)
		}
	}
}

// onPost is a transport that runs a function once, before the first POST.
type onPost struct {
	http.RoundTripper

	run  func()
	once sync.Once
}

func (o *onPost) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		o.once.Do(o.run)
	}
	return o.RoundTripper.RoundTrip(r)
}

// TestDeduplication_ownResponseOfAnotherServer: the server of v1 that executes the request is eight
// seconds behind the one that sent its time. The response to the first attempt is lost. The stored
// response is the request's own.
func TestDeduplication_ownResponseOfAnotherServer(t *testing.T) {
	t.Parallel()
	for name, c := range windowedCommands(120) {
		for status, want := range map[int]command.Outcome{
			http.StatusCreated: command.Done, http.StatusPaymentRequired: command.Declined,
		} {
			b := setupWindow(t, noon)
			b.v1.lostResponses, b.v1.response = 1, status
			back := &onPost{RoundTripper: b.server.Client().Transport, run: func() { b.clock.Advance(-8 * time.Second) }}
			x, err := executor.New(executor.Config{
				V1: v1client.Config{
					URL: b.server.URL, Transport: back, Backoff: time.Microsecond, Clock: clock.NewFake(noon),
				},
				DeduplicationSecret: goldentest.Secret(), FollowPause: time.Microsecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := x.Execute(t.Context(), key, c).Outcome; got != want || b.v1.paid() != 1 {
				t.Errorf("%s: got %s and %d effects, want %s and 1", name, got, b.v1.paid(), want)
			}
		}
	}
}
