package crash

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// judge is one inspection. It collects the faults.
type judge struct {
	h       *Harness
	ctx     context.Context //nolint:containedctx // it lives as long as the look
	store   *storeReader
	journal *journal
	since   int64 // the newest id of before
	later   bool  // the inspected objects are from earlier rounds too: time has passed for them
	// hostile: the acquirer misbehaved and clocks jumped. A late request may meet its own reversal,
	// and anything may expire.
	hostile bool

	calls        []*Call
	transactions []v1.Transaction
	refunds      []v1.Refund
	customers    []v1.Customer
	keys         []v1.APIKey
	events       []event
	captures     map[string][]v1.Capture // by transaction

	byTransaction map[string][]*Call // the requests on it

	mu     sync.Mutex // guards faults, and captures while they are read
	faults []string
}

// event is an event with the bytes that v1 shows of it.
type event struct {
	v1.Event
	raw    string
	object string // its object's id
}

// Judge inspects everything since the last inspection, and returns the faults. The process must be
// idle.
func (h *Harness) Judge(ctx context.Context, location Location) ([]string, error) {
	return h.judged(ctx, location, h.calls, h.since, false)
}

// JudgeAll inspects the objects of all rounds.
func (h *Harness) JudgeAll(ctx context.Context, location Location) ([]string, error) {
	return h.judged(ctx, location, h.all, h.base, true)
}

func (h *Harness) judged(ctx context.Context, at Location, calls []*Call, since marks, all bool) ([]string, error) {
	return h.inspect(ctx, at, calls, func(j *judge) {
		j.later = all
		if n, err := id.Parse(id.Event, since.event); err == nil {
			j.since = n
		}
		j.add(j.store.quiet()...)
		if !all {
			j.add(h.twins...)
			ensure(each(calls, j.replay))
		}
		j.agreed(since)
		h.mark(j)
		for _, check := range []func(){
			j.transactionsAreRight, j.refundsAreRight, j.acquirerAgrees, j.tokensAreRight, j.customersAreRight,
			j.keysAreRight, j.eventsAreRight, j.announced, j.deliveredInPart, j.lookUp, j.endpointsAreRight,
		} {
			check()
		}
		j.add(j.store.found(wrong, j.since)...)
		j.add(h.hook.complaints(h.erased)...)
	})
}

// inspect calls fn with an inspection of calls, and returns the faults that it found.
func (h *Harness) inspect(
	ctx context.Context, location Location, calls []*Call, fn func(*judge),
) (faults []string, err error) {
	err = withStore(ctx, location, func(s *storeReader) {
		j := newJudge(calls)
		j.h, j.ctx, j.store = h, ctx, s
		fn(j)
		faults = j.faults
	})
	return faults, err
}

func newJudge(calls []*Call) *judge {
	j := &judge{calls: calls, captures: map[string][]v1.Capture{}, byTransaction: map[string][]*Call{}}
	for _, c := range calls {
		switch c.Kind {
		case Update, Confirm, Capture, Void, Refund, Settle, Expire:
			j.byTransaction[c.On] = append(j.byTransaction[c.On], c)
		default:
		}
	}
	return j
}

// agreed reads until the events end with the objects' current states: the recovery can change an
// object during a read. If they never agree, eventsAreRight reports it.
func (j *judge) agreed(since marks) {
	await(j.ctx, func() bool {
		j.read(since)
		return len(j.lastEvents()) == 0
	})
}

// read reads the objects of v1 and the acquirer's journal. It reads the events last, because they
// show each change during the read.
func (j *judge) read(since marks) {
	api, ctx := j.h.api, j.ctx
	j.transactions = must(listOf[v1.Transaction](ctx, api, "/v1/transactions", since.transaction))
	j.refunds = must(listOf[v1.Refund](ctx, api, "/v1/refunds", since.refund))
	j.customers = must(listOf[v1.Customer](ctx, api, "/v1/customers", since.customer))
	j.keys = must(listOf[v1.APIKey](ctx, api, "/v1/api_keys", since.key))
	j.readCaptures()
	j.journal = j.store.readJournal(j.h.merchant)
	j.events = nil
	for _, r := range must(api.list(ctx, "/v1/events", since.event)) {
		e := event{Event: decode[v1.Event](r), raw: string(r)}
		e.object = idOf(e.Data.Object)
		j.events = append(j.events, e)
	}
}

// readCaptures reads the captures of each transaction that has any, or should.
func (j *judge) readCaptures() {
	ensure(each(j.transactions, func(t v1.Transaction) {
		list := must(listOf[v1.Capture](j.ctx, j.h.api, "/v1/transactions/"+t.ID+"/captures", ""))
		j.mu.Lock()
		defer j.mu.Unlock()
		j.captures[t.ID] = list
	}))
}

// mark remembers the newest objects: the next inspection begins after them.
func (h *Harness) mark(j *judge) {
	h.before = h.since
	for _, t := range j.transactions {
		h.since.transaction = max(h.since.transaction, t.ID)
	}
	for _, r := range j.refunds {
		h.since.refund = max(h.since.refund, r.ID)
	}
	for _, c := range j.customers {
		h.since.customer = max(h.since.customer, c.ID)
	}
	for _, k := range j.keys {
		h.since.key = max(h.since.key, k.ID)
	}
	for _, e := range j.events {
		h.since.event = max(h.since.event, e.ID)
	}
}

// add adds faults. It may be called from several goroutines.
func (j *judge) add(faults ...string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.faults = append(j.faults, faults...)
}

func (j *judge) failf(format string, args ...any) { j.add(fmt.Sprintf(format, args...)) }

// replay repeats a request whose response v1 kept, and requires the same bytes.
func (j *judge) replay(c *Call) {
	if c.Key == "" || c.Response == nil || !c.Response.kept() {
		return
	}
	again := must(j.h.api.insist(j.ctx, c)) // by any process
	j.h.mu.Lock()
	j.h.fig.Replays++
	j.h.mu.Unlock()
	if again.Status != c.Response.Status || again.Body != c.Response.Body || !again.Replayed {
		j.failf("%s %s, retried: %d replayed=%v %s; its response was %d %s (lost: %v)",
			c.Kind, c.Marker, again.Status, again.Replayed, again.Body, c.Response.Status, c.Response.Body, c.Lost)
	}
}

// lookUp looks up the effect of each request whose response was lost, like a client that must not
// retry. It skips requests with a publishable key, which may not read. Such a key also has separate
// idempotency keys.
func (j *judge) lookUp() {
	for _, c := range j.calls {
		if j.later || !c.Lost || c.Key == "" || c.Auth == j.h.keys.Publishable || c.Response == nil || !c.Response.kept() {
			continue
		}
		a := must(j.h.api.get(j.ctx, "/v1/idempotency_keys/"+c.Key, ""))
		k := read[v1.IdempotencyKeyRecord](a)
		resource := c.Response.id()
		if k.Status != v1.IdempotencyKeyRecordStatusCompleted || k.HTTPStatus == nil || *k.HTTPStatus != c.Response.Status ||
			c.ok() && resource != "" && (k.Resource == nil || *k.Resource != resource) {
			j.failf("%s %s: response %d %s; its key has %s", c.Kind, c.Marker, c.Response.Status, c.Response.Body, a.Body)
		}
	}
}

// once compares a request's response with the objects that carry its marker. There is one if it
// was acknowledged, none if it was refused, and at most one if the outcome is unknown.
func (j *judge) once(c *Call, ids []string) {
	switch {
	case len(ids) > 1:
		j.failf("%s %s had its effect %d times: %s", c.Kind, c.Marker, len(ids), strings.Join(ids, " "))
	case c.ok() && len(ids) == 0:
		j.failf("%s %s was acknowledged and is lost: %s", c.Kind, c.Marker, c.Response.Body)
	case c.ok() && ids[0] != c.Response.id():
		j.failf("%s %s is %s, it was acknowledged as %s", c.Kind, c.Marker, ids[0], c.Response.id())
	case c.Response != nil && !c.ok() && !c.maybe() && c.Response.Status != 402 && len(ids) > 0:
		j.failf("%s %s was refused, and made %s: %s", c.Kind, c.Marker, ids[0], c.Response.Body)
	}
}
