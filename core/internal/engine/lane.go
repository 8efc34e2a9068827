package engine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

const (
	// laneWidth is the number of concurrent attempts in one lane. laneQueue is the number of waiting
	// steps.
	laneWidth, laneQueue = 8, 256
	// After laneFailures consecutive failures, a pass tries only that many steps of a lane, one after
	// the other.
	laneFailures = 3
	// In each lane, every retryEvery-th step to be queued is one that was tried before.
	retryEvery = 3
	// errorBytes is the length to which the stored error of an attempt is cut.
	errorBytes = 300
	// refusedPause is the pause of a step after the store refused to write an attempt.
	refusedPause = time.Minute
)

// errSkipped: no attempt was made, because the step has ended or another core is trying it.
var errSkipped = errors.New("engine: no attempt")

// task is one unfinished step.
type task struct {
	id        payment.StepID
	tenant    payment.Tenant
	since     time.Time // when it was changed last; of a reversal when it was due
	reference string    // for the log; "" for a reversal
	account   int64     // at the acquirer; 0 in test mode
	mine      bool      // no request works on it, and this core may claim it
	do        func(context.Context) error
}

// laneKey names a lane: the unfinished steps of one kind of a tenant at one account. Steps that
// fail delay no other kind, no other tenant and no other account.
type laneKey struct {
	tenant  payment.Tenant
	kind    payment.StepKind
	account int64
}

// gate returns the name of the lane's gate.
func (k laneKey) gate() gateKey {
	return gateKey{k.tenant.Live, k.account, k.kind == payment.ReversalStep}
}

// lane is the queue of a laneKey. It exists while it has steps.
type lane struct {
	gate     *gate
	due      []offered // found by this pass
	queue    []task
	queued   int // how many steps were queued so far
	workers  int
	failures int // in a row
}

// offered is a step that is due, with the time from which its next attempt may begin: the zero time
// if it was never tried.
type offered struct {
	task
	nextAt time.Time
}

// width returns how many steps may be tried at a time.
func (l *lane) width() int {
	if l.failures >= laneFailures {
		return 1
	}
	return laneWidth
}

// room returns how many steps a pass may queue. share is the part of the acquirer's gate for each
// lane that fails. While the gate pauses, only lanes without a failure have room, for a few steps:
// another tenant's failures must not delay them.
func (l *lane) room(share int) int {
	switch {
	case l.gate.paused && l.failures > 0:
		return 0
	case l.gate.paused:
		return laneFailures - len(l.queue)
	case l.failures >= laneFailures:
		return max(laneFailures, share) - len(l.queue)
	}
	return laneQueue - len(l.queue)
}

// lanes are the queues of unfinished steps and the workers that try the steps. A lane whose steps
// fail one after the other is tried a few steps a pass. If no step of a gate is finished for any
// tenant, the gate gets a few steps and then a pause.
type lanes struct {
	log    *slog.Logger
	tracer *telemetry.Tracer
	serves func(payment.Tenant) bool         // whether the tenant has an acquirer
	try    func(context.Context, task) error // makes one attempt; errSkipped for none

	mu     sync.Mutex
	queues map[laneKey]*lane // guarded by mu
	known  map[stepKey]bool  // guarded by mu: the steps that are queued or being tried
	// refused is when the store last refused to write an attempt at a step; guarded by mu.
	refused map[stepKey]time.Time
	tried   map[stepKey]bool  // guarded by mu: the steps tried by the start; nil once it serves
	gates   map[gateKey]*gate // guarded by mu: the gates of the lanes
	active  int               // guarded by mu: how many workers run
	idle    chan struct{}     // guarded by mu: of the present workers; the last one closes it
}

func newLanes(
	log *slog.Logger, tracer *telemetry.Tracer, serves func(payment.Tenant) bool, try func(context.Context, task) error,
) *lanes {
	q := &lanes{
		log: log, tracer: tracer, serves: serves, try: try,
		idle: make(chan struct{}), queues: map[laneKey]*lane{}, known: map[stepKey]bool{}, tried: map[stepKey]bool{},
		refused: map[stepKey]time.Time{}, gates: map[gateKey]*gate{},
	}
	close(q.idle)
	return q
}

// serve ends the start: from now on each step has its pauses.
func (q *lanes) serve() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tried = nil
}

// refuse postpones a step whose attempt could not be written. Without the attempt the store has no
// time of the next one.
func (q *lanes) refuse(s payment.StepID, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.refused[keyOf(s)] = at
}

// beginPass removes the lanes without steps and sets how many steps each gate may get.
func (q *lanes) beginPass(ctx context.Context, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for k, l := range q.queues {
		if l.workers == 0 && len(l.queue) == 0 && len(l.due) == 0 && !l.gate.paused {
			delete(q.queues, k)
		}
		l.due = nil
	}
	used := map[*gate]bool{}
	for _, l := range q.queues {
		used[l.gate] = true
	}
	maps.DeleteFunc(q.gates, func(_ gateKey, g *gate) bool { return !used[g] && g.failures == 0 })
	maps.DeleteFunc(q.refused, func(_ stepKey, at time.Time) bool { return now.Sub(at).Abs() >= refusedPause })
	for k, g := range q.gates {
		if pause := g.beginPass(now); pause > 0 {
			q.log.WarnContext(ctx, "recovery: the acquirer completes no step, so recovery pauses", slog.String("account", accountName(k.account)),
				slog.Bool("reversals", k.releases), slog.Int("failures", g.failures), slog.Duration("pause", pause))
		}
	}
}

// offer adds a step to its lane if it is due. A pass reads a bounded number of steps, so a lane has
// no more.
func (q *lanes) offer(t task, a payment.StepAttempt, now time.Time) {
	if !t.mine || !q.serves(t.tenant) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if a.BegunAt.Sub(now) > store.ClockSlack { // a wrong clock wrote it
		a = payment.StepAttempt{}
	}
	key, k := keyOf(t.id), laneKey{t.tenant, t.id.Kind, t.account}
	g := q.gates[k.gate()]
	if g == nil {
		g = newGate(k.gate().releases)
		q.gates[k.gate()] = g
	}
	if g.left == 0 || q.known[key] || !q.due(key, a, now) {
		return
	}
	l := q.queues[k]
	if l == nil {
		l = &lane{gate: g}
		q.queues[k] = l
	}
	if len(l.due) == 0 {
		g.found++
	}
	l.due = append(l.due, offered{t, a.NextAt})
}

// due reports whether it is time for an attempt. The start tries each step once, also during its
// pause.
func (q *lanes) due(key stepKey, last payment.StepAttempt, now time.Time) bool {
	switch {
	case q.tried != nil:
		return !q.tried[key]
	case now.Sub(q.refused[key]).Abs() < refusedPause:
		return false
	case last.Attempts == 0:
		return true
	case last.Running && now.Sub(last.BegunAt) < Patience:
		return false
	}
	return !now.Before(last.NextAt)
}

// start queues the steps that the pass has found and lets workers try them. The shortest queues
// come first, so that no tenant's backlog takes all slots of a gate. It returns how many lanes it
// has added to.
func (q *lanes) start(ctx context.Context) (started int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	byLength := func(a, b *lane) int { return cmp.Compare(len(a.queue), len(b.queue)) }
	for _, l := range slices.SortedFunc(maps.Values(q.queues), byLength) {
		if q.enqueue(l) {
			started++
		}
		for n := min(l.width(), l.workers+len(l.queue)) - l.workers; n > 0; n-- {
			l.workers++
			q.addWorker()
			go func() { defer q.removeWorker(); q.work(ctx, l) }()
		}
	}
	return started
}

// addWorker counts a worker; q.mu is held. A WaitGroup would not do: a start that ends early would
// still wait for it while later passes add to it.
func (q *lanes) addWorker() {
	if q.active == 0 {
		q.idle = make(chan struct{})
	}
	q.active++
}

func (q *lanes) removeWorker() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.active--; q.active == 0 {
		close(q.idle)
	}
}

// noWorkers returns a channel that is closed at the next moment at which no worker runs.
func (q *lanes) noWorkers() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.idle
}

// enqueue queues as many of a lane's due steps as fit. A later pass offers the rest again.
func (q *lanes) enqueue(l *lane) bool {
	n := min(l.room(l.gate.share()), l.gate.left, len(l.due))
	if n <= 0 {
		return false
	}
	for _, o := range l.first(n) {
		l.queue = append(l.queue, o.task)
		q.known[keyOf(o.id)] = true
	}
	l.gate.left -= n
	l.gate.queued += n
	return true
}

// first returns the n due steps to queue next. Steps without an attempt go first: old failures must
// not delay a step that succeeds immediately. But every retryEvery-th step is the retry that has
// been due for longest, because new failures must not delay it either.
func (l *lane) first(n int) (out []offered) {
	slices.SortStableFunc(l.due, func(a, b offered) int { return a.nextAt.Compare(b.nextAt) })
	at := 0
	for at < len(l.due) && l.due[at].nextAt.IsZero() {
		at++
	}
	untried, retries := l.due[:at], l.due[at:]
	for range n {
		l.queued++
		from := &untried
		if len(untried) == 0 || len(retries) > 0 && l.queued%retryEvery == 0 {
			from = &retries
		}
		out, *from = append(out, (*from)[0]), (*from)[1:]
	}
	return out
}

// work tries the steps of a lane one after the other until none is queued.
func (q *lanes) work(ctx context.Context, l *lane) {
	traced, span := q.tracer.Pass(ctx, "recovery")
	objects, done := 0, 0
	for {
		t, ok := q.next(ctx, l)
		if !ok {
			break
		}
		l.gate.slots <- struct{}{}
		err := q.try(traced, t)
		<-l.gate.slots
		q.ended(t, l, err)
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
func (q *lanes) next(ctx context.Context, l *lane) (t task, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ctx.Err() != nil {
		q.drop(l)
	}
	if len(l.queue) == 0 || l.workers > l.width() {
		l.workers--
		return task{}, false
	}
	t, l.queue = l.queue[0], l.queue[1:]
	l.gate.queued--
	return t, true
}

// drop empties a lane's queue. The next passes offer its steps again.
func (q *lanes) drop(l *lane) {
	for _, t := range l.queue {
		delete(q.known, keyOf(t.id))
	}
	l.gate.queued -= len(l.queue)
	l.queue = nil
}

// ended counts the result of an attempt.
func (q *lanes) ended(t task, l *lane, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.known, keyOf(t.id))
	if q.tried != nil {
		q.tried[keyOf(t.id)] = true
	}
	switch {
	case errors.Is(err, errSkipped):
	case err == nil:
		l.failures, l.gate.failures = 0, 0
	default:
		l.failures++
		l.gate.failures++
		if l.failures == laneFailures {
			q.drop(l)
		}
	}
}

// whyFailed returns the cause of an error, as it is stored with an attempt.
func whyFailed(err error) string {
	text := strings.ToValidUTF8(strings.ReplaceAll(acquirer.Cause(err), "\x00", ""), "")
	if len(text) <= errorBytes {
		return text
	}
	text = text[:errorBytes]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}
