package payment

import (
	"fmt"
	"slices"
)

// Status is the state of the payment itself. Its settlement and its refunds are separate axes.
type Status string

// The statuses. Voided, Canceled, Declined, Failed and Expired are terminal.
const (
	RequiresConfirmation Status = "requires_confirmation" // the acquirer has no request yet
	Processing           Status = "processing"            // the intent is durable, the outcome is not yet
	Unknown              Status = "unknown"               // the acquirer's response was lost; recovery inquires
	Authorized           Status = "authorized"
	PartiallyCaptured    Status = "partially_captured"
	Captured             Status = "captured"
	Voided               Status = "voided"
	Canceled             Status = "canceled" // canceled before its confirmation, or not confirmed in time
	Declined             Status = "declined"
	Failed               Status = "failed"  // the acquirer has no such payment: nothing was moved
	Expired              Status = "expired" // the authorization lapsed before anything was captured
)

// Step is something that happens to a transaction.
type Step string

// The steps.
const (
	Confirm        Step = "confirm"         // the intent to call the acquirer is durable
	Withdraw       Step = "withdraw"        // the acquirer never received it: the state before the confirmation
	Approve        Step = "approve"         // the acquirer reserved the amount
	ApproveCapture Step = "approve_capture" // the acquirer reserved and took it
	Decline        Step = "decline"
	DeclineTry     Step = "decline_try" // of a confirmation; another one may follow
	Fail           Step = "fail"
	Lose           Step = "lose" // the response was lost
	CapturePart    Step = "capture_part"
	CaptureRest    Step = "capture_rest"
	Void           Step = "void"
	Expire         Step = "expire" // the authorization lapsed, and its captures stay; or it was not confirmed in time
)

// transitions is the whole state machine: a step not listed for a status is refused.
var transitions = map[Status]map[Step]Status{
	RequiresConfirmation: {
		Confirm: Processing, Void: Canceled, Expire: Canceled,
	},
	Processing: {
		Withdraw: RequiresConfirmation, DeclineTry: RequiresConfirmation,
		Approve: Authorized, ApproveCapture: Captured, Decline: Declined, Fail: Failed, Lose: Unknown,
	},
	Unknown: { // it never waits for a confirmation again: the lost one may still have an effect
		Approve: Authorized, ApproveCapture: Captured, Decline: Declined, Fail: Failed,
	},
	Authorized: {
		CapturePart: PartiallyCaptured, CaptureRest: Captured, Void: Voided, Expire: Expired,
	},
	PartiallyCaptured: {
		CapturePart: PartiallyCaptured, CaptureRest: Captured, Void: Voided, Expire: Captured,
	},
	Captured: {
		Void: Voided,
	},
	Voided:   {},
	Canceled: {},
	Declined: {},
	Failed:   {},
	Expired:  {},
}

// Statuses lists every status, in the order a payment meets them.
func Statuses() []Status {
	return []Status{
		RequiresConfirmation, Processing, Unknown, Authorized, PartiallyCaptured, Captured, Voided, Canceled,
		Declined, Failed, Expired,
	}
}

// Steps lists every step.
func Steps() []Step {
	return []Step{
		Confirm, Withdraw, Approve, ApproveCapture, Decline, DeclineTry, Fail, Lose, CapturePart, CaptureRest, Void, Expire,
	}
}

// Next returns the status a step leads to, or an error when the step is not allowed from s.
func (s Status) Next(step Step) (Status, error) {
	next, ok := transitions[s][step]
	if !ok {
		return s, fmt.Errorf("payment: no %s from %s", step, s)
	}
	return next, nil
}

// Open reports whether the authorization has no outcome yet.
func (s Status) Open() bool {
	return slices.Contains([]Status{Processing, Unknown}, s)
}
