package providerb

import "github.com/causeway-pay/causeway/shared/clock"

// Delivered is the memory of what has reached its client.
type Delivered struct{ memory *delivered }

// NewDelivered returns one that is empty.
func NewDelivered(c clock.Clock) Delivered { return Delivered{newDelivered(c)} }

// DeliveredLimit is how many it holds.
const DeliveredLimit = deliveredLimit

// Before is how many answers to the evidence have arrived.
func (d Delivered) Before(evidence string) int { return d.memory.before(evidence) }

// Begin counts from now on.
func (d Delivered) Begin(evidence string) { d.memory.begin(evidence, d.memory.clock.Now()) }

// Add counts one more after n.
func (d Delivered) Add(evidence string, n int) { d.memory.add(evidence, n) }

// Held is how many it holds now.
func (d Delivered) Held() int { return len(d.memory.young) + len(d.memory.old) }
