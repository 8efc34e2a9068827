package admission

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/shared/httpx"
)

// The reasons of refusals, as metrics count them.
const (
	ReasonOverloaded = "overloaded"        // all slots or all bytes for unfinished bodies are in use
	ReasonTooMany    = "too_many_requests" // the client's own requests hold its share of the slots
	ReasonUnfinished = "unfinished_bodies" // the client's own unfinished bodies hold its share
	ReasonSlow       = "slow_body"         // the body arrived too slowly
)

// Reasons returns all reasons.
func Reasons() []string {
	return []string{ReasonOverloaded, ReasonTooMany, ReasonUnfinished, ReasonSlow}
}

// Config holds the bounds. The zero value of a field means its default.
type Config struct {
	// Slots is the largest number of requests that are executed at the same time. 0 sets no limit.
	Slots int
	// Bytes is the number of bytes that all unfinished bodies may hold together. 0 means 64 MiB. An
	// unfinished body holds 12 KiB at least, and more for long header fields. It holds at most twice
	// its bytes that have arrived.
	Bytes int64
	// Memory is the number of bytes that requests in slots may use together: for their complete
	// bodies, the decoded values and the responses. 0 sets no limit. See weight, Received and Sent.
	Memory int64
	// Grace is the time that each body gets before the minimum rate applies. 0 means 5 s.
	Grace time.Duration
	// Refused counts a refusal by its reason. It may be nil.
	Refused func(reason string)
}

const (
	defaultBytes = 64 << 20
	defaultGrace = 5 * time.Second
)

// Limiter admits requests. It is safe for concurrent use.
type Limiter struct {
	slots   *pool // nil for no limit
	bodies  *pool
	memory  *pool // of complete bodies; nil for no limit
	grace   time.Duration
	refused func(reason string)
}

// New returns a Limiter with the bounds of c.
func New(c Config) *Limiter {
	if c.Refused == nil {
		c.Refused = func(string) {}
	}
	l := &Limiter{grace: cmp.Or(c.Grace, defaultGrace), refused: c.Refused}
	l.bodies = newBodies(cmp.Or(c.Bytes, defaultBytes))
	if c.Slots > 0 {
		l.slots = newSlots(int64(c.Slots))
	}
	if c.Memory > 0 {
		l.memory = newSlots(c.Memory)
	}
	return l
}

// Handler serves a request by next in a slot, or by full if no slot is free or the address holds
// its share of them. full should respond immediately. While Read reads, the request gives its slot
// back. All handlers of one Limiter share its bounds. Use it inside httpx.ClientAddress.
//
// The connection of HTTP/1.1 closes after a response to a request whose body was not read. The
// response would otherwise wait for the rest of the body.
func (l *Limiter) Handler(full, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := l.ticket(r.Context())
		t.closes = httpx.CloseUnread(w, r)
		if err := t.acquire(nil); err != nil {
			l.refused(reasonOf(err))
			full.ServeHTTP(w, r)
			return
		}
		defer t.leave()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), ticketKey{}, t)))
	})
}

// ticket is the admission of one request. It belongs to the goroutine that serves the request.
type ticket struct {
	limiter  *Limiter
	client   client
	slot     bool  // the request holds a slot
	memory   int64 // the bytes that the request holds for its complete body, as long as its slot
	awaited  int64 // the bytes that the request holds by Await
	sent     int64 // the memory that it holds by Sent, until the end of the handler
	received int64 // the memory that it holds by Received, until the end of the handler
	closes   bool  // the connection closes after the response
}

// ticket returns the ticket of an unauthenticated request.
func (l *Limiter) ticket(ctx context.Context) *ticket {
	return &ticket{limiter: l, client: Identity{}.client(ctx)}
}

type ticketKey struct{}

func ticketFrom(ctx context.Context) *ticket {
	t, _ := ctx.Value(ticketKey{}).(*ticket)
	return t
}

// acquire takes a slot, and the memory for a complete body. It returns ErrOverloaded or ErrTooMany
// if a bound forbids it.
func (t *ticket) acquire(body []byte) error {
	if t.limiter.slots != nil {
		if err := t.limiter.slots.take(t.client, 1); err != nil {
			return err
		}
		t.slot = true
	}
	if t.limiter.memory == nil || len(body) == 0 {
		return nil
	}
	n := weight(body)
	if err := t.limiter.memory.take(t.client, n); err != nil {
		t.release()
		return err
	}
	t.memory = n
	return nil
}

// release gives the slot and the memory back if the request holds them.
func (t *ticket) release() {
	if t.slot {
		t.limiter.slots.give(t.client, 1)
	}
	if t.memory > 0 {
		t.limiter.memory.give(t.client, t.memory)
	}
	t.slot, t.memory = false, 0
}

// Release gives the slot of a request back. It is for a request that is only forwarded, because the
// service behind the program bounds such requests for each client.
func Release(ctx context.Context) {
	if t := ticketFrom(ctx); t != nil {
		t.release()
	}
}

// Identity is the authenticated client of a request.
type Identity struct {
	Key      string // the id of the API key
	Merchant string // the id of the merchant and its mode
	Live     bool   // live mode, for which a quarter of the slots and bytes is kept
	Public   bool   // a publishable key, which every payer can read
}

// Identify makes the slot and the body of a request count towards its API key and its merchant.
// Without it they count towards the client address. Requests with public keys have at most half of
// the merchant's share. They count towards the site of the client, too, which has a quarter of that
// half. It returns ErrTooMany if other requests of the client hold its share of the slots, and
// ErrOverloaded if no slot is free for its mode. The caller must refuse the request then.
func Identify(ctx context.Context, identity Identity) error {
	t := ticketFrom(ctx)
	if t == nil {
		return nil
	}
	if err := t.move(identity.client(ctx)); err != nil {
		t.limiter.refused(reasonOf(err))
		return err
	}
	return nil
}

// move makes the slot and the memory of the request count towards another client. After an error
// the request holds neither.
func (t *ticket) move(to client) error {
	if t.slot {
		if err := t.limiter.slots.move(t.client, to, 1); err != nil {
			t.release()
			return err
		}
	}
	if held := t.memory + t.sent + t.received; held > 0 {
		if err := t.limiter.memory.move(t.client, to, held); err != nil {
			t.limiter.memory.give(t.client, held)
			t.client, t.memory, t.sent, t.received = to, 0, 0, 0
			t.release()
			return err
		}
	}
	t.client = to
	return nil
}

// leave gives back all that the request holds.
func (t *ticket) leave() {
	t.giveAwaited()
	t.giveResponse(&t.sent)
	t.giveResponse(&t.received)
	t.release()
}
