package engine

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

const (
	// laneWidth is how many steps of one lane are tried at a time, laneQueue how many wait in it,
	// queueTotal how many in all lanes.
	laneWidth, laneQueue, queueTotal = 8, 256, 4096
	// acquirerSlots is how many steps are tried at one acquirer at a time; releaseSlots are beside
	// them, for pending reversals alone.
	acquirerSlots, releaseSlots = 128, 32
	// laneFailures is after how many failures in a row a lane is tried that many steps a pass, one
	// after the other.
	laneFailures = 3
	// gateFailures is after how many failures in a row, over all lanes, an acquirer gets only
	// gateProbes steps a pass, with pauses between.
	gateFailures, gateProbes = 32, 64
	// firstPause and longestPause bound the pauses of such an acquirer.
	firstPause, longestPause = 500 * time.Millisecond, 5 * time.Second
	// errorBytes is how much of an error an attempt keeps.
	errorBytes = 300
)

// errSkipped: no attempt was made, because the step has ended or another core is trying it.
var errSkipped = errors.New("engine: no attempt")

// laneKey names a lane: the unfinished steps of one kind of a tenant. Steps that fail delay no
// other kind and no other tenant.
type laneKey struct {
	tenant payment.Tenant
	step   Step
}

// lane is the queue of a laneKey. It exists while it has steps.
type lane struct {
	due      []offered // found by this pass
	queue    []task
	workers  int
	failures int // in a row
}

// offered is a step that is due, with the time from which its next attempt may begin: the zero time
// if it was never tried.
type offered struct {
	task
	nextAt time.Time
}

// width is how many steps may be tried at a time.
func (l *lane) width() int {
	if l.failures >= laneFailures {
		return 1
	}
	return laneWidth
}

// room is how many steps a pass may queue. share is what the acquirer's gate leaves for each lane
// that fails.
func (l *lane) room(share int) int {
	if l.failures >= laneFailures {
		return max(laneFailures, share) - len(l.queue)
	}
	return laneQueue - len(l.queue)
}

// gate bounds the requests to one acquirer. All but the channels are guarded by Recovery.mu.
type gate struct {
	slots, releases chan struct{}
	failures        int // in a row, over all lanes
	pauses          int // in a row
	next            time.Time
	left            int // how many more steps this pass may queue
	lanes           int // how many lanes this pass has found steps of
}

func newGate() *gate {
	return &gate{slots: make(chan struct{}, acquirerSlots), releases: make(chan struct{}, releaseSlots)}
}

// beginPass sets how many steps the acquirer may get in a pass. paused is the pause that begins, 0 for
// none.
func (g *gate) beginPass(now time.Time) (paused time.Duration) {
	g.left, g.lanes = queueTotal, 0
	if g.failures < gateFailures {
		g.pauses, g.next = 0, time.Time{}
		return 0
	}
	if wait := g.next.Sub(now); 0 < wait && wait <= longestPause { // a longer one was set by a clock that was wrong
		g.left = 0
		return 0
	}
	pause := min(firstPause<<min(g.pauses, 10), longestPause)
	g.left, g.pauses, g.next = gateProbes, g.pauses+1, now.Add(pause)
	return pause
}

// beginPass removes the lanes without steps and sets how many steps each acquirer may get.
func (r *Recovery) beginPass(ctx context.Context, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, l := range r.queues {
		if l.workers == 0 && len(l.queue) == 0 && len(l.due) == 0 && r.gates[k.tenant.Live].left > 0 {
			delete(r.queues, k)
		}
		l.due = nil
	}
	maps.DeleteFunc(r.refused, func(_ stepKey, at time.Time) bool { return now.Sub(at).Abs() >= refusedPause })
	for live, g := range r.gates {
		if pause := g.beginPass(now); pause > 0 {
			r.e.Log.WarnContext(ctx, "reconcile: the acquirer finishes no step", slog.Bool("live", live),
				slog.Int("failures", g.failures), slog.Duration("pause", pause))
		}
	}
}

// share is how many steps each failing lane may queue in a pass while the acquirer finishes no step.
// The lanes divide gateProbes equally. It returns 0 for an acquirer that finishes steps.
func (g *gate) share() int {
	if g.failures < gateFailures {
		return 0
	}
	return gateProbes / max(1, g.lanes)
}

// offer adds a step to its lane if it is due. A pass reads a bounded number of steps, so a lane has
// no more.
func (r *Recovery) offer(t task, a payment.StepAttempt, now time.Time) {
	if !t.mine {
		return
	}
	if _, err := r.e.acquirer(t.tenant); err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key, g := keyOf(t.id), r.gates[t.tenant.Live]
	if g.left == 0 || r.known[key] || !r.due(key, a, now) {
		return
	}
	k := laneKey{t.tenant, t.step}
	l := r.queues[k]
	if l == nil {
		l = &lane{}
		r.queues[k] = l
	}
	if len(l.due) == 0 {
		g.lanes++
	}
	l.due = append(l.due, offered{t, a.NextAt})
}

// due reports whether it is time for an attempt. The start tries each step once, whatever its pause
// is.
func (r *Recovery) due(key stepKey, last payment.StepAttempt, now time.Time) bool {
	age := now.Sub(last.BegunAt)
	switch {
	case r.tried != nil:
		return !r.tried[key]
	case now.Sub(r.refused[key]).Abs() < refusedPause:
		return false
	case last.Attempts == 0 || age < -aheadTolerance: // a clock that was wrong wrote it
		return true
	case last.Running && age < Patience:
		return false
	}
	return !now.Before(last.NextAt)
}

// start queues what the pass has found and lets workers try it, pending reversals first. It returns
// how many lanes it has added to.
func (r *Recovery) start(ctx context.Context) (started int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, releases := range []bool{true, false} {
		for k, l := range r.queues {
			if (k.step == StepReversal) != releases {
				continue
			}
			if r.enqueue(l, r.gates[k.tenant.Live]) {
				started++
			}
			for n := min(l.width(), l.workers+len(l.queue)) - l.workers; n > 0; n-- {
				l.workers++
				r.addWorker()
				go func() { defer r.removeWorker(); r.work(ctx, k, l) }()
			}
		}
	}
	return started
}

// addWorker counts a worker, under r.mu. A WaitGroup cannot: a start that has given up would still
// wait for it while later passes add to it.
func (r *Recovery) addWorker() {
	if r.active == 0 {
		r.idle = make(chan struct{})
	}
	r.active++
}

func (r *Recovery) removeWorker() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.active--; r.active == 0 {
		close(r.idle)
	}
}

// noWorkers returns a channel that is closed once the present workers, and those that begin before
// they have ended, have ended.
func (r *Recovery) noWorkers() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.idle
}

// enqueue queues as many of a lane's due steps as there is room for: first the steps that were never
// tried, then those due for longest. A later pass offers the rest again.
func (r *Recovery) enqueue(l *lane, g *gate) bool {
	n := min(l.room(g.share()), g.left, queueTotal-r.queued, len(l.due))
	if n <= 0 {
		return false
	}
	slices.SortStableFunc(l.due, func(a, b offered) int { return a.nextAt.Compare(b.nextAt) })
	for _, o := range l.due[:n] {
		l.queue = append(l.queue, o.task)
		r.known[keyOf(o.id)] = true
	}
	g.left -= n
	r.queued += n
	return true
}

// work tries the steps of a lane one after the other until none is queued.
func (r *Recovery) work(ctx context.Context, k laneKey, l *lane) {
	g := r.gates[k.tenant.Live]
	slots := g.slots
	if k.step == StepReversal {
		slots = g.releases
	}
	traced, span := r.e.Tracer.Pass(ctx, "recovery")
	objects, done := 0, 0
	for {
		t, ok := r.next(ctx, l)
		if !ok {
			break
		}
		slots <- struct{}{}
		err := r.try(traced, t)
		<-slots
		r.ended(t, l, g, err)
		objects++
		if err == nil {
			done++
		}
	}
	span.Int(telemetry.Objects, objects)
	span.Int(telemetry.Finished, done)
	span.End()
}

// next takes a step from a lane's queue. ok is false if the worker has to end.
func (r *Recovery) next(ctx context.Context, l *lane) (t task, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		r.drop(l)
	}
	if len(l.queue) == 0 || l.workers > l.width() {
		l.workers--
		return task{}, false
	}
	t, l.queue = l.queue[0], l.queue[1:]
	r.queued--
	return t, true
}

// drop empties a lane's queue. The next passes offer its steps again.
func (r *Recovery) drop(l *lane) {
	for _, t := range l.queue {
		delete(r.known, keyOf(t.id))
	}
	r.queued -= len(l.queue)
	l.queue = nil
}

// ended counts the result of an attempt.
func (r *Recovery) ended(t task, l *lane, g *gate, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, keyOf(t.id))
	if r.tried != nil {
		r.tried[keyOf(t.id)] = true
	}
	switch {
	case errors.Is(err, errSkipped):
	case err == nil:
		l.failures, g.failures = 0, 0
	default:
		l.failures++
		g.failures++
		if l.failures == laneFailures {
			r.drop(l)
		}
	}
}

// whyFailed is what an attempt keeps of its error.
func whyFailed(err error) string {
	text := strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\x00", ""), "")
	if len(text) <= errorBytes {
		return text
	}
	text = text[:errorBytes]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}
