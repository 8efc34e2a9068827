package providera

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/secret"
)

// authorizationLife is how long an authorization can be captured at the provider.
const authorizationLife = 30 * 24 * time.Hour

// errDuplicate reports that an equal request exists. It is acquirer.ErrUnknown: the outcome of that
// request is not known.
var errDuplicate = fmt.Errorf("providera: an equal request exists: %w", acquirer.ErrUnknown)

// question is the part of a request that its response must fit.
type question struct {
	kind     acquirer.Kind
	refID    string
	original string // number of the transaction that it follows; "" for none
	amount   int64
	currency string
	account  secret.String // full number of the source; zero if the response shows another one
	given    given
	now      time.Time
}

// decode returns the outcome of a transaction. The error is acquirer.ErrUnavailable if the response
// proves that the request had no effect, and else acquirer.ErrUnknown. Errors have no text of the
// response.
func decode(q question, body []byte) (acquirer.Response, error) {
	d, err := parse("createTransaction", body)
	if err != nil {
		return acquirer.Response{}, err
	}
	t := d.Transaction
	switch {
	case d.RefID.given && d.RefID.value != q.refID:
		return acquirer.Response{}, contradiction("reference")
	case t == nil || !t.ResponseCode.given:
		return decodeEnvelope(d)
	case !d.RefID.given: // every request has one, and the outcome of a transaction repeats it
		return acquirer.Response{}, contradiction("no reference")
	case t.Test.value == "1" && number(t.ID) == "":
		return acquirer.Response{}, fmt.Errorf("providera: the account is in test mode: %w", acquirer.ErrUnavailable)
	}
	v, reason, err := t.verdict(d)
	if err != nil {
		return acquirer.Response{}, err
	}
	if reason == reasonVoided || reason == reasonCaptured {
		return decodeEarlier(q, t, v, reason)
	}
	switch v.class {
	case approved:
		return decodeApproval(q, d)
	case declined:
		a := q.decline(t, v)
		a.OwnCode = strconv.Itoa(reason)
		return a, nil
	case noEffect:
		return acquirer.Response{}, fmt.Errorf("providera: reason %d: %w", reason, acquirer.ErrUnavailable)
	case unknown:
	}
	if reason == reasonDuplicate || reason == reasonProcessorDup {
		return acquirer.Response{}, errDuplicate
	}
	return acquirer.Response{}, fmt.Errorf(
		"providera: %w: response code %s, reason %d", acquirer.ErrUnknown, shown(t.ResponseCode.value), reason)
}

func contradiction(what string) error {
	return fmt.Errorf("providera: %w: the response contradicts the request: %s", acquirer.ErrUnknown, what)
}

// decodeEnvelope returns the outcome of a request without a transaction.
func decodeEnvelope(d *document) (acquirer.Response, error) {
	v, found := verdict{class: unknown}, false
	for _, m := range d.Messages.Message {
		next, known := envelopes[m.Code.value]
		if !known || found && next != v {
			v = verdict{class: unknown}
			break
		}
		v, found = next, true
	}
	switch {
	case d.ok() || v.class == unknown:
		return acquirer.Response{}, fmt.Errorf("providera: %w: %s", acquirer.ErrUnknown, shown(d.code()))
	case v.class == noEffect:
		return acquirer.Response{}, fmt.Errorf("providera: %s: %w", shown(d.code()), acquirer.ErrUnavailable)
	}
	a := v.outcome()
	a.OwnCode = shown(d.code())
	return a, nil
}

// verdict returns the meaning of all reasons of a transaction, and the first one.
func (t *transactionResponse) verdict(d *document) (verdict, int, error) {
	var codes []text
	for _, m := range t.Messages {
		codes = append(codes, m.Code)
	}
	for _, e := range t.Errors {
		codes = append(codes, e.Code)
	}
	accepted := t.ResponseCode.value == "1" || t.ResponseCode.value == "4"
	fits := len(codes) > 0 && (d.code() == codeOK || d.code() == codeUnsuccessful) &&
		(!accepted || d.ok() && len(t.Errors) == 0) && (accepted || len(t.Messages) == 0)
	if !fits {
		return verdict{}, 0, contradiction("response code")
	}
	out, first := verdict{class: unknown}, 0
	for i, code := range codes {
		reason, err := strconv.Atoi(code.value)
		if err != nil {
			return verdict{class: unknown}, first, nil //nolint:nilerr // an unreadable reason is unknown
		}
		v := meaning(t.ResponseCode.value, reason)
		switch {
		case i == 0:
			out, first = v, reason
		case v.class != out.class:
			return verdict{class: unknown}, first, nil
		case out.retryable(): // each reason must be
			out = v
		}
	}
	return out, first, nil
}

// The codes of an envelope around a transaction.
const (
	codeOK           = "I00001"
	codeUnsuccessful = "E00027"
)

// decodeEarlier returns the outcome of a capture or void of a transaction that was voided or
// captured before. Such a void has reached its end.
func decodeEarlier(q question, t *transactionResponse, v verdict, reason int) (acquirer.Response, error) {
	if original := number(t.Original); original != "" && original != q.original {
		return acquirer.Response{}, contradiction("original")
	}
	switch {
	case q.kind == acquirer.Void && reason == reasonVoided:
		return acquirer.Response{Approved: true, ResponseCode: isoApproved, ID: q.original, Amount: q.amount}, nil
	case q.kind == acquirer.Capture:
		return v.outcome(), nil
	}
	return acquirer.Response{}, contradiction("reason")
}

// outcome returns a decline without further data.
func (v verdict) outcome() acquirer.Response {
	return acquirer.Response{ResponseCode: v.response, DeclineCode: string(v.decline)}
}

// decline returns the decline of a transaction. If a filter of the account declined, the response
// also has the issuer's approval code.
func (q question) decline(t *transactionResponse, v verdict) acquirer.Response {
	a := v.outcome()
	if id := number(t.ID); id != q.original {
		a.ID = id
	}
	if q.source() {
		a.Code, a.NetworkTransactionID = authCode(t.AuthCode), networkID(t.NetworkTransactionID)
		a.Checks = checksOf(t.AVS, t.CVC, t.CAVV, q.given)
	}
	if q.source() && t.ResponseCode.value == responseDeclined {
		a.Network, a.Retryable = v.network(), v.retryable()
	}
	return a
}

// responseDeclined is the response code of a decline. A request that was not processed has another
// one.
const responseDeclined = "2"

// source reports whether an issuer decides about the request.
func (q question) source() bool { return q.kind == acquirer.Authorization || q.kind == acquirer.Sale }

// decodeApproval returns an approval that fits the request.
func decodeApproval(q question, d *document) (acquirer.Response, error) {
	t := d.Transaction
	id, original := number(t.ID), t.Original.value
	a := acquirer.Response{Approved: true, ResponseCode: isoApproved, ID: id, Amount: q.amount}
	switch {
	case id == "":
		return acquirer.Response{}, contradiction("no transaction")
	case original != "" && original != "0" && original != q.original:
		return acquirer.Response{}, contradiction("original")
	}
	switch q.kind {
	case acquirer.Capture, acquirer.Void:
		if id != q.original {
			return acquirer.Response{}, contradiction("another transaction")
		}
		return a, nil
	case acquirer.Refund, acquirer.UnlinkedRefund:
		if id == q.original {
			return acquirer.Response{}, contradiction("the original itself")
		}
		return a, q.checkAccount(t.Account)
	case acquirer.Authorization, acquirer.Sale:
	}
	if err := errors.Join(q.checkAccount(t.Account), q.partial(t, &a)); err != nil {
		return acquirer.Response{}, err
	}
	a.Code, a.NetworkTransactionID = authCode(t.AuthCode), networkID(t.NetworkTransactionID)
	a.Checks = checksOf(t.AVS, t.CVC, t.CAVV, q.given)
	if q.kind == acquirer.Authorization {
		a.ExpiresAt = q.now.Add(authorizationLife)
	}
	return a, nil
}

// checkAccount returns an error if the response shows another account than the request's.
func (q question) checkAccount(shown text) error {
	digits := strings.TrimLeft(shown.value, "Xx")
	if q.account.IsZero() || strings.HasSuffix(q.account.Reveal(), digits) {
		return nil
	}
	return contradiction("account")
}

// partial adds the approved amount, if the response names one, and the balance of a prepaid card.
func (q question) partial(t *transactionResponse, a *acquirer.Response) error {
	p := t.Prepaid
	if balance, ok := minor(p.Balance.value, q.currency); ok {
		a.Balance = acquirer.Balance{Given: true, Amount: balance}
	}
	if p.Requested.given {
		if requested, ok := minor(p.Requested.value, q.currency); !ok || requested != q.amount {
			return contradiction("requested amount")
		}
	}
	if p.Approved.given {
		amount, ok := minor(p.Approved.value, q.currency)
		if !ok || amount < 0 || amount > q.amount {
			return contradiction("approved amount")
		}
		a.Amount = amount
	}
	whole := t.ResponseCode.value == "1"
	if whole != (a.Amount == q.amount) || !whole && a.Amount == 0 {
		return contradiction("approved amount")
	}
	return nil
}

// authCode returns an issuer's approval code, "" for any other text.
func authCode(t text) string {
	const longest = 6
	code := strings.ToUpper(t.value)
	if len(code) > longest || !alphanumeric(code) {
		return ""
	}
	return code
}

// networkID returns a network's number of a transaction, "" for any other text.
func networkID(t text) string {
	const longest = 64
	if len(t.value) > longest || !alphanumeric(t.value) {
		return ""
	}
	return t.value
}
