package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// clients is how many tell stories at once.
const clients = 16

// Keys are the merchant's, in test mode.
type Keys struct{ Secret, Publishable string }

// Figures count what a run did.
type Figures struct {
	Commands    int // acknowledged
	ByKind      map[Kind]int
	Lost        int // answers that a crash took
	Stood       int // of those: the effect was found again, under its key
	Again       int // of those: done when asked again
	Unsure      int // of those: asked without a key, so never asked again
	Replays     int // answers asked for a second time, and compared
	Events      int
	Deliveries  int // that the receiver took
	Duplicates  int // of those: of an event that it had, redeliveries that were asked for included
	Asked       int // redeliveries that were asked for
	Behind      int // deliveries that came behind a newer one of the same object
	Authorities int // lines of the acquirer's journal that were compared
}

// Harness is a merchant whose service is killed. Its methods are called one at a time; Load is what runs many clients.
type Harness struct {
	seed uint64
	keys Keys
	api  *client
	hook *receiver
	hole net.Listener // takes connections and never answers

	credits bool // the merchant may make unlinked refunds

	doors  []*client // besides api, for the clients of Storm
	storms bool      // there are several processes, of which some live

	mu    sync.Mutex // guards calls, wants and twins while clients run
	calls []*Call    // of this round
	wants []want
	twins []string        // what was wrong with requests that were sent twice at once
	live  map[string]bool // API keys by whether they must work

	erased map[string]bool // objects whose events tell nothing of a person any more

	all    []*Call // of all rounds
	base   marks   // the rows before the endpoints, which have no delivery
	since  marks   // the rows at the last look
	before marks   // the rows at the look before
	fig    Figures
	main   string // id of the endpoint that gets everything

	merchant int64 // number of its id
}

// want is an event of an object that must come to an endpoint.
type want struct{ path, object string }

// marks are the newest ids of each list.
type marks struct{ transaction, refund, customer, key, event string }

// New returns a harness. Close it at the end.
func New(seed uint64, keys Keys) (*Harness, error) {
	hole, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("dead endpoint: %w", err)
	}
	return &Harness{
		seed: seed, keys: keys, api: newClient(keys.Secret), hook: newReceiver(seed, 0.002), hole: hole,
		live: map[string]bool{}, erased: map[string]bool{}, fig: Figures{ByKind: map[Kind]int{}},
	}, nil
}

// AllowCredits lets clients make unlinked refunds. The merchant must be allowed to.
func (h *Harness) AllowCredits() { h.credits = true }

// Close ends the receivers.
func (h *Harness) Close() {
	h.hook.server.Close()
	_ = h.hole.Close()
}

// Attach turns to the process that serves at base now, or to those that serve together, by turns.
func (h *Harness) Attach(bases ...string) { h.api.move(bases...) }

// AttachDoor gives some of Storm's clients another way to v1. What their requests do is asked for again, and looked up, by any way.
func (h *Harness) AttachDoor(transport http.RoundTripper, bases ...string) {
	d := newClient(h.keys.Secret)
	d.http.Transport = transport
	d.move(bases...)
	h.doors = append(h.doors, d)
}

// way is how a request goes. A publishable key opens only the first door; and what has no key, and may be sent again all the same, must not be
// under way still when it is: only the core itself takes it along when it dies.
func (h *Harness) way(c *Call) *client {
	if c.door == nil || c.Auth != "" || c.Key == "" && c.again() {
		return h.api
	}
	return c.door
}

// mainPath is where the endpoint is that gets everything.
const mainPath = "/all"

// Prepare makes the endpoints that stay: one that is alive, and two that are dead beside it.
func (h *Harness) Prepare(ctx context.Context) error {
	if err := h.learnMerchant(ctx); err != nil {
		return err
	}
	if err := h.markBase(ctx); err != nil {
		return err
	}
	for i, url := range []string{h.hook.url(mainPath), "http://" + h.hole.Addr().String() + "/", "http://127.0.0.1:1/"} {
		c := &Call{
			Kind: EndpointCreate, Method: http.MethodPost, Path: "/v1/webhook_endpoints", Key: fmt.Sprintf("stays-%d", i),
			Body: fmt.Sprintf(`{"url":%q,"enabled_events":["*"]}`, url),
		}
		a, err := h.api.insist(ctx, c)
		if err != nil {
			return err
		}
		if !a.ok() {
			return fmt.Errorf("endpoint %s: HTTP %d: %s", url, a.Status, a.Body)
		}
		if e := read[v1.WebhookEndpoint](a); i == 0 {
			h.main = e.ID
			h.hook.trust(mainPath, e.Secret.Reveal())
		}
	}
	return nil
}

// markBase leaves out the events of before the endpoints, such as those of the merchant's keys.
func (h *Harness) markBase(ctx context.Context) error {
	raw, err := h.api.list(ctx, "/v1/events", "")
	if err != nil {
		return err
	}
	for _, r := range raw {
		h.base.event = max(h.base.event, (&Answer{Body: string(r)}).id())
	}
	h.since = h.base
	return nil
}

// learnMerchant finds out who the merchant is.
func (h *Harness) learnMerchant(ctx context.Context) error {
	a, err := h.api.get(ctx, "/v1/api_keys/current", "")
	if err != nil {
		return err
	}
	if h.merchant, err = id.Parse(id.Merchant, read[v1.APIKey](a).Merchant); err != nil {
		return fmt.Errorf("merchant: HTTP %d: %s: %w", a.Status, a.Body, err)
	}
	return nil
}

// errGone ends a story: the process is not there any more.
var errGone = errors.New("crash: the process is gone")

// errOver ends a story that cannot go on, as when a payment was declined.
var errOver = errors.New("crash: the story is over")

// Load has every client tell stories until the process dies, and has it killed at the given
// request: before it is sent, or after its response. With several processes a client whose response
// is lost goes on at the others until ctx ends.
func (h *Harness) Load(ctx context.Context, round, at int, before bool, kill func()) {
	h.calls, h.wants, h.twins = nil, nil, nil
	var sent, answered atomic.Int64
	trigger := func(n *atomic.Int64, mine bool) {
		if n.Add(1) == int64(at) && mine {
			kill()
		}
	}
	var running sync.WaitGroup
	for n := range clients {
		running.Go(func() {
			t := &teller{
				h: h, name: fmt.Sprintf("r%d-c%d", round, n),
				rng:    rand.New(rand.NewPCG(h.seed, uint64(round)<<16|uint64(n))), //nolint:gosec // to be repeatable is the point
				before: func() { trigger(&sent, before) }, after: func() { trigger(&answered, !before) },
			}
			for {
				gone := errors.Is(t.tell(ctx), errGone)
				if gone && (h.api.many() == 1 || ctx.Err() != nil) {
					return
				}
				if gone { // others serve, or will
					<-time.After(50 * time.Millisecond)
				}
			}
		})
	}
	running.Wait()
}

// Figures returns what was counted.
func (h *Harness) Figures() Figures {
	h.hook.mu.Lock()
	defer h.hook.mu.Unlock()
	f := h.fig
	f.Deliveries, f.Duplicates, f.Behind = h.hook.receipts, h.hook.again, h.hook.behind
	return f
}
