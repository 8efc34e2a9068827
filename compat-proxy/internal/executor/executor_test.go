package executor_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// response is one response of the fake v1. A status of 0 breaks the connection after the request
// was read.
type response struct {
	status int
	body   string
	after  string // Retry-After
	unsent bool   // the gateway in front of v1 sent no part of the request on
}

// call is one request to the fake v1.
type call struct {
	route, key, auth, body string
}

// fakeV1 returns the responses of each route in order, and repeats the last one. It records the
// requests.
type fakeV1 struct {
	blind bool // the caller may not read keys

	mu        sync.Mutex
	responses map[string][]response // guarded by mu
	requests  []call                // guarded by mu
}

func (f *fakeV1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	route := r.Method + " " + r.URL.Path
	f.mu.Lock()
	f.requests = append(f.requests, call{
		route, r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"),
		string(body),
	})
	list := f.responses[route]
	if f.blind && strings.HasPrefix(route, "GET /v1/idempotency_keys/") {
		list = []response{{status: http.StatusForbidden, body: refusal("insufficient_scope")}}
	}
	if len(list) == 0 {
		f.mu.Unlock()
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, refusal("not_found"))
		return
	}
	if len(list) > 1 {
		f.responses[route] = list[1:]
	}
	f.mu.Unlock()
	if list[0].status == 0 {
		panic(http.ErrAbortHandler)
	}
	if list[0].after != "" {
		w.Header().Set("Retry-After", list[0].after)
	}
	if list[0].unsent {
		w.Header().Set(httpx.UnsentHeader, "1")
	}
	w.WriteHeader(list[0].status)
	_, _ = io.WriteString(w, list[0].body)
}

func (f *fakeV1) seen() []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

// identified adds to f a v1 that identifies API keys, unless f responds to these requests itself.
func (f *fakeV1) identified() http.Handler {
	if f.responses[current] != nil {
		return f
	}
	return goldentest.Identified(f)
}

// posts returns the requests that could have moved money.
func (f *fakeV1) posts() []call {
	return slices.DeleteFunc(f.seen(), func(a call) bool { return !strings.HasPrefix(a.route, "POST ") })
}

const number = command.Number("60410000123")

var (
	txnID   = mustID(id.Transaction)
	refund  = mustID(id.Refund)
	create  = "POST /v1/transactions"
	read    = "GET /v1/transactions/" + txnID
	capture = postTo(txnID, "captures")
	void    = postTo(txnID, "void")
	key     = secret.New("sk_test_key")
	charge  = command.Authorize{Body: v1.TransactionCreate{Amount: 100, Currency: "usd", PaymentMethod: "card"}}
)

func postTo(txn, verb string) string { return "POST /v1/transactions/" + txn + "/" + verb }

func mustID(p id.Prefix) string {
	s, err := id.Decimal(p, string(number))
	if err != nil {
		panic(err)
	}
	return s
}

func refusal(code string) string {
	return `{"error":{"type":"api_error","code":"` + code + `","message":"","status":0,"request_id":""}}`
}

func refusalWith(code, transaction string) string {
	return strings.TrimSuffix(refusal(code), "}}") + `,"transaction":` + transaction + `}}`
}

func transaction(status string, more ...string) string {
	fields := append([]string{`"id":"` + txnID + `"`, `"status":"` + status + `"`, `"currency":"usd"`}, more...)
	if !strings.Contains(strings.Join(more, ","), `"amount":`) {
		fields = append(fields, `"amount":100`)
	}
	return "{" + strings.Join(fields, ",") + "}"
}

func setup(t *testing.T, responses map[string][]response) (*executor.Executor, *fakeV1) {
	t.Helper()
	f := &fakeV1{responses: responses}
	server := goldentest.Serve(t, f.identified())
	x, err := executor.New(executor.Config{
		V1: v1client.Config{
			URL: server.URL, Transport: server.Client().Transport,
			Backoff: time.Millisecond,
			Clock:   clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)),
		},
		DeduplicationSecret: goldentest.Secret(), FollowPause: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return x, f
}

func run(t *testing.T, x *executor.Executor, c command.Command) command.Result {
	t.Helper()
	return x.Execute(t.Context(), key, c)
}

func TestAuthorize(t *testing.T) {
	t.Parallel()
	done := response{status: 201, body: transaction("captured")}
	tests := []struct {
		name      string
		responses []response
		reads     []response
		want      command.Outcome
		posts     int
	}{
		{"OK", []response{done}, nil, command.Done, 1},
		{"a lost response is retried", []response{{}, done}, nil, command.Done, 2},
		{"a gateway's 502 is retried", []response{{status: 502}, done}, nil, command.Done, 2},
		{"a gateway's 504 is retried", []response{{status: 504}, done}, nil, command.Done, 2},
		{"overload is retried", []response{{status: 503, body: refusal("overloaded")}, done}, nil, command.Done, 2},
		{
			"a key in use is retried",
			[]response{{status: 409, body: refusal(v1.CodeKeyInUse)}, done},
			nil,
			command.Done,
			2,
		},
		{"the retries are limited", []response{{}}, nil, command.Uncertain, 4},
		{
			"overload of every attempt has no effect",
			[]response{{status: 503, body: refusal("overloaded")}},
			nil,
			command.Unavailable,
			4,
		},
		{
			"after a lost response, overload leaves the outcome unknown",
			[]response{{}, {status: 503, body: refusal("overloaded")}},
			nil,
			command.Uncertain, 4,
		},
		{
			"after a lost response, a refusal shows the outcome",
			[]response{{}, {status: 400, body: refusal("invalid_value")}},
			nil,
			command.Refused, 2,
		},
		{
			"after a lost response, a rate limit leaves the outcome unknown",
			[]response{{}, {status: 429, body: refusal("rate_limited")}},
			nil,
			command.Uncertain, 2,
		},
		{
			"too many changes are retried",
			[]response{{status: 429, body: refusal("too_many_changes")}, done},
			nil,
			command.Done, 2,
		},
		{
			"a decline",
			[]response{{status: 402, body: refusalWith("card_declined", transaction("declined"))}},
			nil,
			command.Declined, 1,
		},
		{
			"an internal error is not retried",
			[]response{{status: 500, body: refusal("internal_error")}},
			nil,
			command.Uncertain, 1,
		},
		{
			"a missing acquirer is not retried",
			[]response{{status: 503, body: refusal(v1.CodeAcquirerNotConfigured)}},
			nil,
			command.Unavailable, 1,
		},
		{
			"a payment that was not processed",
			[]response{{status: 502, body: refusal(v1.CodeNotProcessed)}},
			nil, command.Refused,
			1,
		},
		{"a redirect is not followed", []response{{status: 307}}, nil, command.Unavailable, 1},
		{"an unreadable response", []response{{status: 201, body: "<html>"}}, nil, command.Uncertain, 1},
		{
			"an unknown outcome that becomes known",
			[]response{{status: 504, body: refusalWith(v1.CodeOutcomeUnknown, transaction("unknown"))}},
			[]response{{status: 200, body: transaction("unknown")}, {status: 200, body: transaction("captured")}},
			command.Done, 1,
		},
		{
			"an unknown outcome that v1 reversed",
			[]response{{status: 504, body: refusalWith(v1.CodeOutcomeUnknown, transaction("unknown"))}},
			[]response{{status: 200, body: transaction("voided")}},
			command.Refused, 1,
		},
		{
			"an unknown outcome that stays so",
			[]response{{status: 504, body: refusalWith(v1.CodeOutcomeUnknown, transaction("unknown"))}},
			[]response{{status: 200, body: transaction("unknown")}},
			command.Uncertain, 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x, f := setup(t, map[string][]response{create: tt.responses, read: tt.reads})
			if got := run(t, x, charge).Outcome; got != tt.want {
				t.Errorf("outcome: got %s, want %s", got, tt.want)
			}
			posts := f.posts()
			if got := len(posts); got != tt.posts {
				t.Errorf("posts: got %d, want %d", got, tt.posts)
			}
			for _, p := range posts {
				if p.key == "" || p.key != posts[0].key {
					t.Errorf("Idempotency-Key: got %q, want %q, the first attempt's", p.key, posts[0].key)
				}
				if p.body != posts[0].body || p.auth != "Bearer sk_test_key" {
					t.Errorf("got body %s and authorization %q, want those of the first attempt", p.body, p.auth)
				}
			}
		})
	}
}

func TestTwoRequestsNeverShareAKey(t *testing.T) {
	t.Parallel()
	x, f := setup(t, map[string][]response{create: {{status: 201, body: transaction("captured")}}})
	for range 20 {
		run(t, x, charge)
	}
	keys := map[string]bool{}
	for _, p := range f.posts() {
		keys[p.key] = true
	}
	if got, want := len(keys), 20; got != want {
		t.Errorf("different keys: got %d, want %d", got, want)
	}
}

// TestHangUpDoesNotStopAPayment executes a command after the client hung up, with one lost
// response.
func TestHangUpDoesNotStopAPayment(t *testing.T) {
	t.Parallel()
	x, f := setup(t, map[string][]response{create: {{}, {status: 201, body: transaction("captured")}}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, want := x.Execute(ctx, key, charge).Outcome, command.Done; got != want {
		t.Errorf("outcome: got %s, want %s", got, want)
	}
	if got, want := len(f.posts()), 2; got != want {
		t.Errorf("posts: got %d, want %d", got, want)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	f := &fakeV1{responses: map[string][]response{create: {{status: 503, body: refusal("overloaded"), after: "3600"}}}}
	server := goldentest.Serve(t, goldentest.Identified(f))
	x, err := executor.New(executor.Config{
		V1: v1client.Config{URL: server.URL}, DeduplicationSecret: goldentest.Secret(),
		TotalTimeout: 5 * time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	// The wait of the Retry-After would end after the deadline, so the executor does not begin it.
	if got, want := run(t, x, charge).Outcome, command.Unavailable; got != want {
		t.Errorf("outcome: got %s, want %s", got, want)
	}
	if got, want := len(f.posts()), 1; got != want {
		t.Errorf("posts: got %d, want %d", got, want)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "none") // another test may have reused a closed port
	unreachable := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	x, err := executor.New(executor.Config{
		V1:                  v1client.Config{URL: "http://v1", Transport: unreachable, Backoff: time.Millisecond},
		DeduplicationSecret: goldentest.Secret(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := run(t, x, charge).Outcome, command.Unavailable; got != want {
		t.Errorf("outcome: got %s, want %s: no connection was made, so v1 has no payment", got, want)
	}
}
