//go:build unix

package hostile_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/test/crash"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// round is one arrangement, from its first payment to the comparison of the books.
type round struct {
	*arrangement
	rng           *rand.Rand
	h             *crash.Harness
	calm, hostile string        // the simulator's catalogue
	idle          time.Duration // the longest time for which cores recover without load
}

func newRound(t *testing.T, cores int, seed uint64) *round {
	t.Helper()
	r := &round{arrangement: arrange(t, cores), rng: rand.New(rand.NewPCG(seed, 3)), idle: 1200 * time.Millisecond}
	if r.several() {
		r.idle = 8 * time.Second // another core claims the operations of a dead core after five heartbeats
	}
	_, r.calm, r.hostile = crash.Catalogues(t)
	merchant := r.run(t, "merchants", "create", "Harness")
	r.run(t, "merchants", "update", merchant, "--unlinked-refunds", "on")
	var err error
	r.h, err = crash.New(seed, crash.Keys{
		Secret:      r.run(t, "keys", "create", "--merchant", merchant),
		Publishable: r.run(t, "keys", "create", "--merchant", merchant, "--kind", "publishable"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.h.Close)
	r.h.AllowCredits()
	r.h.Attach(r.urls()...)
	return r
}

// upTo returns a random duration below most.
func upTo(rng *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(most)))
}

func pause(d time.Duration) { <-time.After(d) }

// jump moves all clocks ahead or back by less than most, in half of the calls.
func (r *round) jump(t *testing.T, rng *rand.Rand, most time.Duration) {
	t.Helper()
	if rng.IntN(2) == 0 {
		r.setClock(t, r.offset+upTo(rng, 2*most)-most)
	}
}

// part moves the clock of the server, of all cores or of one core, and moves it back after a while.
// The move is up to 25 hours ahead or back, and every second time exactly 25 hours. If a clock is a
// day ahead, every idempotency key has expired.
func (r *round) part(t *testing.T, rng *rand.Rand) {
	t.Helper()
	by := upTo(rng, 50*time.Hour) - 25*time.Hour
	if rng.IntN(2) == 0 {
		by = 25 * time.Hour * time.Duration(1-2*rng.IntN(2))
	}
	moved := r.cores
	switch rng.IntN(3) {
	case 0:
		r.server.SetClock(t, r.offset+by)
		moved = nil
	case 1:
		n := rng.IntN(len(moved))
		moved = moved[n : n+1]
	default:
	}
	for _, p := range moved {
		mustReplace(t, p.clock, (r.offset + by).String())
	}
	pause(upTo(rng, 2500*time.Millisecond))
	r.setClock(t, r.offset)
}

// disturb moves clocks and kills cores at random moments while clients pay.
func (r *round) disturb(t *testing.T, rng *rand.Rand) {
	t.Helper()
	pause(upTo(rng, 400*time.Millisecond))
	r.jump(t, rng, 3*time.Hour)
	if !r.several() {
		return
	}
	if rng.IntN(2) == 0 {
		r.part(t, rng)
	}
	if rng.IntN(2) == 0 { // a core dies and is restarted while the others serve
		p := r.cores[rng.IntN(len(r.cores))]
		p.kill()
		pause(upTo(rng, 200*time.Millisecond))
		r.launch(t, p)
	}
}

// disturbed runs fn and disturb concurrently, and returns when both have ended.
func (r *round) disturbed(t *testing.T, fn func()) {
	t.Helper()
	rng := rand.New(rand.NewPCG(r.rng.Uint64(), 4))
	var running sync.WaitGroup
	running.Go(func() { r.disturb(t, rng) })
	fn()
	running.Wait()
}

// load lets clients pay until some cores are killed at a random request. If a core still runs, the
// load continues for a random time.
func (r *round) load(t *testing.T, n int) {
	t.Helper()
	// If the clocks differ, the request may never come.
	ctx, over := context.WithTimeout(t.Context(), 20*time.Second)
	defer over()
	at, before := 1+r.rng.IntN(400), r.rng.IntN(2) == 0
	victims := r.rng.Perm(len(r.cores))[:1+r.rng.IntN(len(r.cores))]
	survivors := upTo(r.rng, 600*time.Millisecond)
	if len(victims) == len(r.cores) {
		survivors = 0
	}
	r.disturbed(t, func() {
		r.h.Load(ctx, n, at, before, func() {
			for _, v := range victims {
				r.cores[v].kill()
			}
			time.AfterFunc(survivors, over)
		})
	})
	r.kill()
}

// suffer kills cores under load, while clients retry, and while other cores recover. Until the last
// retry the clocks move by less than the 24 hours of an idempotency key in sum, afterwards by more.
func (r *round) suffer(t *testing.T, loads int) {
	t.Helper()
	for n := range loads {
		r.start(t, r.hostile)
		r.load(t, n)
		for range 1 + r.rng.IntN(3) {
			r.jump(t, r.rng, 3*time.Hour)
			r.start(t, r.hostile)
			r.disturbed(t, func() { r.h.Retry(t.Context()) })
			r.kill()
		}
		r.h.Keep()
		r.jump(t, r.rng, 23*time.Hour)
		for r.rng.IntN(2) == 0 {
			r.start(t, r.hostile)
			pause(upTo(r.rng, r.idle))
			r.kill()
			r.jump(t, r.rng, 23*time.Hour)
		}
	}
}

// settle ends the acquirer's faults and lets time pass until nothing is unfinished. A pending
// reversal looks about 30 times, with pauses of up to an hour, before it ends.
func (r *round) settle(t *testing.T) {
	t.Helper()
	r.setClock(t, r.latest+time.Minute)
	r.start(t, r.calm)
	var left []string
	for range 80 {
		programtest.WaitFor(t, "each pending reversal has looked", func() bool {
			now := time.Now().Add(r.offset) //nolint:forbidigo // as the steered clock reads it
			due, err := r.h.Due(t.Context(), r.location, now)
			if err != nil {
				t.Fatal(err)
			}
			return due == 0
		})
		var err error
		if left, err = r.h.Unfinished(t.Context(), r.location); err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		r.setClock(t, r.latest+61*time.Minute)
	}
	t.Errorf("80 hours later: %s", strings.Join(left, ", "))
	if r.several() {
		r.logSessions(t)
	}
}

// rounds runs rounds with a number of cores: CAUSEWAY_CRASH_ROUNDS of them, or otherwise if that is
// not set.
func rounds(t *testing.T, cores int, otherwise int) {
	t.Helper()
	seed := crash.Seed(t)
	for n := range uint64(crash.Rounds(t, otherwise)) {
		t.Run(fmt.Sprintf("seed %d", seed+n), func(t *testing.T) {
			t.Parallel()
			newRound(t, cores, seed+n).complete(t, seed+n)
		})
	}
}

// complete runs the round to the comparison of the books.
func (r *round) complete(t *testing.T, seed uint64) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("core:\n%s", &r.log)
		}
	}()
	r.start(t, r.calm)
	if err := r.h.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.kill()
	r.suffer(t, 1+r.rng.IntN(3))
	r.settle(t)
	faults, err := r.h.JudgeBooks(t.Context(), r.location)
	if err != nil {
		t.Error(err)
	}
	for _, f := range faults[:min(len(faults), 20)] {
		t.Error(f)
	}
	t.Logf("CAUSEWAY_CRASH_SEED=%d, %d faults; %+v", seed, len(faults), r.h.Figures())
}

// TestHostileAcquirer: the books agree in the end, after faults of the acquirer, jumps of the clock
// and kills at the same time.
func TestHostileAcquirer(t *testing.T) {
	t.Parallel()
	rounds(t, 1, 3)
}

// TestHostileAcquirerPostgreSQL is TestHostileAcquirer with three cores on one server. The clocks
// of the server and of the cores jump together, or one without the others: then writes are refused
// until they agree.
func TestHostileAcquirerPostgreSQL(t *testing.T) {
	t.Parallel()
	rounds(t, 3, 1)
}
