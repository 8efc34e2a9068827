package engine

import (
	"time"
)

const (
	// acquirerSlots is the number of concurrent attempts at one acquirer. releaseSlots is the number
	// of additional attempts at pending reversals.
	acquirerSlots, releaseSlots = 128, 32
	// queueTotal is how many steps wait in all lanes of a gate.
	queueTotal = 4096
	// After gateFailures consecutive failures over all of its lanes, a gate lets only gateProbes steps
	// a pass through, with pauses between.
	gateFailures, gateProbes = 32, 64
	// pauseProbes is how many steps of lanes without a failure a pass may queue during a pause.
	pauseProbes = 8
	// firstPause and longestPause bound the pauses of such a gate.
	firstPause, longestPause = 500 * time.Millisecond, 5 * time.Second
)

// gateKey names a gate. Each account of live mode has two, and test mode has two as account 0. So
// pending reversals that are slow or fail delay no other step, and no other step delays them. An
// account that does not respond delays no other account.
type gateKey struct {
	live     bool
	account  int64
	releases bool
}

// gate bounds the requests to one acquirer. All but the channel are guarded by lanes.mu.
type gate struct {
	slots    chan struct{}
	failures int // in a row, over all lanes
	pauses   int // in a row
	paused   bool
	next     time.Time
	queued   int // in all lanes
	left     int // the number of steps that this pass may still queue
	found    int // how many lanes this pass has found steps of
}

// newGate returns a gate for the present pass.
func newGate(releases bool) *gate {
	slots := acquirerSlots
	if releases {
		slots = releaseSlots
	}
	return &gate{slots: make(chan struct{}, slots), left: queueTotal}
}

// beginPass sets how many steps a pass may queue. It returns the pause that begins, 0 for none.
func (g *gate) beginPass(now time.Time) (paused time.Duration) {
	g.left, g.found, g.paused = queueTotal-g.queued, 0, false
	if g.failures < gateFailures {
		g.pauses, g.next = 0, time.Time{}
		return 0
	}
	if wait := g.next.Sub(now); 0 < wait && wait <= longestPause { // a longer pause was set by a wrong clock
		g.left, g.paused = min(g.left, pauseProbes), true
		return 0
	}
	pause := min(firstPause<<min(g.pauses, 10), longestPause)
	g.left, g.pauses, g.next = min(g.left, gateProbes), g.pauses+1, now.Add(pause)
	return pause
}

// share returns how many steps each failing lane may queue in a pass while the acquirer finishes no
// step. The lanes divide gateProbes equally. It returns 0 if the acquirer finishes steps.
func (g *gate) share() int {
	if g.failures < gateFailures {
		return 0
	}
	return gateProbes / max(1, g.found)
}
