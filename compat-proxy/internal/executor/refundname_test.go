package executor_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// undoNamed are the commands that undo the request with a name.
var undoNamed = map[string]command.Command{
	"reversal": command.Reverse{Name: "n"}, "void": command.CancelCapture{Name: "n"},
}

// refundsNamed are a refund and a credit with that name.
func refundsNamed() map[string]command.Named {
	credit, _ := repeatable()["credit by name"].(command.Named)
	credit.Name = "n"
	return map[string]command.Named{
		"refund": under("n", command.Refund{Target: number, Amount: "1.00"}), "credit": credit,
	}
}

// undone is the undoing of a refund by its name.
type undone struct {
	name     string
	record   []response // v1's records of the refund's key
	state    []response // the refund at v1
	want     command.Outcome
	refund   bool
	reserved int // keys of the name
}

func undoneRefunds() []undone {
	completed := func(status, resource string) []response {
		return ok(`{"status":"completed","http_status":` + status + `,"resource":"` + resource + `"}`)
	}
	made, running := completed("201", refund), ok(`{"status":"in_progress"}`)
	is := func(status string) []response { return ok(back(status, "5")) }
	other := ok(strings.Replace(back("failed", "5"), refund, "re_0000000000001", 1))
	missing := []response{{status: 404, body: refusal("not_found")}}
	forbidden := []response{{status: 403, body: refusal("insufficient_scope")}}
	return []undone{
		{"none", nil, nil, command.NotFound, false, 3},
		{"succeeded", made, is("succeeded"), command.NotFound, true, 0},
		{"pending", made, is("pending"), command.Uncertain, false, 0},
		{"running", running, nil, command.Uncertain, false, 0},
		{"running, then succeeded", append(running, made...), is("succeeded"), command.NotFound, true, 0},
		{"failed", made, is("failed"), command.NotFound, false, 2},
		{"declined", completed("402", txnID), nil, command.NotFound, false, 2},
		{"refused", completed("422", ""), nil, command.NotFound, false, 3},
		{"not readable", made, []response{{status: 500}}, command.Unavailable, false, 0},
		{"not where v1 must have it", made, missing, command.Unavailable, false, 0},
		{"another refund instead", made, other, command.Unavailable, false, 0},
		{"without the scope to read it", made, forbidden, command.Refused, false, 0},
	}
}

// TestUndoByTheNameOfARefund: v1 got the refund with that name. Only a refund without an effect
// counts as not found.
func TestUndoByTheNameOfARefund(t *testing.T) {
	t.Parallel()
	refunded := "GET /v1/idempotency_keys/" + keyOf(t, command.Refund{Target: number})
	for _, tt := range undoneRefunds() {
		for undo, c := range undoNamed {
			t.Run(tt.name+", "+undo, func(t *testing.T) {
				t.Parallel()
				responses := map[string][]response{reserve: {{status: 201, body: "{}"}}}
				if tt.record != nil {
					responses[refunded] = slices.Clone(tt.record)
				}
				if tt.state != nil {
					responses["GET /v1/refunds/"+refund] = slices.Clone(tt.state)
				}
				x, f := setup(t, responses)
				r := run(t, x, c)
				if r.Outcome != tt.want || (r.Refund != nil) != tt.refund {
					t.Errorf("got %s %s with the refund %v, want %s and a refund: %t", r.Outcome, r.Code, r.Refund, tt.want, tt.refund)
				}
				if got := f.count(reserve); got != tt.reserved || len(f.posts()) != tt.reserved {
					t.Errorf("got %d reservations among %d requests, want %d and nothing else", got, len(f.posts()), tt.reserved)
				}
			})
		}
	}
}

// TestNotFoundByNameReservesTheRefund: a refund arrives after its void found none.
func TestNotFoundByNameReservesTheRefund(t *testing.T) {
	t.Parallel()
	for undo, c := range undoNamed {
		for name, late := range refundsNamed() {
			b := setupWindow(t, noon)
			before := b.proxy(t, otherSecret, goldentest.Secret())
			for range 2 {
				if r := b.result(t, 0, c); r.Outcome != command.NotFound || r.Refund != nil {
					t.Errorf("%s: got %s %v, want not found", undo, r.Outcome, r.Refund)
				}
			}
			for i, x := range []*executor.Executor{b.proxies[1], before} {
				r := x.Execute(t.Context(), key, late)
				if r.Outcome != command.Refused || r.Code != v1.CodeKeyReused {
					t.Errorf("%s, the late %s at proxy %d: got %s %s, want refused", undo, name, i, r.Outcome, r.Code)
				}
			}
			if got := b.v1.paid(); got != 0 {
				t.Errorf("%s, the late %s: got %d effects, want none", undo, name, got)
			}
		}
	}
}

// TestUndoLosesTheNameToItsRefund: the refund arrives just before each request of the void in turn.
// The void finds it, or it has no effect.
func TestUndoLosesTheNameToItsRefund(t *testing.T) {
	t.Parallel()
	for undo, c := range undoNamed {
		for name, late := range refundsNamed() {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				for nth := range 4 {
					b := setupWindow(t, noon)
					before := &beforeNth{method: method, left: nth, RoundTripper: b.server.Client().Transport}
					before.run = func() { b.result(t, 1, late) }
					x, err := executor.New(executor.Config{
						V1:                  v1client.Config{URL: b.server.URL, Transport: before, Clock: b.clock},
						DeduplicationSecret: goldentest.Secret(),
					})
					if err != nil {
						t.Fatal(err)
					}
					r := x.Execute(t.Context(), key, c)
					b.result(t, 1, late)
					if r.Outcome != command.NotFound || (r.Refund != nil) != (b.v1.paid() == 1) {
						t.Errorf("%s before %s %d of the %s: got %s %s with the refund %v, after %d effects", name, method, nth, undo,
							r.Outcome, r.Code, r.Refund, b.v1.paid())
					}
				}
			}
		}
	}
}

// beforeNth runs a function once, before the nth request with a method, counted from 0. Requests
// for API keys do not count.
type beforeNth struct {
	http.RoundTripper

	method string
	run    func()

	mu   sync.Mutex
	left int // guarded by mu
}

func (b *beforeNth) RoundTrip(r *http.Request) (*http.Response, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.Method == b.method && r.URL.Path != "/v1/api_keys/current" {
		if b.left == 0 {
			b.run()
		}
		b.left--
	}
	return b.RoundTripper.RoundTrip(r) //nolint:wrapcheck // a test transport
}

// TestUndoFindsThePaymentBeforeTheRefund: operations share a name. The refund counts last.
func TestUndoFindsThePaymentBeforeTheRefund(t *testing.T) {
	t.Parallel()
	completed := func(resource string) []response {
		return ok(`{"status":"completed","http_status":201,"resource":"` + resource + `"}`)
	}
	for undo, c := range undoNamed {
		x, f := setup(t, map[string][]response{
			"GET /v1/idempotency_keys/" + keyOf(t, charge):                         completed(txnID),
			"GET /v1/idempotency_keys/" + keyOf(t, command.Refund{Target: number}): completed(refund),
			read: ok(transaction("captured", append(taken, automatic)...)), void: ok(transaction("voided", manual)),
			readCaps: listed(),
		})
		if r := run(t, x, c); r.Outcome != command.Done || r.Refund != nil || f.count(void) != 1 {
			t.Errorf("%s: got %s %s with the refund %v after %d voids, want one void", undo, r.Outcome, r.Code, r.Refund,
				f.count(void))
		}
	}
}
