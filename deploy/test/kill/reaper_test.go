//go:build unix

package kill_test

import (
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

// reaper kills programs of a fleet, and is what brings them back.
type reaper struct {
	f      *fleet.Fleet
	groups map[string]*fleet.Group
	ended  sync.WaitGroup
	over   chan struct{}

	mu    sync.Mutex
	rng   *rand.Rand     // guarded by mu
	kills map[string]int // by kind of program; guarded by mu
	also  map[string]int // of those: at special moments; guarded by mu
}

func newReaper(t *testing.T, f *fleet.Fleet, seed uint64, groups map[string]*fleet.Group) *reaper {
	t.Helper()
	r := &reaper{
		f: f, groups: groups, over: make(chan struct{}), rng: rand.New(rand.NewPCG(seed, 8)), kills: map[string]int{}, also: map[string]int{},
	}
	for _, g := range groups {
		for _, i := range g.All() {
			r.ended.Go(func() { r.keep(t, i) })
		}
	}
	t.Cleanup(r.rest)
	return r
}

// rest is the end of it: what runs now goes on.
func (r *reaper) rest() {
	select {
	case <-r.over:
	default:
		close(r.over)
	}
	r.ended.Wait()
}

// roll throws the dice.
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

// keep brings an instance back whenever it has ended, as whatever starts programs on a machine does: after a while, and at times it dies again while it
// starts.
func (r *reaper) keep(t *testing.T, i *fleet.Instance) {
	t.Helper()
	for {
		select {
		case <-i.Ended():
		case <-r.over:
			return
		}
		<-time.After(time.Duration(r.roll(1500)) * time.Millisecond) // so long it is away
		i.Launch(t)
		if r.roll(4) == 0 {
			<-time.After(time.Duration(r.roll(120)) * time.Millisecond) // the moment of the kill
			r.count(r.also, "while it was starting")
			i.Kill()
		}
	}
}

// strike kills one to three instances at once: any, at times the leader.
func (r *reaper) strike(t *testing.T) {
	t.Helper()
	names := slices.Sorted(maps.Keys(r.groups))
	doomed := map[*fleet.Instance]string{}
	for range 1 + r.roll(3) {
		name := names[r.roll(len(names))]
		all := r.groups[name].All()
		doomed[all[r.roll(len(all))]] = name
	}
	if r.roll(3) == 0 {
		if leader := r.f.Leader(t.Context()); leader != nil {
			doomed[leader] = "core"
			r.count(r.also, "the leader")
		}
	}
	if !r.whole(t) {
		r.count(r.also, "while another was away")
	}
	var gone sync.WaitGroup
	for i, name := range doomed {
		r.count(r.kills, name)
		gone.Go(i.Kill)
	}
	gone.Wait()
}

// whole reports whether all instances run.
func (r *reaper) whole(t *testing.T) bool {
	t.Helper()
	for _, g := range r.groups {
		for _, i := range g.All() {
			if !i.Serves(t.Context()) {
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
