package providerb

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The statuses of payments.
const (
	statusAuthorized = "AUTHORIZED"
	statusPartial    = "PARTIAL_AUTHORIZED"
	statusReview     = "AUTHORIZED_PENDING_REVIEW"
	statusPending    = "PENDING"
	statusDeclined   = "DECLINED"
)

// approvedResponse returns the response to a payment that was approved.
func approvedResponse(p plan, t *v1.Transaction) wire.Response {
	number := numberOf(t)
	held := ""
	if !p.Sale || p.TwoStep {
		held = p.Review.holds(t)
	}
	body := wire.Response{
		ID: number, SubmitTimeUTC: stamp(t.CreatedAt.Time), Status: statusAuthorized, ReconciliationID: reconciliation(t),
		ClientReference: p.Echo.reference(t.CreatedAt.Time),
		Order: &wire.OrderResponse{AmountDetails: &wire.Amounts{
			Authorized: major(t.AmountAuthorized, t.Currency), Currency: p.Echo.Currency,
		}},
		Processor: processor(t),
	}
	body.PaymentAccount, body.Payment = account(p.Echo, t)
	if p.Echo.Terminal != "" {
		body.PointOfSale = &wire.PointOfSaleResponse{TerminalID: p.Echo.Terminal}
	}
	switch {
	case p.Echo.Bank:
		body.Status = statusPending
	case held != "":
		body.Status = statusReview
		body.ErrorInformation = &wire.ErrorInformation{Reason: held, Message: "Soft " + declineTexts[held]}
	case t.AmountAuthorized < t.Amount:
		body.Status = statusPartial
	}
	if t.AmountAuthorized < t.Amount {
		body.Order.AmountDetails.Total = major(t.Amount, t.Currency)
	}
	body.Links = paymentLinks(number, p.Sale && held == "", t.Amount == 0)
	return body
}

// paymentLinks returns the links to the next operations on a payment. A verification has nothing to
// capture.
func paymentLinks(number string, sale, verification bool) *wire.Links {
	links := &wire.Links{Self: link(http.MethodGet, "payments", number)}
	if sale {
		links.Void = link(http.MethodPost, "payments", number, "voids")
		return links
	}
	links.AuthReversal = link(http.MethodPost, "payments", number, "reversals")
	if !verification {
		links.Capture = link(http.MethodPost, "payments", number, "captures")
	}
	return links
}

// link returns a link below the provider's path, without the mount path, which mounted adds.
func link(method string, segments ...string) *wire.Link {
	return &wire.Link{Href: "/pts/v2/" + strings.Join(segments, "/"), Method: method}
}

// numberOf returns a payment's number.
func numberOf(t *v1.Transaction) string {
	number, err := id.ToDecimal(id.Transaction, t.ID)
	if err != nil {
		return "" // unreachable, because the id is v1's
	}
	return number
}

// reconciliation returns the settlement reference of a payment and its follow-up operations.
func reconciliation(t *v1.Transaction) string { return reconciliationOf(t.ID) }

func milliseconds(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// processor returns the acquirer's values; nil if it was not involved.
func processor(t *v1.Transaction) *wire.Processor {
	a := t.Authorization
	if a == nil {
		return nil
	}
	out := &wire.Processor{
		ApprovalCode: v1.Text(a.Code), ResponseCode: responseCode(t),
		NetworkTransactionID: v1.Text(a.NetworkTransactionID), TransactionID: v1.Text(a.NetworkTransactionID),
	}
	if t.Status == v1.TransactionStatusDeclined { // the acquirer may have sent one
		out.ApprovalCode = ""
	}
	if code := avsCode(t); code != "" {
		out.AVS = &wire.AVS{Code: code, Raw: code}
	}
	if code := cvvCode(t); code != "" {
		out.CardVerification = &wire.CardVerification{ResultCode: code, ResultCodeRaw: code}
	}
	if a.CavvResultCode != nil {
		out.ConsumerAuth = &wire.Code{Code: *a.CavvResultCode, Raw: *a.CavvResultCode}
	}
	return out
}

// responseCode returns the acquirer's code. A partial approval always has the code that clients
// expect.
func responseCode(t *v1.Transaction) string {
	const whole, part = "00", "10"
	if t.Authorization.ResponseCode == whole && 0 < t.AmountAuthorized && t.AmountAuthorized < t.Amount {
		return part
	}
	return t.Authorization.ResponseCode
}

// account returns the payment source, for both fields in which clients read it.
func account(e echo, t *v1.Transaction) (*wire.PaymentAccount, *wire.PaymentResponse) {
	cardType := e.CardType
	switch {
	case cardType != "":
	case t.Card != nil:
		cardType = typeOf(t.Card.Brand)
	case t.NetworkToken != nil:
		cardType = typeOf(t.NetworkToken.Brand)
	}
	var at *wire.PaymentAccount
	pay := &wire.PaymentResponse{}
	if cardType != "" && !e.Bank {
		masked := &wire.CardResponse{Type: cardType}
		at, pay.Card, pay.TokenizedCard = &wire.PaymentAccount{Card: masked}, masked, masked
	}
	pay.Customer, pay.PaymentInstrument = identified(e.Customer), identified(e.Method)
	pay.ShippingAddress, pay.InstrumentIdentifier = identified(e.Address), activeIdentifier(e.Identifier)
	pay.AccountFeatures = balance(t)
	if *pay == (wire.PaymentResponse{}) {
		pay = nil
	}
	return at, pay
}

func identified(id string) *wire.IdentifiedResponse {
	if id == "" {
		return nil
	}
	return &wire.IdentifiedResponse{ID: id}
}

// activeIdentifier returns a reference to a stored card or bank account. V1 charges no other than
// active ones.
func activeIdentifier(id string) *wire.InstrumentIdentifier {
	if id == "" {
		return nil
	}
	return &wire.InstrumentIdentifier{ID: id, State: "ACTIVE"}
}

// balance returns the balance of a prepaid card; nil if it is unknown.
func balance(t *v1.Transaction) *wire.AccountFeatures {
	if t.Authorization == nil || t.Authorization.Balance == nil {
		return nil
	}
	left := *t.Authorization.Balance
	out := &wire.AccountFeatures{Currency: strings.ToUpper(t.Currency)}
	if left < 0 {
		left, out.BalanceSign = -left, "-"
	}
	out.BalanceAmount = major(left, t.Currency)
	return out
}
