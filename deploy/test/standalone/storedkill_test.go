package standalone_test

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// storedWorld is a core, two proxies that stay, and their clients.
type storedWorld struct {
	p      *process
	m      *merchant
	client *http.Client
	logins string
	other  *replica

	// watched is a proxy whose calls are recorded.
	watched *replica
	mu      sync.Mutex
	calls   []bool // whether each call of it acts; guarded by mu

	runs, kills, restarts, overlaps atomic.Int64
}

func startStoredWorld(t *testing.T, dir string) *storedWorld {
	t.Helper()
	p := start(t, dir, "--log", "error")
	w := &storedWorld{p: p, m: merchantOf(t, p), client: patientClient(t), logins: logins(dir)}
	w.other = startReplica(t, p.HTTP, w.logins)
	way := startRelay(t, p.HTTP)
	way.fate = func(r *http.Request) fate {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.calls = append(w.calls, acts(r))
		return passes
	}
	w.watched = startReplica(t, way.base, w.logins)
	return w
}

// begin prepares a run of a request, and returns its document.
func (w *storedWorld) begin(t *testing.T, x storedRequest) (*storedRun, string) {
	t.Helper()
	r := &storedRun{storedWorld: w, name: fmt.Sprintf("stored-%d", w.runs.Add(1))}
	r.prepare(t, x.before)
	return r, r.document(x)
}

// undisturbed sends a request twice while no proxy dies. It returns how many calls of the first one
// act.
func (w *storedWorld) undisturbed(t *testing.T, name string, x storedRequest) (acting int32) {
	t.Helper()
	r, document := w.begin(t, x)
	w.mu.Lock()
	w.calls = nil
	w.mu.Unlock()
	first := mustPost(t, w.client, w.watched.base, document)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, act := range w.calls {
		if act {
			acting++
		}
	}
	r.judge(t, name, x, first, x.done)
	r.judge(t, name+", again", x, mustPost(t, w.client, w.other.base, document), x.later())
	t.Logf("%s: %d calls, of which %d act", name, len(w.calls), acting)
	return acting
}

// storedKill is the moment at which a proxy dies: at the nth call that matches. A restarted proxy
// or the other one gets the retry. With then, the proxy of the retry dies too, after that call that
// acts.
type storedKill struct {
	fate    fate
	n, then int32
	any     bool // n counts all calls, else the ones that act
	restart bool
}

// mortal starts a proxy that dies at a call.
func (w *storedWorld) mortal(t *testing.T, dies func(*http.Request) fate) *replica {
	t.Helper()
	way := startRelay(t, w.p.HTTP)
	victim := startReplica(t, way.base, w.logins)
	way.fate, way.die = dies, victim.Kill
	return victim
}

// kill sends a request to a proxy that dies, and repeats it. It reports whether the proxy died.
func (w *storedWorld) kill(t *testing.T, name string, x storedRequest, k storedKill) bool {
	t.Helper()
	what := fmt.Sprintf("%s, %+v", name, k)
	r, document := w.begin(t, x)
	dies := nth(k.n, k.fate)
	if k.any {
		dies = nthCall(k.n, k.fate)
	}
	if first, err := legacyPost(t.Context(), w.client, w.mortal(t, dies).base, document); err == nil {
		r.judge(t, what+", with fewer calls", x, first, x.done)
		return false
	}
	w.kills.Add(1)
	if k.then > 0 {
		second, err := legacyPost(t.Context(), w.client, w.mortal(t, nth(k.then, diesAfter)).base, document)
		if err == nil {
			r.judge(t, what+", with fewer calls", x, second, x.done, x.later())
			return false
		}
		w.kills.Add(1)
	}
	retry, later := w.other.base, w.p.HTTP
	if k.restart {
		w.restarts.Add(1)
		retry, later = startReplica(t, w.p.HTTP, w.logins).base, w.other.base
	}
	r.judge(t, what, x, mustPost(t, w.client, retry, document), x.done, x.later())
	r.judge(t, what+", again", x, mustPost(t, w.client, later, document), x.later())
	return true
}

// overlap sends a request to a proxy. Before its nth call, the same request runs at another proxy,
// as by a client that does not wait for the first response. It reports whether there was such a
// call.
func (w *storedWorld) overlap(t *testing.T, name string, x storedRequest, n int32) bool {
	t.Helper()
	what := fmt.Sprintf("%s, overlapped at call %d", name, n)
	r, document := w.begin(t, x)
	dies := nthCall(n, diesBefore)
	var second legacyResponse
	first := mustPost(t, w.client, w.mortal(t, func(r *http.Request) fate {
		if dies(r) == diesBefore {
			second = mustPost(t, w.client, w.other.base, document)
		}
		return passes
	}).base, document)
	if second.body == "" {
		return false
	}
	w.overlaps.Add(1)
	for _, got := range []legacyResponse{first, second} {
		r.judge(t, what, x, got, x.done, x.later())
	}
	approved := map[bool]bool{storedResult(first) == "1/1": true, storedResult(second) == "1/1": true}
	if x.done == "1/1" && x.again != "" && len(approved) != 2 {
		t.Errorf("%s: got %s and %s, want one approval", what, first.body, second.body)
	}
	r.judge(t, what+", again", x, mustPost(t, w.client, w.p.HTTP, document), x.later())
	return true
}

// madeNumber matches the number of an object in a response.
var madeNumber = regexp.MustCompile(`<(?:customerProfileId|customerPaymentProfileId|customerAddressId|numericString)>` +
	`(\d+)<|A duplicate record with ID (\d+) already exists`)

// judge checks that a response has one of the results, and that v1 has the wanted state. Each
// number in the response must be of an object in that state.
func (r *storedRun) judge(t *testing.T, what string, x storedRequest, got legacyResponse, results ...string) {
	t.Helper()
	if result := storedResult(got); !slices.Contains(results, result) {
		t.Errorf("%s: got %s, want one of %v: %s", what, result, results, got.body)
	}
	state, numbers := r.state(t)
	want := x.want
	want.customers = slices.Clone(want.customers)
	for i := range want.customers {
		want.customers[i] = r.fill(want.customers[i])
	}
	if !reflect.DeepEqual(state, want) {
		t.Errorf("%s: v1 has %+v, want %+v; the response was %s", what, state, want, got.body)
	}
	for _, m := range madeNumber.FindAllStringSubmatch(got.body, -1) {
		if number := m[1] + m[2]; !slices.Contains(numbers, number) {
			t.Errorf("%s: v1 has not %s: %s", what, number, got.body)
		}
	}
}

// TestProxyDiesUnderAStoredCustomer kills a proxy at a call of each request about a stored
// customer. The client repeats the request at another proxy or at the restarted one. No customer,
// payment profile, shipping address or charge exists twice. The result of the retry is that of a
// first or of a later request. The long form kills before and after every call, and also kills the
// proxy of the retry. It then lets equal requests overlap at every call.
func TestProxyDiesUnderAStoredCustomer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := startStoredWorld(t, dir)
	t.Run("requests", func(t *testing.T) {
		for i, name := range slices.Sorted(maps.Keys(storedRequests)) {
			x := storedRequests[name]
			acting := w.undisturbed(t, name, x)
			if programtest.Soak() {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					w.walk(t, name, x, acting)
				})
			} else if !w.kill(t, name, x, storedKill{fate: diesAfter, n: acting - int32(i%2)*acting/2, restart: i%2 == 0}) {
				t.Errorf("%s: the proxy responded, want it dead", name)
			}
		}
	})
	checkAgreed(t, w.p, dir)
	t.Logf("%d requests, %d runs, %d proxies killed, %d restarted, %d overlaps",
		len(storedRequests), w.runs.Load(), w.kills.Load(), w.restarts.Load(), w.overlaps.Load())
}

// walk is the long form for one request.
func (w *storedWorld) walk(t *testing.T, name string, x storedRequest, acting int32) {
	t.Helper()
	killed := func(k storedKill) (died bool) {
		t.Run(fmt.Sprintf("%+v", k), func(t *testing.T) { died = w.kill(t, name, x, k) })
		return died
	}
	for _, k := range []storedKill{
		{fate: diesBefore}, {fate: diesBefore, restart: true}, {fate: diesAfter}, {fate: diesAfter, restart: true},
	} {
		k.n, k.any = 1, true
		for killed(k) {
			k.n++
		}
	}
	for n := int32(1); n <= acting; n++ {
		k := storedKill{fate: diesAfter, n: n, then: 1}
		for killed(k) {
			k.then++
		}
	}
	there := true
	for n := int32(1); there; n++ {
		t.Run(fmt.Sprint("overlap ", n), func(t *testing.T) { there = w.overlap(t, name, x, n) })
	}
}
