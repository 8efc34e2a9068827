package executor_test

import (
	"context"
	"fmt"
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
	"github.com/causeway-pay/causeway/shared/id"
)

// TestOneDeadlineForARequest: v1 gets a payment and sends no response. The payment takes all the
// time of the legacy request, and is uncertain. No further command of the request begins.
func TestOneDeadlineForARequest(t *testing.T) {
	t.Parallel()
	var payments atomic.Int32
	server := goldentest.Serve(t, goldentest.Identified(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices a client that hangs up after it has read the body
		payments.Add(1)
		<-r.Context().Done()
	})))
	x, err := executor.New(executor.Config{
		V1:                  v1client.Config{URL: server.URL, Transport: server.Client().Transport},
		DeduplicationSecret: goldentest.Secret(),
		TotalTimeout:        10 * time.Second, // a busy machine takes some of it before the command begins
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, r := x.Identify(t.Context(), key); r.Outcome != command.Done {
		t.Fatalf("inspect: %+v", r)
	}
	ctx, cancel := x.Begin(t.Context())
	defer cancel()
	if !x.MayBegin(ctx) {
		t.Error("a request that has just begun may begin no command")
	}
	for i, want := range []command.Result{
		{Outcome: command.Uncertain},
		{Outcome: command.Unavailable, Status: http.StatusServiceUnavailable, Code: command.CodeNotBegun},
	} {
		got := x.Execute(ctx, key, nakedSale())
		if got.Outcome != want.Outcome || got.Status != want.Status || got.Code != want.Code {
			t.Errorf("command %d: got %s %d %q, want %+v", i+1, got.Outcome, got.Status, got.Code, want)
		}
	}
	if x.MayBegin(ctx) || payments.Load() != 1 {
		t.Errorf("a further command may begin: %t, payments: %d, want 1", x.MayBegin(ctx), payments.Load())
	}
}

// TestTooLateToBegin: a command does not begin if the time left is too short for it.
func TestTooLateToBegin(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]command.Outcome{
		20 * time.Minute: command.Done, 5 * time.Minute: command.Unavailable, -time.Second: command.Unavailable,
	} {
		f := &fakeV1{responses: map[string][]response{create: {{status: http.StatusCreated, body: transaction("captured")}}}}
		server := goldentest.Serve(t, f.identified())
		x, err := executor.New(executor.Config{
			V1:                  v1client.Config{URL: server.URL, Transport: server.Client().Transport},
			DeduplicationSecret: goldentest.Secret(),
			TotalTimeout:        100 * time.Minute, // a tenth of it is too little
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), left)
		t.Cleanup(cancel)
		if got := x.Execute(ctx, key, charge).Outcome; got != want {
			t.Errorf("with %s left: got %s, want %s", left, got, want)
		}
		if got, want := len(f.posts()), map[bool]int{true: 1}[want == command.Done]; got != want {
			t.Errorf("with %s left: %d payments, want %d", left, got, want)
		}
	}
}

// TestInspectKeepsTheDeadline: a request after its deadline reads nothing.
func TestInspectKeepsTheDeadline(t *testing.T) {
	t.Parallel()
	x, f := setup(t, map[string][]response{current: {{status: http.StatusOK, body: `{"merchant":"mer_1","mode":"test"}`}}})
	ctx, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	if _, r := x.Identify(ctx, key); r.Outcome != command.Unavailable || len(f.seen()) != 0 {
		t.Errorf("got %s after %d requests, want %s after none", r.Outcome, len(f.seen()), command.Unavailable)
	}
}

// TestReadsEndWithTheirClient: the client hangs up while a list reads the first customer's payment
// methods. The list reads no more.
func TestReadsEndWithTheirClient(t *testing.T) {
	t.Parallel()
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	v1 := &customersV1{customers: 3, onMethods: hangUp}
	r := goldentest.MustExecutor(t, v1).Execute(ctx, key, command.ListExpiring{Month: 12, Year: 2030, Limit: 10})
	if r.Outcome == command.Done || v1.methods.Load() != 1 {
		t.Errorf("got %s after the methods of %d customers, want no result after one", r.Outcome, v1.methods.Load())
	}
}

// TestTooManyCustomersToSearch: a list of too many customers reads none of their payment methods.
func TestTooManyCustomersToSearch(t *testing.T) {
	t.Parallel()
	v1 := &customersV1{customers: 5_001}
	r := goldentest.MustExecutor(t, v1).Execute(t.Context(), key, command.ListExpiring{Month: 12, Year: 2030, Limit: 10})
	if r.Code != command.CodeTooMany || v1.methods.Load() != 0 {
		t.Errorf("got %s %s after the methods of %d customers, want %s after none",
			r.Outcome, r.Code, v1.methods.Load(), command.CodeTooMany)
	}
}

// customersV1 is a v1 with a number of customers without payment methods.
type customersV1 struct {
	customers int
	onMethods func()       // runs before a response with payment methods; may be nil
	methods   atomic.Int32 // requests for payment methods
}

func (f *customersV1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	last := int64(f.customers) + 1
	if after := r.URL.Query().Get("starting_after"); after != "" {
		last, _ = id.Parse(id.Customer, after)
	}
	var page []string
	if r.URL.Path == "/v1/customers" {
		for n := last - 1; n > 0 && len(page) < 100; n-- {
			page = append(page, `{"id":"`+id.Format(id.Customer, n)+`","metadata":{}}`)
		}
	} else {
		f.methods.Add(1)
		if f.onMethods != nil {
			f.onMethods()
		}
	}
	more := len(page) > 0 && last > 101
	_, _ = fmt.Fprintf(w, `{"object":"list","data":[%s],"has_more":%t}`, strings.Join(page, ","), more)
}
