package providerb

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/money"
)

// timeoutAfter is the time that the provider wants between an operation and its timeout reversal.
const timeoutAfter = time.Minute

// remembered is the age up to which the provider certainly finds an operation by its transactionId.
// It wants a transactionId to be unique for 60 days, but promises no time. This is half of that.
const remembered = 30 * 24 * time.Hour

// Inquire implements acquirer.Acquirer. An operation with an id has its state at the provider. A
// void has that of the operations that it undoes. Any other is undone by its transactionId, and is
// then an approval that was released.
func (c *Connector) Inquire(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	if about.Kind == acquirer.Void {
		return c.voided(ctx, about)
	}
	if about.ID != "" {
		return c.look(ctx, about)
	}
	found, err := c.undo(ctx, about)
	switch {
	case err != nil:
		return acquirer.Response{}, err
	case !found.Released:
		return acquirer.Response{}, fmt.Errorf("provider-b: inquire: %w", acquirer.ErrNotFound)
	}
	return found, nil
}

// undoEarlier undoes the earlier attempt at a capture or refund. The error is acquirer.ErrNotFound
// if the attempt has no effect: either it was undone, or the provider does not find it.
func (c *Connector) undoEarlier(
	ctx context.Context, kind acquirer.Kind, r acquirer.Follow,
) (released bool, err error) {
	found, err := c.undo(ctx, acquirer.Sent{
		Kind: kind, Reference: r.Reference, Tag: r.Tag, Amount: r.Amount, Currency: r.Currency,
	})
	if err != nil {
		return false, err
	}
	return found.Released, fmt.Errorf("provider-b: %s: %w", kind, acquirer.ErrNotFound)
}

// unrefunded reports whether the details of a sale or capture prove that it has no refund. A
// provider that voids no refunds finds none by a transactionId. If earlier refunds exist, or the
// details show no rest, they prove nothing. An authorization may have several captures, so its
// details prove nothing either.
func (c *Connector) unrefunded(ctx context.Context, r acquirer.Follow) bool {
	of := refunded(r)
	if !validID(of.ID) || of.Kind == acquirer.Authorization {
		return false
	}
	response, err := c.get(ctx, of.ID)
	if err != nil || response.Status != http.StatusOK {
		return false
	}
	body, err := parse(response.Body)
	rest := body.Order.Amounts.Refundable
	if err != nil || body.ID != of.ID || rest == "" {
		return false
	}
	currency, _ := money.Lookup(r.Currency)
	n, err := money.Parse(rest, currency.Exponent)
	return err == nil && n == of.Amount
}

// undo undoes an operation by its transactionId. The response is Released if the operation was
// undone. It is zero if the provider does not have the operation, and so much time has passed that
// it cannot arrive. In all other cases the error is acquirer.ErrUnknown. The provider finds only
// recent operations. So one that may have moved money is never missing once the provider refused
// to undo it. Nor is one whose first look came too late.
func (c *Connector) undo(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	result, age, err := c.tryUndo(ctx, about)
	switch {
	case err != nil:
		return acquirer.Response{}, err
	case result == undone:
		return acquirer.Response{Approved: true, Released: true, ResponseCode: "00", Amount: about.Amount}, nil
	case result == refused:
		return acquirer.Response{}, fmt.Errorf("provider-b: %w: it refuses to undo it", acquirer.ErrUndecided)
	}
	missed, found, err := c.missing.Missed(ctx, about.Reference)
	switch {
	case err != nil:
		return acquirer.Response{}, fmt.Errorf("provider-b: %w: %w", acquirer.ErrUnknown, err)
	case found:
		return acquirer.Response{}, fmt.Errorf(
			"provider-b: %w: it refused to undo it, and does not find it any more", acquirer.ErrUndecided)
	case age-missed > remembered:
		return acquirer.Response{}, fmt.Errorf(
			"provider-b: %w: too old at the first look for it, so the provider may have forgotten it", acquirer.ErrUndecided)
	case missed < c.settle || age < c.settle:
		return acquirer.Response{}, unknownUndo("the provider does not have it yet")
	}
	return acquirer.Response{}, nil
}

// tryUndo undoes an operation by its transactionId, unless it is too early. It returns the age of
// the operation.
func (c *Connector) tryUndo(
	ctx context.Context, about acquirer.Sent,
) (result undoResult, age time.Duration, err error) {
	since, err := time.Parse(time.RFC3339, about.Tag)
	age = c.clock.Now().Sub(since)
	switch {
	case err != nil:
		return "", 0, unknownUndo("no time in the tag")
	case about.Kind == acquirer.Void || about.Kind == "":
		return "", 0, unknownUndo("nothing undoes a void")
	case age < timeoutAfter:
		return "", 0, unknownUndo("too early for a timeout reversal")
	}
	result, err = c.undoSent(ctx, about)
	return result, age, err
}

// undoSent undoes an operation by its transactionId. A sale has a capture and an authorization. If
// the capture was voided, a refusal to release the authorization changes nothing: it lapses. A sale
// that the provider held has no capture.
func (c *Connector) undoSent(ctx context.Context, about acquirer.Sent) (undoResult, error) {
	if about.Kind == acquirer.Authorization {
		return c.timeout(ctx, about, true)
	}
	voided, err := c.timeout(ctx, about, false)
	if err != nil || voided == missing || about.Kind != acquirer.Sale {
		return voided, err
	}
	reversed, err := c.timeout(ctx, about, true)
	switch {
	case err != nil:
		return "", err
	case voided == undone || reversed == undone:
		return undone, nil
	}
	return refused, nil
}

// undoResult is the response to a timeout reversal or a timeout void.
type undoResult string

const (
	undone  undoResult = "undone"
	missing undoResult = "missing" // the provider does not have the operation
	refused undoResult = "refused" // it has the operation, or another reason
)

func unknownUndo(why string) error {
	return fmt.Errorf("provider-b: %w: %s", acquirer.ErrUnknown, why)
}

// timeout sends a timeout reversal or a timeout void.
func (c *Connector) timeout(ctx context.Context, about acquirer.Sent, reversal bool) (undoResult, error) {
	request, err := encodeTimeout(about, reversal)
	if err != nil {
		return "", fmt.Errorf("%w: %w", acquirer.ErrUnknown, err)
	}
	s := sent{operation: voiding, amount: anyAmount, currency: about.Currency}
	if reversal {
		s.operation = reversing
	}
	out, err := c.send(ctx, request, s)
	if about.Kind != acquirer.Authorization && out.provesOperation(err) { // no one can capture it without its id
		if err := c.missing.Found(ctx, about.Reference); err != nil {
			return "", fmt.Errorf("provider-b: timeout reversal: %w: %w", acquirer.ErrUnknown, err)
		}
	}
	switch {
	case err != nil: // ErrUnavailable is about this request only
		return "", fmt.Errorf("provider-b: timeout reversal: %w: %s", acquirer.ErrUnknown, acquirer.Cause(err))
	case out.response.Approved:
		return undone, nil
	case out.reason == "INVALID_DATA" && namesTransaction(out.body),
		out.reason == "MISSING_AUTH" && about.Kind == acquirer.Authorization:
		return missing, nil
	}
	return refused, nil
}

// provesOperation reports whether the response to a timeout reversal or void proves that the
// provider has the operation, which may have moved money. err is the error of the response.
func (o outcome) provesOperation(err error) bool {
	switch o.reason {
	case "TRANSACTION_ALREADY_SETTLED", "TRANSACTION_ALREADY_REVERSED_OR_SETTLED":
		return true
	case "MISSING_FIELD", "INVALID_DATA", "MISSING_AUTH", "NOT_SUPPORTED": // about the request or the account
		return false
	}
	return err == nil && !o.response.Approved
}

// namesTransaction reports whether a refusal names no field, or only the transactionId.
func namesTransaction(body responseBody) bool {
	for _, d := range body.Details {
		if d.Field != "clientReferenceInformation.transactionId" {
			return false
		}
	}
	return true
}

// voided returns the outcome of a void by the state of the captures, which the void ends first.
// Without a capture, the payment's state decides. Until the void has had an effect, it is not
// found.
func (c *Connector) voided(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	if about.Follow == nil {
		return acquirer.Response{}, unknownUndo("a void without its payment")
	}
	ends := about.Follow.Captures
	if len(ends) == 0 {
		ends = []acquirer.Sent{about.Follow.Original}
	}
	released, stands := 0, ""
	for _, one := range ends {
		if one.ID == "" {
			return acquirer.Response{}, fmt.Errorf("provider-b: %w: no id of the voided operation", acquirer.ErrUndecided)
		}
		found, err := c.look(ctx, one)
		if err != nil {
			return acquirer.Response{}, err
		}
		if found.Released {
			released++
		} else {
			stands = one.ID
		}
	}
	switch released {
	case len(ends):
		return acquirer.Response{Approved: true, ResponseCode: "00", Amount: about.Amount}, nil
	case 0:
		return acquirer.Response{}, fmt.Errorf("provider-b: no void so far: %w", acquirer.ErrNotFound)
	}
	return acquirer.Response{}, fmt.Errorf(
		"provider-b: %w: only a part is voided, and not the capture %s", acquirer.ErrUndecided, stands)
}

// look reads the state of an operation by its id. The provider shows new operations late, so an
// operation that is not found is unknown.
func (c *Connector) look(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	out, _, err := c.lookState(ctx, about)
	return out, err
}

// lookState is look, and also returns the status in the details.
func (c *Connector) lookState(ctx context.Context, about acquirer.Sent) (acquirer.Response, string, error) {
	if !validID(about.ID) {
		return acquirer.Response{}, "", fmt.Errorf("provider-b: inquire: %w: invalid id", acquirer.ErrUnknown)
	}
	response, err := c.get(ctx, about.ID)
	if err != nil {
		return acquirer.Response{}, "", fmt.Errorf("provider-b: inquire: %w", acquirer.ErrUnknown)
	}
	out, err := decodeDetails(response, about)
	if err != nil {
		return out, "", err
	}
	body, err := parse(response.Body)
	return out, body.state(), err
}

// states are the statuses of an operation in its details: true for an approval that stands, false
// for one that was undone or has lapsed.
var states = map[string]bool{
	"AUTHORIZED": true, "PARTIAL_AUTHORIZED": true, "AUTHORIZED_PENDING_REVIEW": true, "PENDING": true,
	"TRANSMITTED": true, "REVERSED": false, "VOIDED": false, "CANCELLED": false,
}

// failed are the statuses of operations that had no effect.
var failed = map[string]bool{"DECLINED": true, "FAILED": true}

// decodeDetails returns the outcome of an operation by its details.
func decodeDetails(r upstream.Response, about acquirer.Sent) (acquirer.Response, error) {
	body, err := parse(r.Body)
	switch {
	case err != nil:
		return acquirer.Response{}, unknownFor(r, errMalformed)
	case r.Status != http.StatusOK:
		return acquirer.Response{}, unknownFor(r, errHTTP)
	case body.ID != about.ID:
		return acquirer.Response{}, unknownFor(r, errMalformed)
	}
	status := body.state()
	stands, known := states[status]
	switch {
	case failed[status]:
		why, known := declines[body.ErrorInformation.Reason]
		if !known {
			why = declines["GENERAL_DECLINE"]
		}
		out := declinedBy(why, body)
		out.Network = networkDecline(why, body)
		return out, nil
	case !known || status == "AUTHORIZED_PENDING_REVIEW" && about.Kind == acquirer.Sale:
		return acquirer.Response{}, fmt.Errorf("provider-b: %w: another status", acquirer.ErrUndecided)
	}
	amount, err := detailedAmount(body, about)
	if err != nil {
		return acquirer.Response{}, fmt.Errorf("provider-b: %w: %w", acquirer.ErrUndecided, err)
	}
	return acquirer.Response{
		Approved: true, Released: !stands, ID: body.ID, ResponseCode: "00", Amount: amount, Code: approvalCode(body),
		NetworkTransactionID: networkID(body.Processor), NetworkLinkID: linkID(body.Processor),
		Checks: acquirer.Checks{CVC: notProcessed, AddressLine: notProcessed, PostalCode: notProcessed},
	}, nil
}

// detailedAmount returns the amount of an operation by its details: the authorized amount of a
// payment, the total of any other.
func detailedAmount(body responseBody, about acquirer.Sent) (int64, error) {
	a, text := body.Order.Amounts, body.Order.Amounts.Total
	if about.Kind == acquirer.Authorization || about.Kind == acquirer.Sale {
		text = a.Authorized
	}
	c, _ := money.Lookup(about.Currency)
	n, err := money.Parse(text, c.Exponent)
	if err != nil || n < 0 || n > about.Amount || !strings.EqualFold(a.Currency, about.Currency) {
		return 0, errMalformed
	}
	return n, nil
}
