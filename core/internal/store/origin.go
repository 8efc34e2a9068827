package store

import (
	"sync"

	"github.com/causeway-pay/causeway/shared/telemetry"
)

// maxOrigins is how many origins are kept. A first attempt follows within milliseconds. If the
// origin of a delivery is not kept, or another process made the delivery, the attempt begins a new
// trace.
const maxOrigins = 4096

// origins maps deliveries to the spans that made them, so that the first attempt of a delivery is
// part of the same trace. It is in memory only: a trace is not worth a row or a column on the path
// of a payment.
type origins struct {
	mu   sync.Mutex
	of   map[int64]telemetry.Origin // guarded by mu
	ring [maxOrigins]int64          // guarded by mu: the deliveries, in the order in which put drops them
	next int                        // guarded by mu
}

func newOrigins() *origins { return &origins{of: map[int64]telemetry.Origin{}} }

// put keeps the span that made a delivery, and drops the oldest one. It does nothing on nil.
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

// Trace makes t record a span for each command of a request or pass, and keeps the spans that make
// deliveries. Call it before goroutines share the store.
func (db *DB) Trace(t *telemetry.Tracer) {
	if t == nil {
		return
	}
	db.tracer, db.origins = t, newOrigins()
}

// Origin returns the span that made a delivery, the zero Origin if that is not kept.
func (db *DB) Origin(delivery int64) telemetry.Origin {
	if db.origins == nil {
		return telemetry.Origin{}
	}
	db.origins.mu.Lock()
	defer db.origins.mu.Unlock()
	return db.origins.of[delivery]
}
