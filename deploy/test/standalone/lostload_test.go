package standalone_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/test/crash"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	flockClients  = 12
	flockPayments = 6 // of each client in each round
	flockRounds   = 3
)

// flock is two proxies in front of one v1, each behind a relay. They die and restart while clients
// send.
type flock struct {
	p      *process
	logins string
	client *http.Client
	m      *merchant
	ways   [2]*relay
	alive  [2]atomic.Pointer[replica]
	dead   chan int // indexes of proxies to restart

	mu  sync.Mutex
	rng *rand.Rand // guarded by mu

	deaths, cuts, repeated atomic.Int64
}

func startFlock(t *testing.T, p *process, dir string, seed uint64) *flock {
	t.Helper()
	f := &flock{
		p: p, logins: logins(dir), client: patientClient(t), m: merchantOf(t, p), dead: make(chan int, 2),
		rng: rand.New(rand.NewPCG(seed, 4)),
	}
	for i := range f.ways {
		way := startRelay(t, p.HTTP)
		way.fate, way.die = f.fate, func() { f.die(i) }
		f.ways[i] = way
		f.alive[i].Store(startReplica(t, way.base, f.logins))
	}
	return f
}

// roll returns a random number. A seed gives the same sequence; its assignment to clients depends
// on the scheduler.
func (f *flock) roll(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rng.IntN(n)
}

// fate lets most calls pass. Reads are lost as well as writes.
func (f *flock) fate(r *http.Request) fate {
	out := passes
	switch n := f.roll(100); {
	case n < 8 && r.Method == http.MethodPost:
		out = cutAfter
	case n < 12:
		out = cutBefore
	case n < 16:
		out = cutAmid
	case n < 18:
		out = diesBefore
	case n < 22 && r.Method == http.MethodPost:
		out = diesAfter
	}
	if out != passes {
		f.cuts.Add(1)
	}
	return out
}

// die ends a running proxy, and requests its restart.
func (f *flock) die(i int) {
	killed := f.alive[i].Swap(nil)
	if killed == nil {
		return
	}
	killed.Kill()
	f.deaths.Add(1)
	f.dead <- i
}

// round lets all clients send, and restarts the proxies that die.
func (f *flock) round(t *testing.T, n int) []*flockPayment {
	t.Helper()
	all := make([]*flockPayment, 0, flockClients*flockPayments)
	var names []string
	for name := range legacySteps {
		names = append(names, name)
	}
	slices.Sort(names) // a fixed order for the seed
	for c := range flockClients * flockPayments {
		all = append(all, &flockPayment{kind: names[f.roll(len(names))], invoice: fmt.Sprintf("F%d-%d", n, c)})
	}
	var clients sync.WaitGroup
	for mine := range slices.Chunk(all, flockPayments) {
		clients.Go(func() {
			for _, x := range mine {
				x.live(t.Context(), f)
			}
		})
	}
	over := make(chan struct{})
	go func() { clients.Wait(); close(over) }()
	for {
		select {
		case i := <-f.dead:
			f.alive[i].Store(startReplica(t, f.ways[i].base, f.logins))
		case <-over:
			return all
		}
	}
}

// send repeats a document until its outcome is known, through any running proxy, like a merchant's
// retry loop. Sometimes it sends it twice at the same time. It reports whether another attempt may
// have had the effect.
func (f *flock) send(ctx context.Context, document string) (got legacyResponse, lost bool, err error) {
	for range 2000 {
		if f.roll(6) == 0 {
			lost = true
			twin := make(chan legacyResponse, 1)
			go func() { other, _ := f.try(ctx, document); twin <- other }()
			got, err = f.try(ctx, document)
			if other := <-twin; err != nil || other.result() == "1/1" {
				got, err = other, nil
			}
		} else {
			got, err = f.try(ctx, document)
		}
		if err == nil && !slices.Contains([]string{"", "3/19", "E00001", "E00053"}, got.result()) {
			return got, lost, nil
		}
		lost = true
		f.repeated.Add(1)
	}
	return got, lost, errors.New("the outcome stays unknown")
}

// try sends a document once, through a running proxy.
func (f *flock) try(ctx context.Context, document string) (legacyResponse, error) {
	for range 2000 {
		if up := f.alive[f.roll(2)].Load(); up != nil {
			return legacyPost(ctx, f.client, up.base, document)
		}
		<-time.After(5 * time.Millisecond) // it restarts
	}
	return legacyResponse{}, errors.New("no proxy came back")
}

// flockPayment is a payment of a client, and its results.
type flockPayment struct {
	kind, invoice string
	wrong         string
}

// live makes the payment and the steps before it, and retries after each lost response. It records
// faults.
func (x *flockPayment) live(ctx context.Context, f *flock) {
	s := legacySteps[x.kind]
	number := ""
	for _, kind := range append(slices.Clone(s.before), s.send) {
		wrong := ""
		if kind == "settle" {
			wrong = f.settle(ctx, number)
		} else {
			number, wrong = x.step(ctx, f, kind, number)
		}
		if wrong != "" {
			x.wrong = kind + ": " + wrong
			return
		}
	}
}

// step sends one request of the payment, and returns the payment's number.
func (x *flockPayment) step(ctx context.Context, f *flock, kind, number string) (of, wrong string) {
	got, lost, err := f.send(ctx, legacySend(f.p, kind, x.invoice, number))
	result := got.result()
	if err != nil || result != "1/1" && (!lost || result != legacySteps[kind].again) {
		return "", fmt.Sprintf("result %s (a response was lost: %v), %v: %s", result, lost, err, got.body)
	}
	if number != "" {
		return number, ""
	}
	made, err := f.named(ctx, x.invoice) // a merchant looks up a lost number
	if err != nil || len(made) != 1 {
		return "", fmt.Sprintf("payments: %+v, %v, want one", made, err)
	}
	number, err = id.ToDecimal(id.Transaction, made[0].ID)
	if err != nil || result == "1/1" && number != got.number {
		return "", fmt.Sprintf("payment %s, %v, want %s", got.number, err, number)
	}
	return number, ""
}

func (f *flock) settle(ctx context.Context, number string) string {
	name, err := id.Decimal(id.Transaction, number)
	if err != nil {
		return err.Error()
	}
	got, err := f.m.do(ctx, http.MethodPost, "/v1/test_helpers/transactions/"+name+"/settle", "", "")
	if err != nil || got.status != http.StatusOK {
		return fmt.Sprintf("%d %s %v", got.status, got.body, err)
	}
	return ""
}

// named returns the payments in v1 with a reference.
func (f *flock) named(ctx context.Context, reference string) ([]v1.Transaction, error) {
	got, err := f.m.do(ctx, http.MethodGet, "/v1/transactions?reference="+reference, "", "")
	if err != nil {
		return nil, err
	}
	var list v1.TransactionList
	err = json.Unmarshal([]byte(got.body), &list)
	return list.Data, err
}

// TestLostResponsesUnderLoad runs many clients with every kind of request while connections break
// and proxies die. The clients retry until they get the outcome. No payment is charged twice or
// lost, and v1 and the acquirer agree.
func TestLostResponsesUnderLoad(t *testing.T) {
	t.Parallel()
	dir, seed := t.TempDir(), crash.Seed(t)
	p := start(t, dir, "--log", "error")
	f := startFlock(t, p, dir, seed)
	var all []*flockPayment
	for n := range crash.Rounds(t, flockRounds) {
		all = append(all, f.round(t, n)...)
	}
	kept := map[string][]v1.Transaction{}
	for _, x := range f.m.transactions(t) {
		kept[*x.Reference] = append(kept[*x.Reference], x)
	}
	for _, x := range all {
		if x.wrong != "" {
			t.Errorf("%s %s: %s", x.kind, x.invoice, x.wrong)
		}
		if made := kept[x.invoice]; len(made) != 1 || !legacySteps[x.kind].want(made[0]) {
			t.Errorf("%s %s: payments = %+v, want one, done once", x.kind, x.invoice, made)
		}
	}
	if len(kept) != len(all) {
		t.Errorf("payments = %d, want the %d requested ones", len(kept), len(all))
	}
	checkAgreed(t, p, dir)
	if f.deaths.Load() == 0 || f.cuts.Load() == 0 || f.repeated.Load() == 0 {
		t.Error("nothing was lost, so nothing was shown")
	}
	t.Logf("seed %d: %d payments, %d calls cut, %d proxies killed, %d retries",
		seed, len(all), f.cuts.Load(), f.deaths.Load(), f.repeated.Load())
	if t.Failed() {
		t.Logf("again with CAUSEWAY_CRASH_SEED=%d", seed)
	}
}
