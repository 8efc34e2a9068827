package store

import (
	"sync"

	"github.com/causeway-pay/causeway/shared/telemetry"
)

// maxOrigins is how many deliveries' origins are remembered. A first attempt comes within milliseconds; what is forgotten, or was never known
// because the process is another one now, is delivered in a trace of its own.
const maxOrigins = 4096

// origins remembers in which span deliveries were made, so that their first attempt is part of the same trace. It is memory only: a trace is
// not worth a row or a column on the way of a payment.
type origins struct {
	mu   sync.Mutex
	of   map[int64]telemetry.Origin // guarded by mu
	ring [maxOrigins]int64          // guarded by mu: the deliveries, in the order in which they are forgotten
	next int                        // guarded by mu
}

func newOrigins() *origins { return &origins{of: map[int64]telemetry.Origin{}} }

// put remembers where a delivery came from. It does nothing on nil.
func (o *origins) put(delivery int64, from telemetry.Origin) {
	if o == nil || from.IsZero() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.of, o.ring[o.next])
	o.ring[o.next], o.of[delivery] = delivery, from
	o.next = (o.next + 1) % maxOrigins
}

// Trace has t make a span for every command of a request or pass, and remembers in which span deliveries are made. Call it before the store is
// used by more than one goroutine.
func (db *DB) Trace(t *telemetry.Tracer) {
	if t == nil {
		return
	}
	db.tracer, db.origins = t, newOrigins()
}

// Origin is the span that made a delivery, none if that is not remembered.
func (db *DB) Origin(delivery int64) telemetry.Origin {
	if db.origins == nil {
		return telemetry.Origin{}
	}
	db.origins.mu.Lock()
	defer db.origins.mu.Unlock()
	return db.origins.of[delivery]
}
