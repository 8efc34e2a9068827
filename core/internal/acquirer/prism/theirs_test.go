package prism_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/card"
)

// call returns the library's call for a payment at a provider.
func (p payment) call(provider string) call {
	c := call{Flow: p.command, Options: options(provider)}
	switch p.command {
	case capture:
		c.Request = p.captureMessage()
	case void:
		c.Flow, c.Request = p.voidMessage(provider)
	case refund:
		c.Request = p.refundMessage(provider)
	default:
		c.Flow, c.Request = p.paymentMessage()
	}
	return c
}

func money(amount int64, currency string) object {
	return object{"minorAmount": amount, "currency": "$Currency." + strings.ToUpper(currency)}
}

func (p payment) captureMessage() object {
	method := "$CaptureMethod.MANUAL_MULTIPLE"
	if p.follow.Final && len(p.follow.Captures) == 0 {
		method = "$CaptureMethod.MANUAL"
	}
	return object{
		"merchantCaptureId": p.follow.Reference, "connectorTransactionId": p.follow.Original.ID,
		"amountToCapture": money(p.follow.Amount, p.follow.Currency), "captureMethod": method,
		"multipleCaptureData": object{
			"captureSequence": len(p.follow.Captures) + 1, "captureReference": p.follow.Reference,
		},
	}
}

// voidMessage returns the flow of a void and its message. The library reverses a capture by its own
// id.
func (p payment) voidMessage(provider string) (string, object) {
	if provider == "b" && len(p.follow.Captures) > 0 {
		return "reverse", object{
			"merchantReverseId": p.follow.Reference, "connectorTransactionId": p.follow.Captures[0].ID,
			"cancellationReason": "requested by customer",
		}
	}
	return "void", object{
		"merchantVoidId": p.follow.Reference, "connectorTransactionId": p.follow.Original.ID,
		"amount": money(p.follow.Amount, p.follow.Currency), "cancellationReason": "requested by customer",
	}
}

// refundMessage returns a refund. The library needs the masked number of the payment's response. At
// provider-a a capture has the id of its authorization.
func (p payment) refundMessage(provider string) object {
	f := p.follow
	of := f.Original
	if provider == "b" && len(f.Captures) > 0 {
		of = f.Captures[0]
	}
	source := `{"creditCard":{"cardNumber":"XXXX1111","expirationDate":"XXXX"}}`
	if p.bank {
		source = `{"bankAccount":{"accountNumber":"XXXX6789"}}`
	}
	return object{
		"merchantRefundId": f.Reference, "connectorTransactionId": of.ID, "paymentAmount": of.Amount,
		"refundAmount": money(f.Amount, f.Currency), "connectorFeatureData": hidden(source),
	}
}

// paymentMessage returns the flow of a payment and its message. A later payment of an agreement has
// another flow, if the network's id of the first one is known.
func (p payment) paymentMessage() (string, object) {
	r := p.authorize
	m := object{
		"merchantTransactionId": r.Reference, "amount": money(r.Amount, r.Currency),
		"captureMethod": "$CaptureMethod.MANUAL", "authType": "$AuthenticationType.NO_THREE_DS",
		"address":                    object{"billingAddress": address(r.Billing)},
		"paymentMethod":              source(r.Source, r.Billing),
		"returnUrl":                  "https://merchant.example.com/",
		"enablePartialAuthorization": r.Partial,
	}
	if r.Capture {
		m["captureMethod"] = "$CaptureMethod.AUTOMATIC"
	}
	if r.Billing.Email != "" {
		m["customer"] = object{"email": hidden(r.Billing.Email)}
	}
	if r.Order.Reference != "" {
		m["merchantOrderId"] = r.Order.Reference
	}
	if r.Order.Description != "" {
		m["description"] = r.Order.Description
	}
	if d := r.Order.StatementDescriptor; d != "" {
		m["billingDescriptor"] = object{"name": hidden(d), "statementDescriptor": d}
	}
	p.addDetails(m)
	addAuthentication(m, r)
	return p.addAgreement(m)
}

// addDetails adds the level 2 and 3 data in each place that the library has for them.
func (p payment) addDetails(m object) {
	d := p.order
	if !d.given {
		return
	}
	status := "$TaxStatus.TAX_STATUS_TAXABLE"
	if d.exempt {
		status = "$TaxStatus.TAX_STATUS_EXEMPT"
	}
	items := []object{{
		"productName": d.item, "quantity": 2, "amount": d.unitPrice, "productId": d.id, "sku": d.id,
		"description": d.description,
	}}
	m["orderTaxAmount"], m["shippingCost"], m["orderDetails"] = d.tax, d.shipping, items
	m["l2L3Data"] = object{
		"orderInfo": object{
			"orderDetails": items, "merchantOrderReferenceId": d.purchaseOrder, "discountAmount": d.discount,
			"shippingCost": d.shipping, "dutyAmount": d.duty,
		},
		"taxInfo": object{"taxStatus": status, "orderTaxAmount": d.tax},
	}
}

func addAuthentication(m object, r acquirer.Authorize) {
	s := r.ThreeDSecure
	if s.CAVV.IsZero() {
		return
	}
	m["authType"] = "$AuthenticationType.THREE_DS"
	data := object{
		"eci": s.ECI, "cavv": s.CAVV.Reveal(), "dsTransactionId": s.DSTransactionID, "messageVersion": s.Version,
		"transStatus": "$TransactionStatus.TRANSACTION_STATUS_SUCCESS",
	}
	if number := r.Card.Number.Reveal(); number[0] == '5' || number[0] == '2' {
		data["ucafCollectionIndicator"] = strings.TrimPrefix(s.ECI, "0")
	}
	m["authenticationData"] = data
}

// categories are the library's names of the reasons of a merchant's payment.
var categories = map[string]string{
	"recurring": "RECURRING_MIT", "installment": "INSTALLMENT_MIT", "unscheduled": "UNSCHEDULED_MIT",
	"resubmission": "RESUBMISSION_MIT",
}

func (p payment) addAgreement(m object) (string, object) {
	i := p.authorize.Initiator
	if i.Type == "customer" && i.Reason != "" {
		accepted := object{"acceptanceType": "$AcceptanceType.ONLINE"}
		m["setupFutureUsage"], m["customerAcceptance"] = "$FutureUsage.OFF_SESSION", accepted
		return authorize, m
	}
	if i.Type != "merchant" {
		return authorize, m
	}
	m["offSession"] = true
	if category := categories[i.Reason]; category != "" {
		m["mitCategory"] = "$MitCategory." + category
	}
	if i.PreviousNetworkTransactionID == "" {
		return authorize, m
	}
	m["merchantChargeId"] = m["merchantTransactionId"]
	m["connectorRecurringPaymentId"] = object{
		"networkMandateId": object{"networkTransactionId": i.PreviousNetworkTransactionID},
	}
	// Such a payment has no security code.
	m["paymentMethod"] = object{"cardDetailsForNetworkTransactionId": m["paymentMethod"].(object)["cardWithNoCvc"]}
	return "charge", m
}

func source(s acquirer.Source, b acquirer.Billing) object {
	switch t, bank := s.NetworkToken, s.BankAccount; {
	case !t.Number.IsZero():
		token := object{
			"tokenNumber": hidden(t.Number.Reveal()), "tokenExpMonth": hidden(fmt.Sprintf("%02d", t.ExpMonth)),
			"tokenExpYear": hidden(strconv.Itoa(t.ExpYear)),
		}
		if !t.Cryptogram.IsZero() {
			token["tokenCryptogram"], token["eci"] = hidden(t.Cryptogram.Reveal()), t.ECI
		}
		return object{"networkToken": token}
	case !bank.Number.IsZero():
		kind, of := "CHECKING", "PERSONAL"
		if bank.Type == "savings" {
			kind = "SAVINGS"
		}
		if bank.Type == "business_checking" {
			of = "BUSINESS"
		}
		return object{"ach": object{
			"accountNumber": hidden(bank.Number.Reveal()), "routingNumber": hidden(bank.RoutingNumber),
			"bankAccountHolderName": hidden(bank.Holder), "bankType": "$BankType.BANK_TYPE_" + kind,
			"bankHolderType": "$BankHolderType.BANK_HOLDER_TYPE_" + of,
		}}
	}
	c := object{
		"cardNumber": hidden(s.Card.Number.Reveal()), "cardExpMonth": hidden(fmt.Sprintf("%02d", s.Card.ExpMonth)),
		"cardExpYear":    hidden(strconv.Itoa(s.Card.ExpYear)),
		"cardHolderName": hidden(strings.TrimSpace(b.FirstName + " " + b.LastName)),
		"cardNetwork":    "$CardNetwork." + networks[card.BrandOf(s.Card.Number)],
	}
	if s.Card.CVC.IsZero() {
		return object{"cardWithNoCvc": c}
	}
	c["cardCvc"] = hidden(s.Card.CVC.Reveal())
	return object{"card": c}
}

// networks are the library's names of the card networks.
var networks = map[card.Brand]string{
	card.Visa: "VISA", card.Mastercard: "MASTERCARD", card.Amex: "AMEX", card.Discover: "DISCOVER",
	card.Diners: "DINERS", card.JCB: "JCB",
}

func address(b acquirer.Billing) object {
	out := object{}
	for member, text := range map[string]string{
		"firstName": b.FirstName, "lastName": b.LastName, "line1": b.AddressLine, "line2": b.AddressLine2,
		"city": b.City, "state": b.State, "zipCode": b.PostalCode, "email": b.Email, "phoneNumber": b.Phone,
	} {
		if text != "" {
			out[member] = hidden(text)
		}
	}
	if b.Country != "" {
		out["countryAlpha2Code"] = "$CountryAlpha2." + b.Country
	}
	return out
}
