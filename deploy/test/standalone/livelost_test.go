package standalone_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/test/crash"
	"github.com/causeway-pay/causeway/deploy/test/fleet"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	liveClients  = 6
	livePayments = 4  // of each client in each round
	liveRounds   = 2  // without CAUSEWAY_CRASH_ROUNDS
	liveTogether = 10 // rounds of one pair of standalones
	liveTries    = 25 // of a request whose outcome stays unknown
)

// steered returns a folder with programs that read a fleet.Clock instead of the machine's, and
// search for due settlement reports each second.
var steered = sync.OnceValues(func() (folder string, err error) {
	const background, pause = "core/internal/background/background.go", "reportsEvery = time.Minute"
	root, err := programtest.Root()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(root, background))
	if err != nil {
		return "", err
	}
	if !strings.Contains(string(text), pause) {
		return "", fmt.Errorf("%s has no %q", background, pause)
	}
	return programtest.Variant{
		Name: "steered", Programs: []string{"standalone", "core"},
		Replaced: map[string]string{
			"shared/clock/system.go": fleet.SteeredClock,
			background:               strings.Replace(string(text), pause, "reportsEvery = time.Second", 1),
		},
	}.Build(context.Background())
})

// startSteered is start on a clock.
func startSteered(t *testing.T, clock *fleet.Clock, dir string, args ...string) *process {
	t.Helper()
	folder, err := steered()
	if err != nil {
		t.Fatal(err)
	}
	fill(t, dir)
	p := launchProgram(t, filepath.Join(folder, "standalone"), []string{clock.Variable()},
		fleet.StandaloneArgs(dir, args...)...)
	p.awaitReady(t)
	return p
}

// livePlans are the steps after a payment, by the payment's kind. The first word is its capture.
var livePlans = map[string][]string{
	"sale":         {"automatic"},
	"voided sale":  {"automatic", "void"},
	"refund":       {"automatic", "settle", "refund"},
	"held":         {"manual"},
	"captured":     {"manual", "capture"},
	"part":         {"manual", "part"},
	"void":         {"manual", "void"},
	"late refund":  {"manual", "capture", "settle", "refund"},
	"void capture": {"manual", "capture", "void"},
}

// liveSteps are the path and the body of each step.
var liveSteps = map[string][2]string{
	"void":    {"/v1/transactions/{id}/void", ""},
	"capture": {"/v1/transactions/{id}/captures", `{"final":true}`},
	"part":    {"/v1/transactions/{id}/captures", `{"amount":500,"final":true}`},
	"refund":  {"/v1/refunds", `{"transaction":"{id}","amount":250}`},
}

// liveLoad is a pair with a relay between the account and the upstream. The first standalone dies
// and restarts while clients send.
type liveLoad struct {
	pair

	kind  string
	clock *fleet.Clock
	wire  *relay
	alive atomic.Pointer[process]
	dead  chan struct{}
	calm  atomic.Bool // no call is broken
	lose  atomic.Bool // the response to the next call is lost

	mu  sync.Mutex
	rng *rand.Rand // guarded by mu

	all    []*livePayment
	deaths atomic.Int64
}

func (l *liveLoad) roll(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rng.IntN(n)
}

// fate breaks one of four calls. No request arrives twice: TLS prevents that.
func (l *liveLoad) fate(*http.Request) fate {
	if l.lose.Swap(false) {
		return cutAfter
	}
	if l.calm.Load() {
		return passes
	}
	shares := []fate{
		cutBefore, cutBefore, cutAmid, cutAmid, cutAfter, cutAfter, cutAfter, cutAfter, truncates, truncates, truncates,
		late, late, late, repeats, repeats, repeats, diesBefore, diesAfter,
	}
	if programtest.Soak() {
		shares = append(shares, swaps, swaps, swaps, swaps, swaps)
	}
	if n := l.roll(4 * len(shares)); n < len(shares) {
		return shares[n]
	}
	return passes
}

// die ends the first standalone if it runs.
func (l *liveLoad) die() {
	if p := l.alive.Swap(nil); p != nil {
		p.Kill()
		l.deaths.Add(1)
		l.dead <- struct{}{}
	}
}

// run starts a standalone on the steered clock.
func (l *liveLoad) run(t *testing.T, dir string) *process {
	t.Helper()
	return startSteered(t, l.clock, dir, "--log", "error")
}

func startLive(t *testing.T, kind string, rng *rand.Rand) *liveLoad {
	t.Helper()
	l := &liveLoad{kind: kind, clock: fleet.NewClock(t), dead: make(chan struct{}, 1), rng: rng}
	up := l.run(t, t.TempDir())
	l.dir = t.TempDir()
	l.restart(t)
	l.upstream, l.live = merchantOf(t, up), merchantOf(t, l.process)
	l.live.key = l.process.Keys.SKLive
	l.wire = startRelay(t, up.HTTP)
	l.wire.fate, l.wire.die = l.fate, l.die
	l.calm.Store(true)
	l.addAccount(t, kind, l.wire.base, up)
	l.calm.Store(false)
	return l
}

// restart starts the first standalone.
func (l *liveLoad) restart(t *testing.T) {
	t.Helper()
	l.process = l.run(t, l.dir)
	l.alive.Store(l.process)
}

// livePayment is a payment of a client with its steps. The first call makes the payment.
type livePayment struct {
	plan, reference string
	amount          int64
	id              string // "" until it is acknowledged
	calls           []*liveCall
	wrong           string
}

// liveCall is a request under an idempotency key.
type liveCall struct {
	step, key, path, body string
	done                  bool // it has an outcome
	response              response
}

// acknowledged reports whether the client has a success.
func (c *liveCall) acknowledged() bool { return c.done && c.response.status/100 == 2 }

// try sends a call once. It reports whether the response is an outcome.
func (l *liveLoad) try(ctx context.Context, c *liveCall) bool {
	p := l.alive.Load()
	if p == nil {
		return false
	}
	to := merchant{base: p.HTTP, key: l.live.key, http: l.live.http}
	got, err := to.do(ctx, http.MethodPost, c.path, c.key, c.body)
	if err != nil || got.status >= 500 || got.status == http.StatusTooManyRequests ||
		got.status == http.StatusConflict && strings.Contains(got.body, "idempotency_key_in_use") {
		return false
	}
	c.done, c.response = true, got
	return true
}

// send retries a call until it has an outcome, or stays unknown for long.
func (l *liveLoad) send(ctx context.Context, c *liveCall) {
	for tries := 0; tries < liveTries && !l.try(ctx, c); {
		if l.alive.Load() != nil {
			tries++
		}
		<-time.After(50 * time.Millisecond) // the pause of a client
	}
}

// pay adds the call that makes the payment.
func (x *livePayment) pay() *liveCall {
	pay := &liveCall{step: "pay", key: x.reference, path: "/v1/transactions", body: fmt.Sprintf(
		`{"amount":%d,"currency":"usd","capture":%q,"reference":%q,"payment_method":"card",`+
			`"card":{"number":"4111111111111111","exp_month":12,"exp_year":2031,"cvc":"123"}}`,
		x.amount, livePlans[x.plan][0], x.reference)}
	x.calls = append(x.calls, pay)
	return pay
}

// live makes the payment and its steps until one stays unknown or is refused.
func (x *livePayment) live(ctx context.Context, l *liveLoad) {
	steps, pay := livePlans[x.plan], x.pay()
	l.send(ctx, pay)
	for _, step := range steps[1:] {
		if !x.learn() {
			return
		}
		if step == "settle" {
			l.settle(ctx, x)
			continue
		}
		at := liveSteps[step]
		c := &liveCall{
			step: step, key: x.reference + "/" + step,
			path: strings.ReplaceAll(at[0], "{id}", x.id), body: strings.ReplaceAll(at[1], "{id}", x.id),
		}
		x.calls = append(x.calls, c)
		l.send(ctx, c)
	}
	x.learn()
}

// learn reads the payment's id. It reports whether the last call succeeded.
func (x *livePayment) learn() bool {
	last := x.calls[len(x.calls)-1]
	if !last.acknowledged() {
		return false
	}
	if x.id == "" {
		_, rest, _ := strings.Cut(last.response.body, `"id":"`)
		x.id, _, _ = strings.Cut(rest, `"`)
	}
	return x.id != ""
}

// settle settles the upstream's payment: only then it can be refunded.
func (l *liveLoad) settle(ctx context.Context, x *livePayment) {
	got, err := l.upstream.do(ctx, http.MethodGet, "/v1/transactions?limit=100", "", "")
	var list v1.TransactionList
	if err == nil {
		err = json.Unmarshal([]byte(got.body), &list)
	}
	if err != nil {
		x.wrong = "settle: " + err.Error()
		return
	}
	for _, up := range list.Data {
		if nameOf(&up) == x.reference {
			_, err = l.upstream.do(ctx, http.MethodPost, "/v1/test_helpers/transactions/"+up.ID+"/settle", "", "")
		}
	}
	if err != nil {
		x.wrong = "settle: " + err.Error()
	}
}

// nameOf returns our reference of an upstream payment. provider-a has it as the description.
func nameOf(up *v1.Transaction) string {
	if d := v1.Text(up.Description); d != "" {
		return d
	}
	return v1.Text(up.Reference)
}

// round lets all clients send, and restarts the standalone after each death.
func (l *liveLoad) round(t *testing.T, n int) {
	t.Helper()
	l.calm.Store(false)
	plans := slices.Sorted(maps.Keys(livePlans)) // a fixed order for the seed
	var round []*livePayment
	for i := range liveClients * livePayments {
		round = append(round, &livePayment{
			plan: plans[l.roll(len(plans))], reference: fmt.Sprintf("L%d-%d", n, i), amount: int64(1000 + 500*l.roll(2)),
		})
	}
	l.all = append(l.all, round...)
	var clients sync.WaitGroup
	for mine := range slices.Chunk(round, livePayments) {
		clients.Go(func() {
			for _, x := range mine {
				x.live(t.Context(), l)
			}
		})
	}
	over := make(chan struct{})
	go func() { clients.Wait(); close(over) }()
	for running := true; running; {
		select {
		case <-l.dead:
			l.restart(t)
		case <-over:
			running = false
		}
	}
	l.calm.Store(true)
	if l.alive.Load() == nil { // recovery's call died
		<-l.dead
		l.restart(t)
	}
	l.wire.late.Wait()
	l.recover(t)
	l.judge(t)
}

// openStep is a line of core steps list.
type openStep struct {
	attempts, next string
}

// open returns the open steps of live mode by their names.
func (l *liveLoad) open(t *testing.T) map[string]openStep {
	t.Helper()
	text := programtest.MustOutput(t, programtest.Command{
		Path: filepath.Join(bin, "core"),
		Args: []string{"steps", "list", "--data", filepath.Join(l.dir, "core"), "--limit", "10000"},
	})
	out := map[string]openStep{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) > 10 && f[4] == string(v1.ModeLive) {
			out[f[0]] = openStep{attempts: f[9], next: f[10]}
		}
	}
	return out
}

// recover moves the clock over the pauses of recovery until it has tried each open step again. The
// provider-b connector undoes a lost request a minute after its tag. In the end the clients retry
// their calls without an outcome.
func (l *liveLoad) recover(t *testing.T) {
	t.Helper()
	for range 2 {
		l.clock.Advance(t, 16*time.Minute)
		before := l.open(t)
		programtest.WaitWithin(t, 2*patience, "recovery tried each open step", func() bool {
			l.clock.Advance(t, 6*time.Second) // over the pauses of the gate
			now := l.open(t)
			for name, step := range before {
				if is, open := now[name]; open && (is.attempts == step.attempts || is.next == "running") {
					return false
				}
			}
			return true
		})
	}
	for _, x := range l.all {
		if last := x.calls[len(x.calls)-1]; !last.done {
			l.try(t.Context(), last)
			x.learn()
		}
	}
}

// transactionsOf returns the names of the transactions that have an open step.
func (l *liveLoad) transactionsOf(t *testing.T, steps map[string]openStep) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for name := range steps {
		text := programtest.MustOutput(t, programtest.Command{
			Path: filepath.Join(bin, "core"), Args: []string{"steps", "show", name, "--data", filepath.Join(l.dir, "core")},
		})
		for line := range strings.Lines(text) {
			if f := strings.Fields(line); len(f) == 2 && f[0] == "transaction" {
				out[f[1]] = true
			}
		}
	}
	return out
}

// money is the state of a payment that must be equal at both ends.
type money struct {
	authorized, captured, refunded int64
	voided                         bool
}

// moneyOf returns the money of a payment. A payment that holds none is the zero money.
func moneyOf(x *v1.Transaction) money {
	if x.Status == v1.TransactionStatusVoided || x.Status == v1.TransactionStatusDeclined {
		return money{}
	}
	return money{authorized: x.AmountAuthorized, captured: x.AmountCaptured, refunded: x.AmountRefunded}
}

// judge compares both ends.
func (l *liveLoad) judge(t *testing.T) {
	t.Helper()
	l.live.base = l.process.HTTP
	open := l.transactionsOf(t, l.open(t))
	ours, ups := map[string][]v1.Transaction{}, map[string][]v1.Transaction{}
	for _, x := range l.live.transactions(t) {
		ours[v1.Text(x.Reference)] = append(ours[v1.Text(x.Reference)], x)
	}
	for _, x := range l.upstream.transactions(t) {
		ups[nameOf(&x)] = append(ups[nameOf(&x)], x)
	}
	for _, x := range l.all {
		for _, wrong := range x.judge(l.kind, ours[x.reference], ups[x.reference], open) {
			t.Errorf("%s %s (%s): %s; here %s; upstream %s; %s", x.plan, x.reference, x.id, wrong,
				inShort(ours[x.reference]), inShort(ups[x.reference]), x.history())
		}
		delete(ours, x.reference)
		delete(ups, x.reference)
	}
	for _, left := range []map[string][]v1.Transaction{ours, ups} {
		for reference := range left {
			t.Errorf("a payment that no client has made: %q", reference)
		}
	}
	if t.Failed() {
		t.Logf("stderr of the last process: %s", l.process.Log)
	}
}

func inShort(all []v1.Transaction) string {
	var out []string
	for _, x := range all {
		out = append(out, fmt.Sprintf("%s %d/%d/%d", x.Status, x.AmountAuthorized, x.AmountCaptured, x.AmountRefunded))
	}
	return fmt.Sprintf("%q", out)
}

// judge returns the faults of a payment. If a lost payment is released, its key is free again,
// and a retry makes another one.
func (x *livePayment) judge(kind string, ours, ups []v1.Transaction, open map[string]bool) (wrong []string) {
	if x.wrong != "" {
		wrong = append(wrong, x.wrong)
	}
	here, has := holding(ours)
	there, held := holding(ups)
	if len(has) > 1 {
		wrong = append(wrong, "charged twice here")
	}
	if len(held) > 1 {
		wrong = append(wrong, "charged twice upstream")
	}
	if slices.ContainsFunc(ours, func(is v1.Transaction) bool { return open[is.ID] }) {
		return wrong
	}
	last := x.calls[len(x.calls)-1]
	switch {
	case !last.done:
		wrong = append(wrong, last.step+" has no outcome, and no step is open")
	case here != there && !x.undone(kind, here, there):
		wrong = append(wrong, "the money differs")
	}
	if !x.calls[0].acknowledged() {
		return wrong
	}
	i := slices.IndexFunc(ours, func(is v1.Transaction) bool { return is.ID == x.id })
	if i < 0 {
		return append(wrong, "it is lost here")
	}
	return append(wrong, x.unkept(&ours[i])...)
}

// undone reports whether a lost capture was undone. The void of a capture at the upstream's
// provider-b also releases the authorization, which the first standalone still shows.
func (x *livePayment) undone(kind string, here, there money) bool {
	last := x.calls[len(x.calls)-1]
	return kind == "provider-b" && there == (money{}) && here == (money{authorized: x.amount}) && !last.acknowledged() &&
		(last.step == "capture" || last.step == "part")
}

// holding returns the payments that hold money, and the money of the last one.
func holding(all []v1.Transaction) (last money, found []v1.Transaction) {
	for _, one := range all {
		if m := moneyOf(&one); m != (money{}) {
			last, found = m, append(found, one)
		}
	}
	return last, found
}

// unkept returns the acknowledged calls whose effect the payment does not have, and the effects
// without one.
func (x *livePayment) unkept(is *v1.Transaction) (wrong []string) {
	var want money
	for _, c := range x.calls {
		if !c.acknowledged() {
			continue
		}
		switch c.step {
		case "pay":
			want.authorized = x.amount
			if livePlans[x.plan][0] == "automatic" {
				want.captured = x.amount
			}
		case "capture":
			want.captured = x.amount
		case "part":
			want.captured = 500
		case "refund":
			want.refunded = 250
		case "void":
			want = money{voided: true}
		}
	}
	got := moneyOf(is)
	got.voided = want.voided && is.Status == v1.TransactionStatusVoided
	if got != want {
		wrong = append(wrong, fmt.Sprintf("here it has %+v, acknowledged was %+v", got, want))
	}
	return wrong
}

// history returns the outcomes of the calls.
func (x *livePayment) history() string {
	var out []string
	for _, c := range x.calls {
		out = append(out, fmt.Sprintf("%s: %d %.200s", c.step, c.response.status, c.response.body))
	}
	return strings.Join(out, "; ")
}

// TestLiveLost breaks the wire between an account and its provider in all ways, and kills the
// process meanwhile. The clients retry under their keys. In the end both have the same money, and
// each payment without an outcome has an open step.
func TestLiveLost(t *testing.T) {
	t.Parallel()
	rounds, seed := crash.Rounds(t, liveRounds), crash.Seed(t)
	t.Logf("CAUSEWAY_CRASH_SEED=%d", seed)
	for _, kind := range slices.Sorted(maps.Keys(liveKinds)) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, uint64(kind[len(kind)-1])))
			for first := 0; first < rounds && !t.Failed(); first += liveTogether {
				l := startLive(t, kind, rng)
				for n := first; n < min(rounds, first+liveTogether) && !t.Failed(); n++ {
					l.round(t, n)
				}
				l.report(t)
			}
		})
	}
}

// TestLostResponsesBecomeKnown: the connector of provider-a finds a payment whose response was lost
// in the lists of its account, whether it has settled meanwhile or not. Then the client's retry has
// the outcome, and no step is open.
func TestLostResponsesBecomeKnown(t *testing.T) {
	t.Parallel()
	l := startLive(t, "provider-a", rand.New(rand.NewPCG(1, 1)))
	l.calm.Store(true)
	for plan, settles := range map[string]bool{"sale": false, "held": false, "settled sale": true} {
		x := &livePayment{plan: strings.TrimPrefix(plan, "settled "), reference: plan, amount: 1000}
		l.all = append(l.all, x)
		pay := x.pay()
		l.lose.Store(true)
		if l.try(t.Context(), pay) {
			t.Errorf("%s: got %+v, want no outcome", plan, pay.response)
		}
		if settles {
			l.settle(t.Context(), x)
		}
		l.send(t.Context(), pay)
		x.learn()
	}
	l.recover(t)
	for _, x := range l.all {
		if !x.calls[0].acknowledged() {
			t.Errorf("%s: got %+v, want the outcome", x.reference, x.calls[0].response)
		}
	}
	if open := l.open(t); len(open) != 0 {
		t.Errorf("open steps: %v", open)
	}
	l.judge(t)
}

// report logs the load, and stops the processes.
func (l *liveLoad) report(t *testing.T) {
	t.Helper()
	acknowledged, unknown, refused := 0, 0, 0
	for _, x := range l.all {
		for _, c := range x.calls {
			switch {
			case c.acknowledged():
				acknowledged++
			case c.done:
				refused++
			default:
				unknown++
			}
		}
	}
	if acknowledged == 0 || l.wire.broken.Load() == 0 {
		t.Error("nothing was acknowledged or nothing was broken, so nothing was shown")
	}
	t.Logf("%d payments, %d calls acknowledged, %d refused, %d without an outcome; %d calls broken, %d deaths",
		len(l.all), acknowledged, refused, unknown, l.wire.broken.Load(), l.deaths.Load())
}
