package standalone_test

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/test/crash"
)

// crashRounds is the number of kills in TestKillOverAllCommands without CAUSEWAY_CRASH_ROUNDS.
const crashRounds = 4

// killing is a service that is killed repeatedly.
type killing struct {
	dir  string
	args []string
	rng  *rand.Rand
	h    *crash.Harness
	p    *process

	early int // kills while the service was starting
	twice int // kills during retries
}

// restart restarts the process, and sometimes kills it during the recovery.
func (o *killing) restart(t *testing.T) {
	t.Helper()
	for o.rng.IntN(3) == 0 {
		p := launch(t, append([]string{
			"--json", "--data", o.dir, "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0",
			"--rate-limit", "0",
		}, o.args...)...)
		<-time.After(time.Duration(o.rng.IntN(120)) * time.Millisecond) // a random moment of the start
		p.Kill()
		o.early++
	}
	o.p = start(t, o.dir, o.args...)
	o.h.Attach(o.p.HTTP)
}

// round kills the process under load, and judges the result.
func (o *killing) round(t *testing.T, n int) {
	t.Helper()
	ctx := t.Context()
	at, before := 1+o.rng.IntN(450), o.rng.IntN(2) == 0
	p := o.p
	o.h.Load(ctx, n, at, before, func() { p.Signal(syscall.SIGKILL) }) // the process runs
	p.Kill()
	o.restart(t)
	if o.rng.IntN(3) == 0 { // retries may get lost as well
		p := o.p
		o.h.RetryUntil(ctx, 1+o.rng.IntN(12), func() { p.Signal(syscall.SIGKILL) })
		p.Kill()
		o.restart(t)
		o.twice++
	}
	if err := o.h.Recover(ctx); err != nil {
		t.Errorf("round %d: %v", n, err)
	}
	o.report(t, n, func() ([]string, error) { return o.h.Judge(ctx, crash.Folder(o.dir)) })
	o.report(t, n, func() ([]string, error) { return o.h.Overlap(ctx, n) })
	if err := o.h.Clear(ctx); err != nil {
		t.Error(err)
	}
	if t.Failed() {
		t.Fatalf("round %d, killed at request %d (before it: %v); stderr:\n%s", n, at, before, o.p.Log)
	}
}

// report reports the faults that a check returns.
func (o *killing) report(t *testing.T, n int, look func() ([]string, error)) {
	t.Helper()
	faults, err := look()
	if err != nil {
		t.Errorf("round %d: %v", n, err)
	}
	for i, f := range faults {
		if i == 20 {
			t.Errorf("and %d more", len(faults)-i)
			break
		}
		t.Errorf("round %d: %s", n, f)
	}
}

// TestKillOverAllCommands kills the process while clients use every writing command of v1, with and
// without keys, and during the recovery. No effect may be lost, duplicated or unfinished; package
// crash defines that.
func TestKillOverAllCommands(t *testing.T) {
	t.Parallel()
	rounds, seed := crash.Rounds(t, crashRounds), crash.Seed(t)
	t.Logf("CAUSEWAY_CRASH_SEED=%d", seed)
	o := &killing{
		dir:  t.TempDir(),
		args: []string{"--log", "error", allowPrivate, "--configs", filepath.Dir(crash.QuickCatalogue(t))},
		rng:  rand.New(rand.NewPCG(seed, 1)),
	}
	o.p = start(t, o.dir, o.args...)
	h, err := crash.New(seed, crash.Keys{Secret: o.p.Keys.SKTest, Publishable: o.p.Keys.PKTest})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	o.h = h
	h.Attach(o.p.HTTP)
	if err := h.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n := range rounds {
		o.round(t, n)
	}
	o.report(t, rounds, func() ([]string, error) { return h.Delivered(t.Context()) })
	o.report(t, rounds, func() ([]string, error) { return h.JudgeAll(t.Context(), crash.Folder(o.dir)) })
	o.p.Stop(t)
	if whole, err := crash.Integrity(t.Context(), o.dir); err != nil || whole != "ok" {
		t.Errorf("integrity: %s, %v", whole, err)
	}
	f := h.Figures()
	t.Logf("%d rounds, %d more kills while starting and %d during retries: %+v", rounds, o.early, o.twice, f)
	reportf, why := t.Errorf, "the load does not test enough"
	if rounds <= crashRounds {
		reportf, why = t.Logf, "few rounds can omit it by chance"
	}
	if f.Lost == 0 || f.Stood == 0 || f.Again == 0 {
		reportf("no crash lost a response with an effect, or none without one: %s", why)
	}
	if missing := strings.Join(f.Missing(), ", "); missing != "" {
		reportf("never acknowledged: %s: %s", missing, why)
	}
}
