//go:build unix

package hostile_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/standalone/crashtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// rounds is how many rounds run unless CAUSEWAY_CRASH_ROUNDS sets another number.
const rounds = 3

// number reads an environment variable.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// started counts the rounds of this process.
var started atomic.Int32

// round is one core with a store of its own, from its first payment to the comparison of the books.
type round struct {
	binary, folder, address string
	rng                     *rand.Rand
	h                       *crashtest.Harness
	core                    *programtest.Program
	log                     programtest.Tail
	offset, latest          time.Duration // of the clock: now, and the largest so far
}

func newRound(t *testing.T, binary string, seed uint64) *round {
	t.Helper()
	r := &round{binary: binary, folder: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 3))}
	r.setClock(t, 0)
	catalogue, err := os.ReadFile(filepath.Join("..", "..", "..", "configs", "simulator.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	calm, hostile := crashtest.Catalogues(string(catalogue))
	mustWrite(t, filepath.Join(r.folder, "calm.yaml"), calm)
	mustWrite(t, filepath.Join(r.folder, "hostile.yaml"), hostile)
	merchant := r.run(t, "merchants", "create", "Harness")
	r.run(t, "merchants", "update", merchant, "--unlinked-refunds", "on")
	r.h, err = crashtest.New(seed, crashtest.Keys{
		Secret:      r.run(t, "keys", "create", "--merchant", merchant),
		Publishable: r.run(t, "keys", "create", "--merchant", merchant, "--kind", "publishable"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.h.Close)
	r.h.AllowCredits()
	// A loopback address of its own: a port that was free a moment ago may be another round's by now.
	pid := os.Getpid()
	r.address = fmt.Sprintf("127.%d.%d.%d:18080", 64+pid>>8&0x3f, pid&0xff, started.Add(1)&0xff)
	r.h.Attach("http://" + r.address)
	return r
}

func (r *round) env() []string { return []string{"HOSTILE_CLOCK=" + filepath.Join(r.folder, "clock")} }

// setClock moves the clock of every process of the round.
func (r *round) setClock(t *testing.T, offset time.Duration) {
	t.Helper()
	r.offset, r.latest = offset, max(r.latest, offset)
	mustWrite(t, filepath.Join(r.folder, "clock"), offset.String())
}

// jump moves the clock by up to so much either way, one time in two.
func (r *round) jump(t *testing.T, most time.Duration) {
	t.Helper()
	if r.rng.IntN(2) == 0 {
		r.setClock(t, r.offset+time.Duration(r.rng.Int64N(int64(2*most)))-most)
	}
}

// run runs a command of core and returns its output.
func (r *round) run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), r.binary, append(args, "--data", filepath.Join(r.folder, "core"))...)
	cmd.Env = append(os.Environ(), r.env()...)
	cmd.Stderr = &r.log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("core %s: %v\n%s", strings.Join(args, " "), err, &r.log)
	}
	return strings.TrimSpace(string(out))
}

// start starts core with an acquirer of a mood, calm or hostile.
func (r *round) start(t *testing.T, mood string) {
	t.Helper()
	var err error
	r.core, err = programtest.Launch(&r.log, r.env(), r.binary, "serve", "--data", filepath.Join(r.folder, "core"),
		"--listen", r.address, "--rate-limit", "0", "--webhooks-allow-private",
		"--simulator", filepath.Join(r.folder, mood+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.core.Kill)
	if err := r.core.Listens(t.Context(), r.address); err != nil {
		t.Fatalf("core: %v\n%s", err, &r.log)
	}
}

// suffer has core killed under load, while clients retry, and while it recovers. Until the last retry the clock moves
// by less than the 24 hours of an idempotency key, afterwards by more.
func (r *round) suffer(t *testing.T, loads int) {
	t.Helper()
	for n := range loads {
		r.start(t, "hostile")
		at, before := 1+r.rng.IntN(400), r.rng.IntN(2) == 0
		done := make(chan struct{})
		go func() { // the clock may jump under load, too
			defer close(done)
			pause(time.Duration(r.rng.IntN(400)) * time.Millisecond)
			r.jump(t, 5*time.Hour)
		}()
		r.h.Load(t.Context(), n, at, before, r.core.Kill)
		r.core.Kill()
		<-done
		for range 1 + r.rng.IntN(3) {
			r.jump(t, 5*time.Hour)
			r.start(t, "hostile")
			r.h.Retry(t.Context())
			r.core.Kill()
		}
		r.h.Keep()
		r.jump(t, 25*time.Hour)
		for r.rng.IntN(2) == 0 {
			r.start(t, "hostile")
			pause(time.Duration(r.rng.IntN(1200)) * time.Millisecond)
			r.core.Kill()
			r.jump(t, 25*time.Hour)
		}
	}
}

func pause(d time.Duration) { <-time.After(d) }

// settle has the acquirer behave and time pass until nothing is unfinished. A pending reversal looks some 30 times, with
// pauses of up to an hour, before it ends.
func (r *round) settle(t *testing.T) {
	t.Helper()
	r.setClock(t, r.latest+time.Minute)
	r.start(t, "calm")
	var left []string
	for range 80 {
		programtest.WaitFor(t, "each pending reversal has looked", func() bool {
			due, err := r.h.Due(t.Context(), r.folder, time.Now().Add(r.offset)) //nolint:forbidigo // as the steered clock reads it
			if err != nil {
				t.Fatal(err)
			}
			return due == 0
		})
		var err error
		if left, err = r.h.Unfinished(t.Context(), r.folder); err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		r.setClock(t, r.latest+61*time.Minute)
	}
	t.Errorf("80 hours later: %s", strings.Join(left, ", "))
}

// TestHostileAcquirer: whatever the acquirer, the clock and a kill do at once, the books agree in the end.
func TestHostileAcquirer(t *testing.T) {
	t.Parallel()
	binary := buildCore(t)
	seed := number(t, "CAUSEWAY_CRASH_SEED", rand.Uint64())
	for n := range number(t, "CAUSEWAY_CRASH_ROUNDS", rounds) {
		t.Run(fmt.Sprintf("seed %d", seed+n), func(t *testing.T) {
			t.Parallel()
			r := newRound(t, binary, seed+n)
			r.start(t, "calm")
			if err := r.h.Prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.core.Kill()
			r.suffer(t, 1+r.rng.IntN(3))
			r.settle(t)
			faults, err := r.h.JudgeBooks(t.Context(), r.folder)
			if err != nil {
				t.Error(err)
			}
			for _, f := range faults[:min(len(faults), 20)] {
				t.Error(f)
			}
			t.Logf("CAUSEWAY_CRASH_SEED=%d, %d faults; %s", seed+n, len(faults), r.h.Figures())
			if t.Failed() {
				t.Logf("core:\n%s", &r.log)
			}
		})
	}
}
