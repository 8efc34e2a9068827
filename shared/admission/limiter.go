package admission

import (
	"cmp"
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// The reasons of refusals, as metrics count them.
const (
	ReasonOverloaded = "overloaded"        // all slots or all bytes for unfinished bodies are in use
	ReasonUnfinished = "unfinished_bodies" // the client's own unfinished bodies hold its share
	ReasonSlow       = "slow_body"         // the body arrived too slowly
)

// Reasons returns all reasons.
func Reasons() []string { return []string{ReasonOverloaded, ReasonUnfinished, ReasonSlow} }

// Config holds the bounds. The zero value of a field means its default.
type Config struct {
	// Slots is the number of requests that are carried out at a time. 0 sets no limit.
	Slots int
	// Bytes is the number of bytes that all unfinished bodies may hold together. 0 means 64 MiB. An
	// unfinished body holds 4 KiB at least.
	Bytes int64
	// Grace is the time that each body gets before the minimum rate applies. 0 means 5 s.
	Grace time.Duration
	// Refused counts a refusal by its reason. Nil counts nothing.
	Refused func(reason string)
}

const (
	defaultBytes = 64 << 20
	defaultGrace = 5 * time.Second
)

// Limiter admits requests. It is safe for concurrent use.
type Limiter struct {
	slots   int64
	grace   time.Duration
	refused func(reason string)
	bodies  bodies

	inside atomic.Int64 // requests that hold a slot
}

// New returns a Limiter with the bounds of c.
func New(c Config) *Limiter {
	if c.Refused == nil {
		c.Refused = func(string) {}
	}
	return &Limiter{
		slots: int64(c.Slots), grace: cmp.Or(c.Grace, defaultGrace), refused: c.Refused,
		bodies: bodies{most: cmp.Or(c.Bytes, defaultBytes), held: map[subject]int64{}},
	}
}

// Handler serves a request by next in a slot, or by full if no slot is free. full should respond
// at once. While Read reads, the request gives its slot back. All handlers of one Limiter share
// its bounds. It stands inside httpx.ClientAddress.
func (l *Limiter) Handler(full, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := &ticket{limiter: l}
		if !t.acquire() {
			l.refused(ReasonOverloaded)
			full.ServeHTTP(w, r)
			return
		}
		defer t.release()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), ticketKey{}, t)))
	})
}

// ticket is the admission of one request. It belongs to the goroutine that serves the request.
type ticket struct {
	limiter  *Limiter
	slot     bool // the request holds a slot
	identity Identity
}

type ticketKey struct{}

func ticketFrom(ctx context.Context) *ticket {
	t, _ := ctx.Value(ticketKey{}).(*ticket)
	return t
}

// acquire takes a slot. It returns false if none is free.
func (t *ticket) acquire() bool {
	if l := t.limiter; l.slots > 0 && l.inside.Add(1) > l.slots {
		l.inside.Add(-1)
		return false
	}
	t.slot = true
	return true
}

// release gives the slot back if the request holds one.
func (t *ticket) release() {
	if t.slot && t.limiter.slots > 0 {
		t.limiter.inside.Add(-1)
	}
	t.slot = false
}

// Identity is the authenticated client of a request.
type Identity struct {
	Key      string // the id of the API key
	Merchant string // the id of the merchant
	Public   bool   // a publishable key, which every payer can read
}

// Identify makes the body of a request count towards its API key and its merchant. Without it the
// body counts towards the client address. The body of a public key counts towards the address and
// the key: other clients cannot use up the share of a merchant's secret keys.
func Identify(ctx context.Context, identity Identity) {
	if t := ticketFrom(ctx); t != nil {
		t.identity = identity
	}
}
