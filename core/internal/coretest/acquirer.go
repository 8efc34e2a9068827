package coretest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

// Verb is a method of an acquirer.
type Verb string

// The verbs.
const (
	Authorize Verb = "authorize"
	Capture   Verb = "capture"
	Void      Verb = "void"
	Refund    Verb = "refund"
	Credit    Verb = "credit"
	Inquire   Verb = "inquire"
)

// Call is one request to the acquirer.
type Call struct {
	Verb          Verb
	Reference     string
	Authorization string             // the request that it follows; empty for an authorization
	Amount        int64              // minor units; 0 for an inquiry
	Final         bool               // of a capture: it releases the rest
	Initiator     acquirer.Initiator // of an authorization
}

// Acquirer responds as its fields decide, and records every effect by its reference, as the port
// requires. The zero value approves. It is safe for concurrent use. Its hooks run outside its lock,
// in the caller's goroutine, and may block or panic.
type Acquirer struct {
	// Before runs before the effect; with an error the effect does not happen.
	Before func(ctx context.Context, c Call) error
	// Decide gives the decline code of a new effect, "" to approve; nil approves.
	Decide func(c Call) string
	// Network is the network's part of each new decline.
	Network acquirer.NetworkDecline
	// Retryable is whether each new decline is retryable.
	Retryable bool
	// Grant returns the approved amount of a new authorization; nil approves the whole amount.
	Grant func(c Call) int64
	// After runs once the effect has happened; with an error the response is lost.
	After func(ctx context.Context, c Call) error
	// Report changes the response on its way, so that it contradicts the effect; nil reports the
	// truth. Inquire always reports the truth.
	Report func(c Call, a acquirer.Response) acquirer.Response
	// Proves makes a repeated capture, void or refund without an earlier effect return
	// acquirer.ErrNotFound.
	Proves bool
	// Settle reports settlements; nil reports that all are settled.
	Settle func(ctx context.Context, of []acquirer.Sent) ([]acquirer.Settlement, error)
	// Unprepared is the error of Prepare; nil for none.
	Unprepared error

	rules *rules // nil: the acquirer gives no tags and ids, and checks nothing

	mu        sync.Mutex
	follows   []acquirer.Follow
	payments  []acquirer.Authorize
	credits   []acquirer.Credit
	responses map[string]acquirer.Response // by reference
	calls     []Call
	moved     map[Verb]int64 // approved minor units by verb

	holds    map[string]int64 // minor units that are held or taken, by the reference of the authorization
	rests    map[string]int64 // minor units that are held and not captured, by the same reference
	released map[string]bool  // authorizations that were voided after they had been approved
}

var (
	_ acquirer.Acquirer = (*Acquirer)(nil)
	_ acquirer.Reporter = (*Acquirer)(nil)
)

// Prepare implements acquirer.Acquirer.
func (a *Acquirer) Prepare(context.Context) (string, error) {
	if a.Unprepared != nil || a.rules == nil {
		return "", a.Unprepared
	}
	return a.rules.prepare(), nil
}

// Authorize implements acquirer.Acquirer.
func (a *Acquirer) Authorize(ctx context.Context, r acquirer.Authorize) (acquirer.Response, error) {
	a.mu.Lock()
	a.payments = append(a.payments, r)
	a.mu.Unlock()
	kind := acquirer.Authorization
	if r.Capture {
		kind = acquirer.Sale
	}
	a.rules.sent(acquirer.Sent{Kind: kind, Reference: r.Reference, Tag: r.Tag, Amount: r.Amount, Currency: r.Currency}, false)
	return a.respond(ctx, Call{Verb: Authorize, Reference: r.Reference, Amount: r.Amount, Initiator: r.Initiator})
}

// Capture implements acquirer.Acquirer.
func (a *Acquirer) Capture(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	return a.follow(ctx, Capture, acquirer.Capture, r)
}

// Void implements acquirer.Acquirer.
func (a *Acquirer) Void(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	return a.follow(ctx, Void, acquirer.Void, r)
}

// Refund implements acquirer.Acquirer.
func (a *Acquirer) Refund(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	return a.follow(ctx, Refund, acquirer.Refund, r)
}

// follow responds to a step on an authorization.
func (a *Acquirer) follow(
	ctx context.Context, v Verb, k acquirer.Kind, r acquirer.Follow,
) (acquirer.Response, error) {
	a.mu.Lock()
	a.follows = append(a.follows, r)
	_, known := a.responses[r.Reference]
	approved := a.responses[r.Original.Reference].Amount
	a.mu.Unlock()
	own := acquirer.Sent{Kind: k, Reference: r.Reference, Tag: r.Tag, Amount: r.Amount, Currency: r.Currency}
	a.rules.sent(own, r.Again)
	a.rules.follows(r.Original, approved)
	for _, c := range r.Captures {
		a.rules.names(c)
	}
	if a.Proves && r.Again && !known {
		a.rules.prove(r.Reference)
		return acquirer.Response{}, acquirer.ErrNotFound
	}
	return a.respond(ctx, Call{
		Verb: v, Reference: r.Reference, Authorization: r.Original.Reference, Amount: r.Amount, Final: v == Capture && r.Final,
	})
}

// Arrive makes the acquirer process a payment whose request was delayed on its way.
func (a *Acquirer) Arrive(r acquirer.Authorize) {
	a.effect(Call{Verb: Authorize, Reference: r.Reference, Amount: r.Amount})
}

// Payments returns all authorizations so far as they were requested, in their order.
func (a *Acquirer) Payments() []acquirer.Authorize {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.payments)
}

// Credits returns all unlinked refunds so far as they were requested, in their order.
func (a *Acquirer) Credits() []acquirer.Credit {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.credits)
}

// Follows returns all captures, voids and refunds so far as they were requested, in their order.
func (a *Acquirer) Follows() []acquirer.Follow {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.follows)
}

// Credit implements acquirer.Acquirer.
func (a *Acquirer) Credit(ctx context.Context, r acquirer.Credit) (acquirer.Response, error) {
	a.mu.Lock()
	a.credits = append(a.credits, r)
	a.mu.Unlock()
	a.rules.sent(acquirer.Sent{
		Kind: acquirer.UnlinkedRefund, Reference: r.Reference, Tag: r.Tag, Amount: r.Amount, Currency: r.Currency,
	}, false)
	return a.respond(ctx, Call{Verb: Credit, Reference: r.Reference, Amount: r.Amount})
}

// Inquire implements acquirer.Acquirer.
func (a *Acquirer) Inquire(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	a.rules.names(about)
	c := Call{Verb: Inquire, Reference: about.Reference}
	if a.Before != nil {
		if err := a.Before(ctx, c); err != nil {
			return acquirer.Response{}, err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, c)
	response, ok := a.responses[about.Reference]
	if !ok {
		return acquirer.Response{}, acquirer.ErrNotFound
	}
	response.Released = a.released[about.Reference]
	return response, nil
}

// Settled implements acquirer.Reporter.
func (a *Acquirer) Settled(ctx context.Context, of []acquirer.Sent) ([]acquirer.Settlement, error) {
	for _, s := range of {
		a.rules.took(s)
	}
	if a.Settle != nil {
		return a.Settle(ctx, of)
	}
	return slices.Repeat([]acquirer.Settlement{{State: acquirer.Settled}}, len(of)), nil
}

func (a *Acquirer) respond(ctx context.Context, c Call) (acquirer.Response, error) {
	if a.Before != nil {
		if err := a.Before(ctx, c); err != nil {
			return acquirer.Response{}, err
		}
	}
	response := a.effect(c)
	if a.After != nil {
		if err := a.After(ctx, c); err != nil {
			return acquirer.Response{}, afterEffect(err)
		}
	}
	if a.Report != nil {
		response = a.Report(c, response)
	}
	return response, nil
}

// afterEffect returns the error of a request that had its effect: no acquirer may call it
// ErrUnavailable.
func afterEffect(err error) error {
	if errors.Is(err, acquirer.ErrUnavailable) {
		return fmt.Errorf("%w: %s", acquirer.ErrUnknown, err.Error())
	}
	return err
}

// effect happens once per reference.
func (a *Acquirer) effect(c Call) acquirer.Response {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, c)
	if response, ok := a.responses[c.Reference]; ok {
		return response
	}
	response := acquirer.Response{
		Approved: true, Code: "A1B2C3", ResponseCode: "00", Amount: c.Amount, ExpiresAt: Birth.Add(7 * 24 * time.Hour),
		Checks: acquirer.Checks{CVC: "not_provided", AddressLine: "not_provided", PostalCode: "not_provided"},
	}
	if a.rules != nil {
		response.ID = IDOf(c.Reference)
	}
	if a.Decide != nil {
		if code := a.Decide(c); code != "" {
			response.Approved, response.Code, response.ResponseCode, response.DeclineCode, response.Amount = false, "", "05", code, 0
			response.Network, response.Retryable = a.Network, a.Retryable
		}
	}
	if a.Grant != nil && response.Approved && c.Verb == Authorize {
		response.Amount = a.Grant(c)
	}
	if a.responses == nil {
		a.responses, a.moved = map[string]acquirer.Response{}, map[Verb]int64{}
	}
	a.responses[c.Reference] = response
	a.moved[c.Verb] += response.Amount
	if response.Approved {
		a.hold(c, response.Amount)
	}
	return response
}

// hold counts the money that the acquirer holds after an approved request. A void that arrives
// before its request has no effect: the late request is approved. The engine must be ready for such
// an acquirer.
func (a *Acquirer) hold(c Call, approved int64) {
	if a.holds == nil {
		a.holds, a.rests, a.released = map[string]int64{}, map[string]int64{}, map[string]bool{}
	}
	switch c.Verb {
	case Authorize:
		a.holds[c.Reference], a.rests[c.Reference] = approved, approved
	case Void:
		if _, known := a.responses[c.Authorization]; known {
			a.holds[c.Authorization], a.rests[c.Authorization], a.released[c.Authorization] = 0, 0, true
		}
	case Refund:
		if _, authorized := a.holds[c.Authorization]; authorized { // otherwise the void is only of a capture
			a.holds[c.Authorization] -= c.Amount
		}
	case Capture:
		a.rests[c.Authorization] -= approved
		if c.Final {
			a.holds[c.Authorization] -= max(0, a.rests[c.Authorization])
			a.rests[c.Authorization] = 0
		}
	case Credit, Inquire:
	}
}

// Held returns the amount that is held or taken under an authorization, in minor units.
func (a *Acquirer) Held(reference string) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.holds[reference]
}

// HeldInAll returns the amount that is held or taken under all authorizations.
func (a *Acquirer) HeldInAll() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := int64(0)
	for _, amount := range a.holds {
		sum += amount
	}
	return sum
}

// Moved returns the amount that was approved by a verb, in minor units, each reference once.
func (a *Acquirer) Moved(v Verb) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.moved[v]
}

// Calls returns all requests so far with a verb, including repeated ones.
func (a *Acquirer) Calls(v Verb) []Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []Call
	for _, c := range a.calls {
		if c.Verb == v {
			out = append(out, c)
		}
	}
	return out
}
