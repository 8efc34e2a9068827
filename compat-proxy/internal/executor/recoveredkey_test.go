package executor_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

// lostPayment is the payment of recoveringV1 in a status.
const lostPayment = `{"id":"txn_0000000000zzz","status":%q,"amount":100,"currency":"usd",` +
	`"created_at":"2026-11-21T12:00:00.000Z"}`

// recovery is the course of a payment that never reached the acquirer.
type recovery struct {
	lost     string // how the response to the first attempt is lost; "" if the response has the payment
	status   string // of the payment after recovery; "" if recovery removed it
	refusal  string // of attempts after recovery
	recovers int    // the number of the read or repeated attempt before which v1 frees the key, from 1
}

// recoveringV1 is keyedV1 with a first payment of unknown outcome. The key of that payment stays
// claimed until another request has run and recovery frees it.
type recoveringV1 struct {
	*keyedV1
	recovery

	another func()        // the other request
	claimed chan struct{} // closed when the first payment has claimed its key
	ended   atomic.Bool   // the request of that payment has ended
	key     string        // of the payment
	body    string        // of the payment
	calls   int           // reads of the payment and repeated attempts
}

func (f *recoveringV1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	read := r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v1/transactions/")
	if f.ended.Load() || !read && (r.Method != http.MethodPost || r.URL.Path != "/v1/transactions") {
		f.keyedV1.ServeHTTP(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	key := r.Header.Get("Idempotency-Key")
	w.Header().Set("Date", f.clock.Now().UTC().Format(http.TimeFormat))
	select {
	case <-f.claimed:
		if !read && (key != f.key || string(body) != f.body) {
			f.keyedV1.ServeHTTP(w, r)
			return
		}
	default:
		if !f.claim(key, string(body)) {
			f.keyedV1.ServeHTTP(w, r)
			return
		}
		switch f.lost {
		case "connection": // the transport sends the attempt again
			panic(http.ErrAbortHandler)
		case "gateway":
			w.WriteHeader(http.StatusGatewayTimeout)
			return
		}
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, refusalWith(v1.CodeOutcomeUnknown, fmt.Sprintf(lostPayment, "unknown")))
		return
	}
	if f.calls++; f.calls == f.recovers {
		f.another()
		f.mu.Lock()
		f.recovered(f.key)
		f.mu.Unlock()
	}
	f.respond(w, r, read)
}

// claim claims the key of the first payment. It returns false if the key is in use.
func (f *recoveringV1) claim(key, body string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.uses[key] != nil {
		return false
	}
	f.key, f.body = key, body
	f.uses[key] = &keyUse{body: body, made: f.clock.Now(), running: true}
	close(f.claimed)
	return true
}

// respond responds to a further call on the payment.
func (f *recoveringV1) respond(w http.ResponseWriter, r *http.Request, read bool) {
	switch {
	case f.calls < f.recovers && read:
		_, _ = fmt.Fprintf(w, lostPayment, "unknown")
	case f.calls < f.recovers:
		f.keyedV1.ServeHTTP(w, r) // its key is in use
	case read && f.status != "":
		_, _ = fmt.Fprintf(w, lostPayment, f.status)
	case read:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, refusal("not_found"))
	case f.refusal == v1.CodeKeyInUse: // sent before recovery, and read after it
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, refusal(f.refusal))
	default:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, refusal(f.refusal))
	}
}

// TestDeduplication_gapBehindARecoveredKey: the outcome of a payment is unknown, and an equal
// request is charged under the next key. Then v1 frees the payment's key, while the payment's own
// request still runs. The duplicate of the other request is not charged, with any outcome of the
// first.
func TestDeduplication_gapBehindARecoveredKey(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		recovery

		want command.Outcome
		code string
	}{
		"failed at the first read": {recovery{status: "failed", recovers: 1}, command.Refused, command.CodeFailed},
		"failed at the last read":  {recovery{status: "failed", recovers: 4}, command.Refused, command.CodeFailed},
		"removed":                  {recovery{recovers: 1}, command.Uncertain, v1.CodeOutcomeUnknown},
		"freed after the last read": {
			recovery{status: "unknown", recovers: 4},
			command.Uncertain,
			v1.CodeOutcomeUnknown,
		},
		"refused finally after the transport resent it": {
			recovery{lost: "connection", refusal: v1.CodeUnknownCustomer, recovers: 1},
			command.Refused,
			v1.CodeUnknownCustomer,
		},
		"refused finally after a retry": {
			recovery{lost: "gateway", refusal: v1.CodeUnknownCustomer, recovers: 1},
			command.Refused,
			v1.CodeUnknownCustomer,
		},
		"refused when it was sent again": {
			recovery{lost: "gateway", refusal: "insufficient_scope", recovers: 1}, command.Uncertain, "insufficient_scope",
		},
		"in use when it was sent again": {
			recovery{lost: "gateway", refusal: v1.CodeKeyInUse, recovers: 3}, command.Uncertain, v1.CodeKeyInUse,
		},
	} {
		for _, window := range []int{0, 120} {
			t.Run(fmt.Sprintf("%s, window %d", name, window), func(t *testing.T) {
				t.Parallel()
				b := setupWindow(t, noon)
				f := &recoveringV1{keyedV1: b.v1, recovery: tt.recovery, claimed: make(chan struct{})}
				server := goldentest.Serve(t, f)
				for i := range b.proxies {
					b.proxies[i] = mustProxy(t, server, b)
				}
				f.another = func() {
					if got, want := b.execute(t.Context(), 1, sale(0)), command.Done; got != want {
						t.Errorf("the other request: got %s, want %s", got, want)
					}
				}
				r := b.proxies[0].Execute(t.Context(), key, sale(window))
				if r.Outcome != tt.want || r.Code != tt.code {
					t.Errorf("got %s with %q, want %s with %q", r.Outcome, r.Code, tt.want, tt.code)
				}
				f.ended.Store(true)
				b.clock.Advance(2 * time.Second)
				for proxy := range b.proxies {
					if got, want := b.execute(t.Context(), proxy, sale(120)), command.Repeated; got != want || b.v1.paid() != 1 {
						t.Errorf("its duplicate by proxy %d: got %s and %d payments, want %s and 1", proxy, got, b.v1.paid(), want)
					}
				}
			})
		}
	}
}

// mustProxy returns a further proxy, which calls the bundle's v1 through another server.
func mustProxy(t *testing.T, server *httptest.Server, b windowBundle) *executor.Executor {
	t.Helper()
	x, err := executor.New(executor.Config{
		V1: v1client.Config{
			URL: server.URL, Transport: server.Client().Transport, Backoff: time.Microsecond,
			Clock: b.clock,
		},
		DeduplicationSecret: goldentest.Secret(), FollowPause: time.Microsecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}
