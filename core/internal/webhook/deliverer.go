package webhook

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/batch"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

const (
	// leaseTime is how long a lease lasts: longer than any attempt.
	leaseTime = time.Minute
	// freshFor is how long after the write of its lease an attempt may begin. If the process was
	// paused for longer, another process may have reclaimed the lease.
	freshFor = 3 * time.Second
	// poll is how often the queue is read without a signal of the store.
	poll = time.Second
	// grace is how long attempts in progress may take when the deliverer stops.
	grace = 3 * time.Second
	// purgeEvery is the interval of the search for old deliveries.
	purgeEvery = 10 * time.Minute
	// purgeDeletedEvery is how often the deliveries that a deletion left are removed, in polls.
	purgeDeletedEvery = 10
	// boundEvery is the number of polls between two counts of the pending deliveries.
	boundEvery = 30
	// mostQueued and mostPending bound the pending deliveries, some 60 and 500 MB of the store.
	mostQueued, mostPending = 250_000, 2_000_000
)

// Config has the parts and settings of a Deliverer. The first seven fields are required.
type Config struct {
	Store   *store.DB
	Clock   clock.Clock
	Log     *slog.Logger
	Secrets Secrets
	Policy  Policy
	// Body returns the event as its receivers get it, the same bytes at every attempt.
	Body func(*payment.Event) []byte
	// Disable ends the deliveries to an endpoint and writes an event of that, in the command that
	// calls it.
	Disable func(*store.Tx, *payment.Endpoint, payment.EndpointReason) error

	Leads    func() bool       // whether this process removes old deliveries; nil: it does
	Agrees   func() bool       // whether Clock is right: by a wrong one, valid leases seem to have ended; nil: it is
	Observer Observer          // nil for none
	Tracer   *telemetry.Tracer // nil: no spans
	TLS      *tls.Config       // nil: the system's authorities
	Resolver *net.Resolver     // nil: the system's
	Poll     time.Duration     // 0: one second
	Timeout  time.Duration     // of one attempt; 0: 15 s

	MostQueued  int // pending deliveries to one endpoint; 0: 250,000
	MostPending int // pending deliveries to all endpoints; 0: 2,000,000
}

// Deliverer attempts due deliveries for as long as it runs. Several may run on one store.
type Deliverer struct {
	Config
	client   *http.Client
	freed    chan struct{}     // an attempt has ended or was dropped
	refusals map[int64]refusal // by endpoint; only Run reads and writes it
	results  batch.Queue[*result]
	// The lanes, in the order in which a round leases their deliveries.
	fast, slow *lane

	mu       sync.Mutex            // guards the attempts of the lanes and the next fields
	health   map[int64]*health     // by endpoint
	requests map[*attempt]struct{} // in progress in the fast lane, without late ones
}

// New returns a Deliverer that does nothing yet.
func New(c Config) *Deliverer {
	c.Poll = cmp.Or(c.Poll, poll)
	c.Timeout = cmp.Or(c.Timeout, 15*time.Second)
	c.MostQueued, c.MostPending = cmp.Or(c.MostQueued, mostQueued), cmp.Or(c.MostPending, mostPending)
	if c.Observer == nil {
		c.Observer = noObserver{}
	}
	d := &Deliverer{
		Config: c, client: newClient(c), freed: make(chan struct{}, 1), refusals: map[int64]refusal{},
		fast: newLane(mostFast), slow: newLane(mostSlow), health: map[int64]*health{}, requests: map[*attempt]struct{}{},
	}
	d.results.Commit, d.results.Size = d.commitResults, mostResults
	d.results.Slots, d.results.Slow = mostCommits, longWait
	return d
}

// TakeOver makes due the deliveries that an earlier process attempted when it died. Call it before
// the first Run, in the only process that has the data folder.
func (d *Deliverer) TakeOver(ctx context.Context) error {
	return d.Store.Update(ctx, func(tx *store.Tx) error { return tx.DropLeases() })
}

// Run delivers until ctx ends. Then it gives the attempts under way a moment, and releases the
// leases of all that need longer. It blocks until none is left.
func (d *Deliverer) Run(ctx context.Context) {
	attempts, cut := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { d.keepPurging(ctx) })
	running.Go(func() { d.keepHastening(ctx) })
	for ctx.Err() == nil {
		next, err := d.round(ctx, attempts, &running)
		if err != nil && ctx.Err() == nil {
			d.Log.ErrorContext(ctx, "webhooks: the queue could not be read; it is retried", slog.Any("error", err))
		}
		d.rest(ctx, next)
	}
	late := time.AfterFunc(grace, cut)
	running.Wait()
	late.Stop()
	cut()
	d.client.CloseIdleConnections()
}

// rest waits for deliveries that are new or due, or for the end of an attempt.
func (d *Deliverer) rest(ctx context.Context, next time.Duration) {
	timer := time.NewTimer(max(min(next, d.Poll), 0))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-d.Store.DeliveriesDue():
	case <-d.freed:
	case <-timer.C:
	}
}

// round begins attempts of due deliveries as the bounds allow, and returns the time until the next
// one is due. It leases the deliveries of each lane in one commit; the rest wait for the next
// round. So on a slow store neither a lane nor a tenant with many deliveries delays others for
// long.
func (d *Deliverer) round(ctx, attempts context.Context, running *sync.WaitGroup) (time.Duration, error) {
	late := d.expel(d.Clock.Now())
	if d.Agrees != nil && !d.Agrees() {
		return d.Poll, nil
	}
	waiting, err := d.Store.WaitingEndpoints(ctx)
	if err != nil {
		return d.Poll, err
	}
	now := d.Clock.Now()
	d.endRefusals(now)
	next, due := d.sort(waiting, now)
	for _, l := range []*lane{d.fast, d.slow} {
		if err := d.serve(ctx, attempts, running, l, due[l]); err != nil {
			return next, err
		}
	}
	return min(next, late), nil
}

// sort returns the endpoints with due deliveries by lane, and the time until the next delivery is
// due.
func (d *Deliverer) sort(waiting []store.Waiting, now time.Time) (next time.Duration, due map[*lane][]*payment.Endpoint) {
	d.mu.Lock()
	defer d.mu.Unlock()
	next, due = d.Poll, map[*lane][]*payment.Endpoint{}
	all := make(map[int64]bool, len(waiting))
	for i := range waiting {
		e := &waiting[i].Endpoint
		all[e.ID] = true
		if wait := waiting[i].DueAt.Sub(now); wait > 0 {
			next = min(next, wait)
			continue
		}
		l := d.laneOf(e)
		due[l] = append(due[l], e)
	}
	d.forget(all)
	return next, due
}

// serve begins attempts at due endpoints of a lane. Attempts begin as soon as the commit that
// leased them has ended, so no lease is too old by then, even on a slow store.
func (d *Deliverer) serve(
	ctx, attempts context.Context, running *sync.WaitGroup, l *lane, due []*payment.Endpoint,
) error {
	d.setShort(l, true) // until all due deliveries are leased
	takes := d.reserve(l, due)
	err := d.lease(ctx, takes, func(t *take, leases []store.Lease, leased time.Time) {
		t.leased = true
		t.attempts -= len(leases)
		for _, lease := range leases {
			a := &attempt{lane: l, endpoint: t.endpoint, lease: lease, leased: leased}
			running.Go(func() {
				defer d.leave(a, true)
				d.attempt(attempts, a)
			})
		}
	})
	more := slices.ContainsFunc(takes, func(t *take) bool { return !t.leased || t.attempts == 0 })
	d.setShort(l, more || len(takes) < len(due))
	for _, t := range takes {
		_, refused := d.refusals[t.endpoint.ID]
		for range t.attempts {
			d.leave(&attempt{lane: l, endpoint: t.endpoint}, err == nil && !refused)
		}
	}
	return err
}

// keepPurging removes old deliveries, in small commits between which payments go on. It removes the
// remains of deletions more often, and bounds the pending deliveries.
func (d *Deliverer) keepPurging(ctx context.Context) {
	old, deleted := time.NewTicker(purgeEvery), time.NewTicker(purgeDeletedEvery*d.Poll)
	pending := time.NewTicker(boundEvery * d.Poll)
	defer old.Stop()
	defer deleted.Stop()
	defer pending.Stop()
	for purge := d.Purge; ; {
		if d.Leads == nil || d.Leads() {
			if err := purge(ctx); err != nil && ctx.Err() == nil {
				d.Log.ErrorContext(ctx, "webhooks: the purge failed; it is retried", slog.Any("error", err))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-old.C:
			purge = d.Purge
		case <-deleted.C:
			purge = d.purgeDeleted
		case <-pending.C:
			purge = d.BoundOutbox
		}
	}
}

// BoundOutbox ends the oldest deliveries as failed if too many are pending, so that slow receivers
// do not fill the store.
func (d *Deliverer) BoundOutbox(ctx context.Context) error {
	n, err := d.Store.BoundOutbox(ctx, d.MostQueued, d.MostPending, ErrorQueueFull)
	if n > 0 {
		d.Log.WarnContext(ctx, "webhooks: too many deliveries are pending, the oldest have ended as failed", slog.Int64("deliveries", n))
		d.Observer.DeliveriesDiscarded(n)
	}
	return err
}

// purgeDeleted removes the deliveries that deletions left.
func (d *Deliverer) purgeDeleted(ctx context.Context) error {
	_, err := d.Store.PurgeEndpoints(ctx)
	return err
}

// Purge removes the deliveries that are older than 30 days, and all deliveries to deleted
// endpoints. An engine with partitions keeps old deliveries for some days more.
func (d *Deliverer) Purge(ctx context.Context) error {
	before, total, err := d.Store.DropDeliveries(ctx, d.Clock.Now(), kept)
	if err != nil {
		d.Log.ErrorContext(ctx, "webhooks: old deliveries were not dropped, because a reader holds them; it is retried", slog.Any("error", err))
	}
	for _, purge := range []func() (int64, error){
		func() (int64, error) { return d.Store.PurgeDeliveries(ctx, before) },
		func() (int64, error) { return d.Store.PurgeEndpoints(ctx) },
	} {
		n, err := purge()
		total += n
		if err != nil {
			d.Observer.DeliveriesPurged(total, err)
			return errors.Join(err, ctx.Err())
		}
	}
	d.Observer.DeliveriesPurged(total, nil)
	return nil
}
