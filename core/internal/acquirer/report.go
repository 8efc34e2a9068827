package acquirer

import "context"

// Reporter reports the settlement of payments. The connectors of live mode are Reporters. The
// simulator is none: the end of the merchant's day settles its captures.
type Reporter interface {
	// Settled returns the settlement of captures and sales, one for each, in their order. It moves
	// nothing. The Amount of a Sent is the captured amount. With an error, a report that was not read
	// is the zero Settlement.
	Settled(ctx context.Context, of []Sent) ([]Settlement, error)
}

// Settlement is the report of an acquirer about one capture or sale.
type Settlement struct {
	State  SettlementState
	Reason string // the acquirer's word, at most 64 printable ASCII characters; "" for none
}

// SettlementState is the state of a capture or sale in an acquirer's reports.
type SettlementState string

// The states.
const (
	Unreported       SettlementState = ""        // it may still settle, or the acquirer does not have it
	Settled          SettlementState = "settled" // the acquirer took the money
	SettlementFailed SettlementState = "failed"  // the acquirer will not take the money, or not this amount
)
