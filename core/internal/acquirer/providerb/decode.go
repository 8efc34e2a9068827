package providerb

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/jsonscan"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// sent is the operation that a response must fit.
type sent struct {
	operation operation
	body      requestBody
	amount    int64 // minor units requested, or anyAmount
	currency  string
}

// anyAmount stands for an operation that is of an unknown amount.
const anyAmount = -1

// outcome is a decoded response. The class is approved, declined, held or done.
type outcome struct {
	class    class
	response acquirer.Response
	body     responseBody
	reason   string
}

// errMalformed reports a response that is not of the provider's form, or contradicts its request.
var errMalformed = errors.New("the response does not fit the request")

// errHTTP reports a response that proves nothing about the request.
var errHTTP = errors.New("the response has no outcome")

// decode returns the outcome of a request. The error is acquirer.ErrUnavailable if the provider
// refused the account, and else acquirer.ErrUnknown. No error has any text of the response.
func decode(r upstream.Response, s sent) (outcome, error) {
	body, err := parse(r.Body)
	if err != nil {
		return outcome{}, unknownFor(r, errMalformed)
	}
	switch r.Status {
	case http.StatusCreated:
		return decodeProcessed(r, body, s)
	case http.StatusBadRequest:
		return decodeRefused(r, body, s)
	case http.StatusUnauthorized:
		if body.Response.Message != "" && body.Status == "" {
			return outcome{}, fmt.Errorf("provider-b: %w: the credentials were refused", acquirer.ErrUnavailable)
		}
	}
	return outcome{}, unknownFor(r, errHTTP)
}

func unknownFor(r upstream.Response, why error) error {
	return fmt.Errorf("provider-b: HTTP %d: %w: %w", r.Status, acquirer.ErrUnknown, why)
}

// parse reads a body. A name in another spelling, a repeated name and a value of another type are
// errors where the connector reads them.
func parse(text []byte) (responseBody, error) {
	var body responseBody
	if jsontext.Value(text).Kind() != jsontext.KindBeginObject || jsonscan.TooLarge(text) {
		return body, errMalformed
	}
	err := json.Unmarshal(text, &body)
	return body, err
}

func decodeRefused(r upstream.Response, body responseBody, s sent) (outcome, error) {
	why := refusalOf(body.Reason, s.operation)
	switch {
	case body.Status != "INVALID_REQUEST" || why.class == unknown || !fitsReference(body, s):
		out := outcome{class: unknown, reason: body.Reason, body: body}
		return out, unknownFor(r, errHTTP)
	case why.class == noEffect:
		return outcome{}, fmt.Errorf("provider-b: %w: the account was refused", acquirer.ErrUnavailable)
	case why.class == done:
		return outcome{class: done, reason: body.Reason, response: acquirer.Response{
			Approved: true, ResponseCode: "00", Amount: s.amount,
		}}, nil
	}
	response := declinedBy(why, body)
	response.OwnCode = body.Reason
	return outcome{class: why.class, reason: body.Reason, body: body, response: response}, nil
}

func decodeProcessed(r upstream.Response, body responseBody, s sent) (outcome, error) {
	if !fitsReference(body, s) {
		return outcome{}, unknownFor(r, errMalformed)
	}
	out := outcome{class: statusClass(body.Status, s.operation), body: body, reason: body.ErrorInformation.Reason}
	switch out.class {
	case approved:
		response, err := decodeApproved(body, s)
		out.response = response
		if err != nil {
			return outcome{}, unknownFor(r, err)
		}
		return out, nil
	case held:
		if !validID(body.ID) {
			return outcome{}, unknownFor(r, errMalformed)
		}
		out.response = declinedBy(reason{held, v1.DeclineCodeSuspectedFraud, "59"}, body) // after the issuer's approval
		return out, nil
	case declined:
		out.response = declinedBy(reason{declined, v1.DeclineCodeDoNotHonor, "05"}, body)
		return out, nil
	case reasoned:
		if why, known := declines[out.reason]; known {
			out.class, out.response = why.class, declinedBy(why, body)
			out.response.Network, out.response.OwnCode = networkDecline(why, body), out.reason
			out.response.Retryable = why.retryable()
			return out, nil
		}
	case noEffect, done, unknown:
	}
	return outcome{}, unknownFor(r, errHTTP)
}

// fitsReference reports whether the response repeats no other reference than the request's. The
// provider may write some characters of a merchant's reference in another way.
func fitsReference(body responseBody, s sent) bool {
	got, want := body.ClientReference, s.body.ClientReference
	return (got.Code == "" || got.Code == want.Code || !printable(want.Code)) &&
		(got.TransactionID == "" || got.TransactionID == want.TransactionID)
}

// decodeApproved returns an approval if its id, amount and currency fit the request.
func decodeApproved(body responseBody, s sent) (acquirer.Response, error) {
	if !validID(body.ID) {
		return acquirer.Response{}, errMalformed
	}
	amount, err := approvedAmount(body, s)
	if err != nil {
		return acquirer.Response{}, err
	}
	out := acquirer.Response{
		Approved: true, ID: body.ID, ResponseCode: "00", Amount: amount, Code: approvalCode(body),
		NetworkTransactionID: networkID(body.Processor), NetworkLinkID: linkID(body.Processor),
	}
	if f := body.Payment.Features; f.Balance != "" && strings.EqualFold(f.Currency, s.currency) {
		c, _ := money.Lookup(s.currency)
		if left, err := money.Parse(f.Balance, c.Exponent); err == nil {
			if f.BalanceSign == "-" {
				left = -left
			}
			out.Balance = acquirer.Balance{Given: true, Amount: left}
		}
	}
	return out, nil
}

// approvedAmount returns the approved amount. Only a card payment may be approved in part, and must
// state the amount. Any other operation is of the whole amount, unless its response contradicts.
func approvedAmount(body responseBody, s sent) (int64, error) {
	got, stated, err := statedAmount(body, s)
	payment := s.operation == authorizing || s.operation == selling
	part := body.Status == "PARTIAL_AUTHORIZED"
	switch {
	case err != nil:
		return 0, err
	case s.amount == anyAmount, !stated && (!payment || s.amount == 0):
		return s.amount, nil
	case stated && part && 0 < got && got < s.amount, stated && !part && got == s.amount:
		return got, nil
	}
	return 0, errMalformed
}

// statedAmount returns the amount of the operation, if the response has it. All places must agree.
func statedAmount(body responseBody, s sent) (amount int64, stated bool, err error) {
	c, _ := money.Lookup(s.currency)
	texts, currencies := amountTexts(body, s.operation)
	for _, currency := range currencies {
		if currency != "" && !strings.EqualFold(currency, s.currency) {
			return 0, false, errMalformed
		}
	}
	for _, text := range texts {
		if text == "" {
			continue
		}
		n, err := money.Parse(text, c.Exponent)
		if err != nil || n < 0 || stated && n != amount {
			return 0, false, errMalformed
		}
		amount, stated = n, true
	}
	return amount, stated, nil
}

// amountTexts returns the amounts that a response gives to its operation, which must be equal.
func amountTexts(body responseBody, o operation) (texts, currencies []string) {
	order := body.Order.Amounts
	switch o {
	case authorizing, selling:
		return []string{order.Authorized}, []string{order.Currency}
	case debiting:
		return []string{order.Authorized, order.Total}, []string{order.Currency}
	case capturing:
		return []string{order.Total}, []string{order.Currency}
	case refunding, crediting:
		return []string{order.Total, body.Refund.Refund, body.Refund.Credit, body.Credit.Credit},
			[]string{order.Currency, body.Refund.Currency, body.Credit.Currency}
	case reversing:
		return []string{body.Reversal.Reversed}, []string{body.Reversal.Currency}
	case voiding:
	}
	return []string{body.Void.Void}, []string{body.Void.Currency}
}

// declinedBy returns a decline. Field 39 is the processor's if it has that form and is no approval.
func declinedBy(why reason, body responseBody) acquirer.Response {
	out := acquirer.Response{
		DeclineCode: string(why.decline), ResponseCode: why.response, Code: approvalCode(body),
		NetworkTransactionID: networkID(body.Processor), NetworkLinkID: linkID(body.Processor),
	}
	if validID(body.ID) {
		out.ID = body.ID
	}
	if code := processorCode(body); code != "" {
		out.ResponseCode = code
	}
	if code, known := lostCards[out.ResponseCode]; known && why.decline == v1.DeclineCodePickupCard {
		out.DeclineCode = string(code)
	}
	return out
}

// networkDecline returns the decline of a processed request as the network's. The provider names
// only lost, stolen and retained cards STOLEN_LOST_CARD, also if it does not pass field 39 on.
func networkDecline(why reason, body responseBody) acquirer.NetworkDecline {
	out := acquirer.NetworkDecline{Given: true, Advice: body.Processor.MerchantAdvice.Code}
	if out.Code = processorCode(body); out.Code == "" && why.decline == v1.DeclineCodePickupCard {
		out.Code = why.response
	}
	return out
}

// processorCode returns field 39 of a decline, "" if the processor gave none of that form.
func processorCode(body responseBody) string {
	code := body.Processor.ResponseCode
	if !responseForm.MatchString(code) || code == "00" || code == "10" {
		return ""
	}
	return code
}

var (
	responseForm = regexp.MustCompile(`^[0-9A-Z]{2}$`)
	approvalForm = regexp.MustCompile(`^[0-9A-Z]{6}$`)
)

func approvalCode(body responseBody) string {
	if code := body.Processor.ApprovalCode; approvalForm.MatchString(code) {
		return code
	}
	return ""
}

// networkID returns the network's id of a payment, "" if it has no form that v1 accepts later.
func networkID(p processor) string {
	const longest = 64
	id := p.NetworkTransactionID
	if id == "" {
		id = p.TransactionID
	}
	if len(id) > longest || !printable(id) {
		return ""
	}
	return id
}

// linkID returns Mastercard's Transaction Link ID, "" if there is none of its form.
func linkID(p processor) string {
	const length = 22
	if len(p.TransactionLinkID) != length || !printable(p.TransactionLinkID) {
		return ""
	}
	return p.TransactionLinkID
}
