package command

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// keyUse is the use of an Idempotency-Key, as v1 returns it.
type keyUse struct {
	found    bool
	running  bool      // its outcome is unknown
	refused  bool      // v1 refused it: it has no effect and never will
	conflict bool      // refused because the payment had changed since it was read
	effect   bool      // it made something: a payment, a decline, a refund
	made     time.Time // zero if v1 does not return it to this caller
	denied   *Result   // v1's refusal to show the key to the caller: then only found is certain

	resource string // the id of the object that it made, if v1 returned it
	purpose  string // of a reservation; "" if it is none
}

// final reports whether the use has ended and keeps the key. V1 then refuses the key to a delayed
// attempt of any other request.
func (u keyUse) final() bool { return u.found && !u.running && (u.denied == nil || u.purpose != "") }

// keyInUse returns the result of a request that found its key with a request that still runs.
func keyInUse() Result {
	return Result{Outcome: Uncertain, Status: http.StatusConflict, Code: v1.CodeKeyInUse}
}

// keyReused returns the result of a request whose name belongs to another request.
func keyReused() *Result {
	return &Result{Outcome: Refused, Status: http.StatusUnprocessableEntity, Code: v1.CodeKeyReused}
}

// mayActLate reports whether an attempt of the request may still have an effect under a key of that
// use. V1 refused the key to a later attempt, but may free it. The request must not use another key
// then.
func (r Result) mayActLate(u keyUse) bool {
	return r.Code == v1.CodeKeyReused && r.Outcome == Uncertain && !u.final()
}

// duplicateResult returns the result of a request that is equal to the use, if the use is running
// or was made after recent. Else it reports false.
func (u keyUse) duplicateResult(r Result, recent time.Time) (Result, bool) {
	switch {
	case u.running:
		// A running request must not be repeated, however long it takes.
		return keyInUse(), true
	case u.effect && (u.made.IsZero() || u.made.After(recent)):
		return Result{
			Outcome: Repeated, Status: r.Status, Transaction: r.Transaction, Refund: r.Refund,
			resource: u.resource,
		}, true
	}
	return Result{}, false
}

// loadDuplicated reads the payment that r duplicates, because a client that named a stored payment
// method does not have the charged source. Nothing changes if it cannot be read.
func (s session) loadDuplicated(ctx context.Context, r *Result) {
	if r.Outcome == Repeated && r.Transaction == nil && r.resource != "" {
		r.Transaction, _ = s.read(ctx, r.resource)
	}
}

// ofOtherRequest reports whether an earlier request has the key: v1 returned that request's
// response, or refused the key.
func (r Result) ofOtherRequest() bool { return r.replayed || r.Code == v1.CodeKeyReused }

// use returns the use of the key that a replayed response describes.
func (r Result) use() keyUse {
	return keyUse{
		found: true, effect: r.Outcome == Done || r.Outcome == Declined, running: r.Outcome == Uncertain, made: r.made,
	}
}

// awaitReads is how often a key in use is read again. Most requests end in a moment.
const awaitReads = 3

// awaitKey reads v1's record of a key, and again for a while as long as its request is running.
func (s session) awaitKey(ctx context.Context, key string) (keyUse, *Result) {
	for i := 0; ; i++ {
		u, failed := s.readKey(ctx, key)
		if failed != nil || !u.running || i == awaitReads || !v1client.Wait(ctx, s.x.cfg.FollowPause<<i) {
			return u, failed
		}
	}
}

// readKey reads an Idempotency-Key at v1. A caller without the right to read keys gets a use of
// unknown time for the key of its last request. It gets no use for any other key. See
// internal/providera/DIVERGENCES.md.
func (s session) readKey(ctx context.Context, key string) (keyUse, *Result) {
	resp := s.x.call(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.x.client.API.GetIdempotencyKey(ctx, key, s.authorized)
	})
	var found v1.IdempotencyKeyRecord
	r, ok := resp.read(&found, func() bool { return found.Key == "" || found.Key == key })
	switch {
	case !ok && r.Outcome == NotFound:
		return keyUse{}, nil
	case !ok && r.Status == http.StatusForbidden:
		return keyUse{found: key == s.idempotencyKey, effect: true, denied: &r}, nil
	case !ok:
		return keyUse{}, &r
	}
	u := keyUse{
		found: true, running: found.HTTPStatus == nil, made: found.CreatedAt.Time,
		resource: textOf(found.Resource), purpose: textOf(found.Purpose),
	}
	if !u.running {
		u.effect = effective(*found.HTTPStatus) && u.purpose == ""
		u.refused = refusal(*found.HTTPStatus) || u.purpose == refusedPurpose
		u.conflict = textOf(found.ErrorCode) == v1.CodeVersionConflict
	}
	return u, nil
}

// identity returns the fields of the payment: its amount, its payment source, and whether it is
// captured immediately.
func (c Authorize) identity() []string {
	b := c.Body
	parts := []string{string(c.Kind()), strconv.FormatInt(b.Amount, 10), b.Currency, b.PaymentMethod}
	if b.Capture != nil {
		parts = append(parts, string(*b.Capture))
	}
	if b.Customer != nil {
		parts = append(parts, "customer", *b.Customer)
	}
	parts = append(parts, cardIdentity(b.Card)...)
	if b.NetworkToken != nil {
		parts = append(parts, b.NetworkToken.Number.Reveal(), strconv.Itoa(b.NetworkToken.ExpMonth),
			strconv.Itoa(b.NetworkToken.ExpYear))
	}
	return append(parts, bankIdentity(b.BankAccount)...)
}

// identity returns the fields of the refund: its amount and its receiver.
func (c Credit) identity() []string {
	b := c.Body
	parts := []string{string(c.Kind()), "", strconv.FormatInt(*b.Amount, 10), *b.Currency, *b.PaymentMethod}
	return append(append(parts, cardIdentity(b.Card)...), bankIdentity(b.BankAccount)...)
}

func cardIdentity(c *v1.CardInput) []string {
	if c == nil {
		return nil
	}
	return []string{c.Number.Reveal(), strconv.Itoa(c.ExpMonth), strconv.Itoa(c.ExpYear)}
}

func bankIdentity(b *v1.BankAccountInput) []string {
	if b == nil {
		return nil
	}
	return []string{b.RoutingNumber, b.AccountNumber.Reveal()}
}

// identity returns the fields of the refund: its amount and its payment.
func (c Refund) identity() []string {
	last4 := c.Require.Last4
	if c.Require.MethodType == BankMethod {
		last4 = "" // clients send the end of a short account number in several lengths; the target has one account
	}
	parts := []string{string(c.Kind()), string(c.Target), c.Amount, c.Require.Currency, last4}
	if c.Require.Customer != "" {
		parts = append(parts, "customer", c.Require.Customer, c.Require.Method)
	}
	return parts
}
