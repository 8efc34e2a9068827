//go:build unix

package kill_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/test/fleet"
)

// reaper kills programs of a fleet and restarts them.
type reaper struct {
	f      *fleet.Fleet
	groups map[string]*fleet.Group
	ended  sync.WaitGroup
	over   chan struct{}
	failed chan struct{} // closed when an instance cannot be started
	fail   func()        // closes failed

	mu    sync.Mutex
	rng   *rand.Rand     // guarded by mu
	kills map[string]int // by kind of program; guarded by mu
	also  map[string]int // kills at special moments, which kills counts too; guarded by mu
}

func newReaper(t *testing.T, f *fleet.Fleet, seed uint64, groups map[string]*fleet.Group) *reaper {
	t.Helper()
	r := &reaper{
		f: f, groups: groups, over: make(chan struct{}), failed: make(chan struct{}),
		rng: rand.New(rand.NewPCG(seed, 8)), kills: map[string]int{}, also: map[string]int{},
	}
	r.fail = sync.OnceFunc(func() { close(r.failed) })
	for _, g := range groups {
		for _, i := range g.All() {
			r.ended.Go(func() { r.keep(t, i) })
		}
	}
	t.Cleanup(r.rest)
	return r
}

// rest ends the restarts; running instances continue.
func (r *reaper) rest() {
	select {
	case <-r.over:
	default:
		close(r.over)
	}
	r.ended.Wait()
}

// load returns the context of a load on the fleet, which ends once an instance cannot be started.
func (r *reaper) load(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	r.ended.Go(func() {
		select {
		case <-r.failed:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, cancel
}

// roll returns a random number below n.
func (r *reaper) roll(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rng.IntN(n)
}

func (r *reaper) count(what map[string]int, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	what[name]++
}

// keep restarts an instance after each end, as a supervisor does: after a while. Sometimes it kills
// the instance again during the start. An instance that cannot be started fails the test.
func (r *reaper) keep(t *testing.T, i *fleet.Instance) {
	t.Helper()
	for {
		select {
		case <-i.Ended():
		case <-r.over:
			return
		}
		<-time.After(time.Duration(r.roll(1500)) * time.Millisecond)
		if err := i.Launch(); err != nil {
			t.Error(err)
			r.fail()
			return
		}
		if r.roll(4) == 0 {
			<-time.After(time.Duration(r.roll(120)) * time.Millisecond) // a random moment of the start
			r.count(r.also, "while it was starting")
			i.Kill()
		}
	}
}

// strike kills one to three random instances at the same time, sometimes the leader.
func (r *reaper) strike(t *testing.T) {
	t.Helper()
	names := slices.Sorted(maps.Keys(r.groups))
	killed := map[*fleet.Instance]string{}
	for range 1 + r.roll(3) {
		name := names[r.roll(len(names))]
		all := r.groups[name].All()
		killed[all[r.roll(len(all))]] = name
	}
	if r.roll(3) == 0 {
		if leader := r.f.Leader(t.Context()); leader != nil {
			killed[leader] = "core"
			r.count(r.also, "the leader")
		}
	}
	if !r.allServe(t.Context()) {
		r.count(r.also, "while another was down")
	}
	var gone sync.WaitGroup
	for i, name := range killed {
		r.count(r.kills, name)
		gone.Go(i.Kill)
	}
	gone.Wait()
}

// allServe reports whether all instances accept connections.
func (r *reaper) allServe(ctx context.Context) bool {
	for _, g := range r.groups {
		for _, i := range g.All() {
			if !i.Serves(ctx) {
				return false
			}
		}
	}
	return true
}

func (r *reaper) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	total := 0
	for _, name := range slices.Sorted(maps.Keys(r.kills)) {
		total += r.kills[name]
		out = append(out, fmt.Sprintf("%s %d", name, r.kills[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(r.also)) {
		out = append(out, fmt.Sprintf("%s %d", name, r.also[name]))
	}
	return fmt.Sprintf("%d kills (%s)", total, strings.Join(out, ", "))
}
