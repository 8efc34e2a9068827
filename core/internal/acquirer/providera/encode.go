package providera

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The transaction types.
const (
	typeSale      = "authCaptureTransaction"
	typeAuthorize = "authOnlyTransaction"
	typeForced    = "captureOnlyTransaction"
	typeCapture   = "priorAuthCaptureTransaction"
	typeVoid      = "voidTransaction"
	typeRefund    = "refundTransaction"
)

// longestWindow is the greatest duplicate window, in seconds.
const longestWindow = "28800"

// hiddenMonth is the expiration date of a card whose date is not known.
const hiddenMonth = "XXXX"

// errEncode reports a request that cannot be sent to this API.
var errEncode = errors.New("providera: the request cannot be encoded")

// encode returns the document of a request.
func encode(request any) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(xml.Header)
	e := xml.NewEncoder(&out)
	if err := e.Encode(request); err != nil {
		return nil, fmt.Errorf("%w: %w", errEncode, err)
	}
	return out.Bytes(), nil
}

// encodeAuthorize returns the transaction of a payment. A verification only authorizes. A payment
// that the issuer has approved before needs no further approval.
func encodeAuthorize(r acquirer.Authorize) (transaction, error) {
	amount, err := major(r.Amount, r.Currency)
	if err != nil {
		return transaction{}, err
	}
	t := transaction{
		Type: typeAuthorize, Amount: amount, Currency: strings.ToUpper(r.Currency), BillTo: encodeBilling(r.Billing),
		// The provider holds an approved part until its group is complete or released, which the
		// connector does not request. So it accepts none, also for r.Partial.
		Settings: &settings{[]setting{
			{"allowPartialAuth", "false"}, {"duplicateWindow", longestWindow},
		}},
	}
	switch {
	case r.PriorCode != "":
		t.Type, t.AuthCode = typeForced, r.PriorCode
	case r.Capture && r.Amount > 0:
		t.Type = typeSale
	}
	if r.Billing.Email != "" {
		t.Customer = &customer{cut(r.Billing.Email, 255)}
	}
	if t.Payment, err = encodeSource(r.Source, checkOfDebit); err != nil {
		return transaction{}, err
	}
	if r.PriorCode == "" {
		encodeAuthentication(&t, r.ThreeDSecure)
	}
	encodeInitiator(&t, r.Initiator)
	return t, encodeOrder(&t, r.Reference, r.Order, r.Currency)
}

// encodeCapture returns the transaction of a capture. Any capture releases the rest of its
// authorization, also one that is not final.
func encodeCapture(r acquirer.Follow, original string) (transaction, error) {
	amount, err := major(r.Amount, r.Currency)
	return transaction{
		Type: typeCapture, Amount: amount, Currency: strings.ToUpper(r.Currency), Original: original,
	}, err
}

func encodeVoid(original string) transaction { return transaction{Type: typeVoid, Original: original} }

// encodeRefund returns the transaction of a refund to the source of its original, as the original's
// details show it.
func encodeRefund(r acquirer.Follow, original string, source payment) (transaction, error) {
	amount, err := major(r.Amount, r.Currency)
	return transaction{
		Type: typeRefund, Amount: amount, Currency: strings.ToUpper(r.Currency), Payment: &source, Original: original,
		Order:    &order{Invoice: invoiceNumber(r.Reference)},
		Settings: &settings{[]setting{{"duplicateWindow", longestWindow}}},
	}, err
}

// encodeCredit returns the transaction of an unlinked refund: it names no original.
func encodeCredit(r acquirer.Credit) (transaction, error) {
	amount, err := major(r.Amount, r.Currency)
	if err != nil {
		return transaction{}, err
	}
	source := r.Source
	source.Card.CVC, source.NetworkToken.Cryptogram = secret.String{}, secret.String{}
	t := transaction{
		Type: typeRefund, Amount: amount, Currency: strings.ToUpper(r.Currency),
		Settings: &settings{[]setting{{"duplicateWindow", longestWindow}}},
	}
	if t.Payment, err = encodeSource(source, checkOfCredit); err != nil {
		return transaction{}, err
	}
	return t, encodeOrder(&t, r.Reference, r.Order, r.Currency)
}

// major writes minor units of a currency in major units.
func major(minor int64, code string) (string, error) {
	currency, known := money.Lookup(code)
	if !known || minor < 0 {
		return "", fmt.Errorf("%w: amount or currency", errEncode)
	}
	return money.Format(minor, currency.Exponent), nil
}

// minor reads an amount in major units; false if it is not one of the currency.
func minor(amount, code string) (int64, bool) {
	currency, known := money.Lookup(code)
	if !known {
		return 0, false
	}
	n, err := money.Parse(amount, currency.Exponent)
	return n, err == nil
}

// The types of electronic checks, of a personal account. A company's is CCD.
const (
	checkOfDebit  = "WEB"
	checkOfCredit = "PPD"
	checkOfFirm   = "CCD"
)

// accountTypes are the API's names of the v1 types of bank accounts.
var accountTypes = map[string]string{
	string(v1.BankAccountTypeChecking): "checking", string(v1.BankAccountTypeSavings): "savings",
	string(v1.BankAccountTypeBusinessChecking): "businessChecking",
}

// encodeSource returns the payment of a source.
func encodeSource(s acquirer.Source, check string) (*payment, error) {
	switch token, bank := s.NetworkToken, s.BankAccount; {
	case !s.Card.Number.IsZero():
		return &payment{Card: &creditCard{
			Number: s.Card.Number.Reveal(), Expiration: month(s.Card.ExpYear, s.Card.ExpMonth), Code: s.Card.CVC.Reveal(),
		}}, nil
	case !token.Number.IsZero():
		return &payment{Card: &creditCard{
			Number: token.Number.Reveal(), Expiration: month(token.ExpYear, token.ExpMonth), IsToken: new(true),
			Cryptogram: token.Cryptogram.Reveal(), TokenRequestor: token.RequestorID, TokenECI: token.ECI,
		}}, nil
	case !bank.Number.IsZero():
		if bank.Type == string(v1.BankAccountTypeBusinessChecking) {
			check = checkOfFirm
		}
		return &payment{Bank: &bankAccount{
			Type: accountTypes[bank.Type], Routing: bank.RoutingNumber, Number: bank.Number.Reveal(),
			Holder: cut(bank.Holder, 22), Check: check,
		}}, nil
	}
	return nil, fmt.Errorf("%w: no payment source", errEncode)
}

func month(year, month int) string { return fmt.Sprintf("%04d-%02d", year, month) }

func encodeBilling(b acquirer.Billing) *billTo {
	address := b.AddressLine
	if b.AddressLine2 != "" {
		address += "\n" + b.AddressLine2
	}
	out := billTo{
		FirstName: cut(b.FirstName, 50), LastName: cut(b.LastName, 50), Company: cut(b.Company, 50),
		Address: cut(address, 60), City: cut(b.City, 40), State: cut(b.State, 40), Zip: cut(b.PostalCode, 20),
		Country: cut(b.Country, 60), Phone: cut(b.Phone, 25),
	}
	if out == (billTo{}) {
		return nil
	}
	return &out
}

// encodeAuthentication adds the result of a cardholder authentication. The schema requires its
// value. The indicator has no leading zero in this API.
func encodeAuthentication(t *transaction, s acquirer.ThreeDSecure) {
	if s.CAVV.IsZero() || s.ECI == "" {
		return
	}
	t.Authentication = &authentication{strings.TrimPrefix(s.ECI, "0"), s.CAVV.Reveal()}
}

// resumptions are the API's names of the reasons for a payment of the merchant that follows an
// earlier one.
var resumptions = map[v1.InitiatorReason]string{
	v1.InitiatorReasonResubmission: "resubmission", v1.InitiatorReasonDelayedCharge: "delayedCharge",
	v1.InitiatorReasonReauthorization: "reauthorization", v1.InitiatorReasonNoShow: "noShow",
}

// encodeInitiator adds the agreement between payer and merchant.
func encodeInitiator(t *transaction, i acquirer.Initiator) {
	reason := v1.InitiatorReason(i.Reason)
	recurring := reason == v1.InitiatorReasonRecurring
	switch {
	case i.Type == string(v1.InitiatorTypeMerchant):
		t.Processing = &processingOptions{Subsequent: new(true), Stored: new(true)}
		if recurring {
			t.Settings.Settings = append(t.Settings.Settings, setting{"recurringBilling", "true"})
		}
		again := subsequentAuth{Reason: resumptions[reason]}
		if alphanumeric(i.PreviousNetworkTransactionID) {
			again.NetworkTransactionID = i.PreviousNetworkTransactionID
		}
		if again != (subsequentAuth{}) {
			t.Subsequent = &again
		}
	case recurring:
		t.Processing = &processingOptions{FirstRecurring: new(true), Stored: new(true)}
	case reason != "":
		t.Processing = &processingOptions{FirstSubsequent: new(true), Stored: new(true)}
	}
}

// alphanumeric reports whether s has only ASCII letters and digits, as the schema wants it.
func alphanumeric(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// mostLineItems is the greatest number of line items that the API accepts.
const mostLineItems = 30

// encodeOrder adds our reference and the merchant's own data.
func encodeOrder(t *transaction, reference string, o acquirer.Order, currency string) error {
	description := strings.TrimSpace(o.Reference + " " + o.Description)
	t.Order = &order{Invoice: invoiceNumber(reference), Description: cut(description, 255)}
	t.Descriptor = cut(o.StatementDescriptor, 22)
	if o.Details == nil {
		return nil
	}
	var details v1.Order
	if err := json.Unmarshal(o.Details, &details); err != nil {
		return fmt.Errorf("%w: order details", errEncode)
	}
	t.PurchaseOrder, t.TaxExempt = cut(v1.Text(details.PurchaseOrderNumber), 25), details.TaxExempt
	if discount := details.DiscountAmount; discount != nil {
		text, err := major(*discount, currency)
		if err != nil {
			return err
		}
		t.Order.Discount = text
	}
	for _, extra := range []struct {
		from *v1.Money
		to   **extendedAmount
	}{{details.TaxAmount, &t.Tax}, {details.DutyAmount, &t.Duty}, {details.ShippingAmount, &t.Shipping}} {
		if extra.from == nil {
			continue
		}
		text, err := major(*extra.from, currency)
		if err != nil {
			return err
		}
		*extra.to = &extendedAmount{text}
	}
	if details.LineItems != nil {
		t.LineItems = encodeLineItems(*details.LineItems)
	}
	return nil
}

// encodeLineItems returns the items that the API accepts. An item without its own id has its number
// in the order.
func encodeLineItems(given []v1.LineItem) *lineItems {
	out := &lineItems{}
	for i, item := range given[:min(len(given), mostLineItems)] {
		id := cut(v1.Text(item.ID), 31)
		if id == "" {
			id = strconv.Itoa(i + 1)
		}
		out.Items = append(out.Items, lineItem{
			ID: id, Name: cmp.Or(cut(item.Name, 31), id), Description: cut(v1.Text(item.Description), 255),
			Quantity: item.Quantity, UnitPrice: item.UnitPrice, Taxable: item.Taxable,
		})
	}
	if len(out.Items) == 0 {
		return nil
	}
	return out
}
