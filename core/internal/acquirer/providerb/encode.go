package providerb

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
)

// request is an encoded request. Every one is a POST.
type request struct {
	path string
	body requestBody
}

// bytes returns the body in JSON, with the card number.
func (r request) bytes() ([]byte, error) {
	return json.Marshal(r.body, revealing)
}

var revealing = json.WithMarshalers(secret.RevealMarshalers())

// errRequest reports a command that cannot be sent. Nothing was sent.
var errRequest = errors.New("provider-b: the command cannot be encoded")

const (
	pathPayments  = "/pts/v2/payments"
	pathCaptures  = "/pts/v2/captures"
	pathRefunds   = "/pts/v2/refunds"
	pathCredits   = "/pts/v2/credits" //nolint:gosec // a path
	pathReversals = "/pts/v2/reversals"
	pathVoids     = "/pts/v2/voids"
)

// transactionID returns the name of an operation at the provider: 29 characters.
func transactionID(reference string) string {
	sum := sha256.Sum256([]byte(reference))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:18]))
}

// referenceOf returns the client reference of an operation. code is the merchant's name, or ours if
// it is empty.
func referenceOf(reference, code string) clientReference {
	if code == "" {
		code = reference
	}
	return clientReference{Code: cut(code, 50), TransactionID: transactionID(reference)}
}

// cut shortens a text to n bytes at most, between characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// amountOf returns an amount of minor units with all decimals of its currency.
func amountOf(minor int64, currency string) (amounts, error) {
	c, ok := money.Lookup(currency)
	if !ok || minor < 0 {
		return amounts{}, fmt.Errorf("%w: amount or currency", errRequest)
	}
	return amounts{Total: money.Format(minor, c.Exponent), Currency: strings.ToUpper(currency)}, nil
}

func encodeAuthorize(r acquirer.Authorize) (request, error) {
	total, err := amountOf(r.Amount, r.Currency)
	if err != nil {
		return request{}, err
	}
	body := requestBody{ClientReference: referenceOf(r.Reference, r.Order.Reference), Order: &order{Amounts: &total}}
	body.ClientReference.Comments = cut(r.Order.Description, 255)
	bank := !r.BankAccount.Number.IsZero()
	body.Processing = &processing{Capture: &r.Capture, CommerceIndicator: "internet"}
	body.Payment, body.Order.BillTo = encodeSource(r.Source), billTo(r.Billing)
	if bank {
		body.Processing.BankTransfer = &bankTransfer{SECCode: "WEB"}
		body.Order.BillTo = holder(body.Order.BillTo, r.BankAccount.Holder)
	} else {
		// The merchant decides by v1's checks. So no check may hold a payment at the provider.
		body.Processing.Authorization = &authOptions{
			PartialAuthIndicator: r.Partial, IgnoreAVSResult: true, IgnoreCVResult: true,
		}
		encodeConsent(&body, r)
	}
	if r.Order.StatementDescriptor != "" {
		body.Merchant = &merchantGroup{Descriptor: named{Name: cut(r.Order.StatementDescriptor, 22)}}
	}
	if err := encodeDetails(body.Order, r.Order.Details, r.Currency); err != nil {
		return request{}, err
	}
	return request{pathPayments, body}, nil
}

func encodeCredit(r acquirer.Credit) (request, error) {
	total, err := amountOf(r.Amount, r.Currency)
	if err != nil {
		return request{}, err
	}
	body := requestBody{
		ClientReference: referenceOf(r.Reference, r.Order.Reference),
		Payment:         encodeSource(r.Source), Order: &order{Amounts: &total},
	}
	body.ClientReference.Comments = cut(r.Order.Description, 255)
	switch {
	case body.Payment.Card != nil:
		body.Payment.Card.SecurityCode = secret.String{}
	case body.Payment.Bank != nil:
		body.Processing = &processing{BankTransfer: &bankTransfer{SECCode: "WEB"}}
		body.Order.BillTo = holder(nil, r.BankAccount.Holder)
	}
	return request{pathCredits, body}, encodeDetails(body.Order, r.Order.Details, r.Currency)
}

// mostCaptures is the greatest number that a capture of an authorization can have.
const mostCaptures = 99

// numbered reports whether a capture has a number at the provider. The greatest one ends the
// authorization, so only a final capture can have it.
func numbered(r acquirer.Follow) bool {
	n := len(r.Captures) + 1
	return n < mostCaptures || n == mostCaptures && r.Final
}

// encodeCapture encodes a capture that is numbered. The merchant does not announce how many
// captures follow, so the total is one more than the number. The last capture, whose number equals
// the total or that has none, ends the authorization.
func encodeCapture(r acquirer.Follow) (request, error) {
	out, err := encodeFollow(r, acquirer.Authorization, r.Original.ID, "captures")
	if err != nil {
		return request{}, err
	}
	n := len(r.Captures) + 1
	options := &captureOptions{SequenceNumber: n, TotalCount: n + 1}
	switch {
	case r.Final && n == 1:
		options = &captureOptions{IsFinal: "true"}
	case r.Final:
		options.TotalCount, options.IsFinal = n, "true"
	}
	out.body.Processing = &processing{CaptureOptions: options}
	return out, nil
}

// encodeRefund encodes a refund of a sale or of a capture.
func encodeRefund(r acquirer.Follow) (request, error) {
	of := refunded(r)
	return encodeFollow(r, of.Kind, of.ID, "refunds")
}

// refunded returns the operation that a refund gives back. A capture without an id, which an
// operator has approved, is given back by its authorization.
func refunded(r acquirer.Follow) acquirer.Sent {
	if len(r.Captures) == 1 && r.Captures[0].ID != "" {
		return r.Captures[0]
	}
	return r.Original
}

// groups are the paths of the operations of each kind.
var groups = map[acquirer.Kind]string{
	acquirer.Authorization: pathPayments, acquirer.Sale: pathPayments, acquirer.Capture: pathCaptures,
	acquirer.Refund: pathRefunds, acquirer.UnlinkedRefund: pathCredits,
}

// encodeFollow encodes an operation on an earlier one with an amount.
func encodeFollow(r acquirer.Follow, of acquirer.Kind, id, operation string) (request, error) {
	total, err := amountOf(r.Amount, r.Currency)
	switch {
	case err != nil:
		return request{}, err
	case !validID(id):
		return request{}, fmt.Errorf("%w: no id of the payment", errRequest)
	}
	return request{groups[of] + "/" + id + "/" + operation, requestBody{
		ClientReference: referenceOf(r.Reference, ""), Order: &order{Amounts: &total},
	}}, nil
}

// encodeReversal encodes the reversal of an authorization.
func encodeReversal(reference, id string, minor int64, currency string) (request, error) {
	total, err := amountOf(minor, currency)
	if err != nil {
		return request{}, err
	}
	return request{pathPayments + "/" + id + "/reversals", requestBody{
		ClientReference: referenceOf(reference, ""), Reversal: &reversalDetails{Amounts: total},
	}}, nil
}

// encodeVoid encodes the void of an operation. Each void of one reference has another name.
func encodeVoid(reference, group, id string) request {
	return request{group + "/" + id + "/voids", requestBody{ClientReference: referenceOf(reference+"/"+id, reference)}}
}

// encodeTimeout encodes the undoing of an operation by its transactionId: a timeout reversal of an
// authorization, a timeout void of any other.
func encodeTimeout(about acquirer.Sent, reversal bool) (request, error) {
	body := requestBody{ClientReference: referenceOf(about.Reference, "")}
	if !reversal {
		return request{pathVoids, body}, nil
	}
	total, err := amountOf(about.Amount, about.Currency)
	if err != nil {
		return request{}, err
	}
	body.Reversal = &reversalDetails{Amounts: total}
	return request{pathReversals, body}, nil
}

// validID reports whether an id of the provider can be stored and be part of a path.
func validID(id string) bool {
	const longest = 64
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_' {
			return false
		}
	}
	return 0 < len(id) && len(id) <= longest
}
