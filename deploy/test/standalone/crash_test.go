package standalone_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/test/crash"
)

// crashRounds is how many times TestKillOverAllCommands kills the process; CAUSEWAY_CRASH_ROUNDS says otherwise.
const crashRounds = 8

// crashRoundsOf is how many rounds CAUSEWAY_CRASH_ROUNDS asks for.
func crashRoundsOf(t *testing.T) int {
	t.Helper()
	text := os.Getenv("CAUSEWAY_CRASH_ROUNDS")
	if text == "" {
		return crashRounds
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("CAUSEWAY_CRASH_ROUNDS: %v", err)
	}
	return n
}

// hurried is the folder of a simulator that is slow, and fails to answer, for fractions of a second.
func hurried(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "configs", "simulator.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`delay_ms: 30000`).ReplaceAll(text, []byte("delay_ms: 150"))
	text = regexp.MustCompile(`delay_ms: 5000`).ReplaceAll(text, []byte("delay_ms: 60"))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "simulator.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// crashSeed is CAUSEWAY_CRASH_SEED, or a new one.
func crashSeed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("CAUSEWAY_CRASH_SEED")
	if text == "" {
		return rand.Uint64()
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("CAUSEWAY_CRASH_SEED: %v", err)
	}
	return seed
}

// ordeal is a service that is killed over and over.
type ordeal struct {
	dir  string
	args []string
	rng  *rand.Rand
	h    *crash.Harness
	p    *process

	early int // kills while the service was starting
	twice int // kills while clients asked again
}

// restart brings the process back, and at times kills it while it recovers.
func (o *ordeal) restart(t *testing.T) {
	t.Helper()
	for o.rng.IntN(3) == 0 {
		p := launch(t, append([]string{"--json", "--data", o.dir, "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0", "--rate-limit", "0"}, o.args...)...)
		<-time.After(time.Duration(o.rng.IntN(120)) * time.Millisecond) // the moment of the kill
		p.Kill()
		o.early++
	}
	o.p = start(t, o.dir, o.args...)
	o.h.Attach(o.p.HTTP)
}

// round kills the process under load, and judges what is left.
func (o *ordeal) round(t *testing.T, n int) {
	t.Helper()
	ctx := t.Context()
	at, before := 1+o.rng.IntN(450), o.rng.IntN(2) == 0
	p := o.p
	o.h.Load(ctx, n, at, before, func() { p.Signal(syscall.SIGKILL) }) // it cannot be gone before
	p.Kill()
	o.restart(t)
	if o.rng.IntN(3) == 0 { // what is asked again may be lost again
		p := o.p
		o.h.RecoverInVain(ctx, 1+o.rng.IntN(12), func() { p.Signal(syscall.SIGKILL) })
		p.Kill()
		o.restart(t)
		o.twice++
	}
	if err := o.h.Recover(ctx); err != nil {
		t.Errorf("round %d: %v", n, err)
	}
	o.found(t, n, func() ([]string, error) { return o.h.Judge(ctx, o.dir) })
	o.found(t, n, func() ([]string, error) { return o.h.Overlap(ctx, n) })
	if err := o.h.Clear(ctx); err != nil {
		t.Error(err)
	}
	if t.Failed() {
		t.Fatalf("round %d, killed at request %d (before it: %v); stderr:\n%s", n, at, before, o.p.Log)
	}
}

// found reports what a look found.
func (o *ordeal) found(t *testing.T, n int, look func() ([]string, error)) {
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

// TestKillOverAllCommands kills the process while clients use every command of v1 that writes, with and without keys, and while it recovers.
// Nothing may be lost, nothing done twice, nothing left open; see package crash for what that means.
func TestKillOverAllCommands(t *testing.T) {
	t.Parallel()
	rounds, seed := crashRoundsOf(t), crashSeed(t)
	t.Logf("CAUSEWAY_CRASH_SEED=%d", seed)
	o := &ordeal{dir: t.TempDir(), args: []string{"--log", "error", allowPrivate, "--configs", hurried(t)}, rng: rand.New(rand.NewPCG(seed, 1))}
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
	o.found(t, rounds, func() ([]string, error) { return h.Delivered(t.Context()) })
	o.found(t, rounds, func() ([]string, error) { return h.JudgeAll(t.Context(), o.dir) })
	o.p.Stop(t)
	if whole, err := crash.Integrity(t.Context(), o.dir); err != nil || whole != "ok" {
		t.Errorf("integrity: %s, %v", whole, err)
	}
	f := h.Figures()
	t.Logf("%d rounds, %d more kills while starting and %d while clients asked again: %s", rounds, o.early, o.twice, f)
	if f.Lost == 0 || f.Stood == 0 || f.Again == 0 {
		t.Error("no crash took an answer whose effect stood, or none whose effect did not: the load does not test what it should")
	}
	if missing := f.Missing(); rounds >= crashRounds && len(missing) > 0 {
		t.Errorf("never acknowledged: %s", strings.Join(missing, ", "))
	}
}
