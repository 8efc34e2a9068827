package providerb

import (
	"fmt"
	"strings"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/card"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// typeCodes are the provider's codes of card brands.
var typeCodes = map[card.Brand]string{
	card.Visa: "001", card.Mastercard: "002", card.Amex: "003", card.Discover: "004", card.Diners: "005", card.JCB: "007",
	card.Maestro: "042", card.UnionPay: "062",
}

// accountTypes are the provider's codes of v1's types of bank accounts.
var accountTypes = map[string]string{
	string(v1.BankAccountTypeChecking): "C", string(v1.BankAccountTypeSavings): "S",
	string(v1.BankAccountTypeBusinessChecking): "X",
}

func encodeSource(s acquirer.Source) *paymentSource {
	switch {
	case !s.BankAccount.Number.IsZero():
		b := s.BankAccount
		return &paymentSource{PaymentType: &named{Name: "CHECK"}, Bank: &bankObject{
			Account: accountObject{Type: accountTypes[b.Type], Number: b.Number}, RoutingNumber: b.RoutingNumber,
		}}
	case !s.NetworkToken.Number.IsZero():
		t := s.NetworkToken
		out := &tokenObject{
			Number: t.Number, Type: typeCodes[card.BrandOf(t.Number)], Cryptogram: t.Cryptogram, RequestorID: t.RequestorID,
		}
		out.ExpirationMonth, out.ExpirationYear = expiry(t.ExpMonth, t.ExpYear)
		if !t.Cryptogram.IsZero() {
			out.TransactionType = "1"
		}
		return &paymentSource{TokenizedCard: out}
	}
	c := s.Card
	out := &cardObject{Number: c.Number, Type: typeCodes[card.BrandOf(c.Number)], SecurityCode: c.CVC}
	out.ExpirationMonth, out.ExpirationYear = expiry(c.ExpMonth, c.ExpYear)
	return &paymentSource{Card: out}
}

func expiry(month, year int) (string, string) {
	if month == 0 {
		return "", ""
	}
	return fmt.Sprintf("%02d", month), fmt.Sprintf("%04d", year)
}

// billTo returns the payer, nil if nothing was given.
func billTo(b acquirer.Billing) *person {
	if b == (acquirer.Billing{}) {
		return nil
	}
	out := &person{
		FirstName: cut(b.FirstName, 60), LastName: cut(b.LastName, 60), Address1: cut(b.AddressLine, 60),
		Address2: cut(b.AddressLine2, 60), Locality: cut(b.City, 50), AdministrativeArea: cut(b.State, 20),
		PostalCode: cut(b.PostalCode, 10), Country: b.Country, Email: cut(b.Email, 255), PhoneNumber: cut(b.Phone, 15),
	}
	if b.Company != "" {
		out.Company = &named{Name: cut(b.Company, 60)}
	}
	return out
}

// holder adds the name and the country that a bank account needs. Accounts with a routing number
// are in the United States.
func holder(p *person, name string) *person {
	if p == nil {
		p = &person{}
	}
	if p.FirstName == "" && p.LastName == "" {
		first, last := "", strings.TrimSpace(name)
		if i := strings.LastIndexByte(last, ' '); i > 0 {
			first, last = strings.TrimSpace(last[:i]), last[i+1:]
		}
		p.FirstName, p.LastName = cut(first, 60), cut(last, 60)
	}
	if p.Country == "" {
		p.Country = "US"
	}
	return p
}

// encodeConsent adds the approval that the issuer gave before, the initiator and the authentication
// of the cardholder.
func encodeConsent(body *requestBody, r acquirer.Authorize) {
	options := body.Processing.Authorization
	if r.PriorCode != "" {
		options.AuthType, options.VerbalAuthCode = "verbal", r.PriorCode
	}
	encodeInitiator(body.Processing, r.Initiator)
	if eci := r.NetworkToken.ECI; eci != "" {
		body.Authentication = &authentication{ECIRaw: eci}
	}
	s := r.ThreeDSecure
	if s.ECI == "" && s.CAVV.IsZero() {
		return
	}
	brand := card.BrandOf(r.Card.Number)
	out := &authentication{
		ECIRaw: s.ECI, DirectoryServerTransactionID: s.DSTransactionID, SpecificationVersion: s.Version,
	}
	if brand == card.Mastercard || brand == card.Maestro {
		out.UCAFAuthenticationData, out.UCAFCollectionIndicator = s.CAVV, strings.TrimPrefix(s.ECI, "0")
	} else {
		out.CAVV = s.CAVV
	}
	body.Authentication = out
	if body.Processing.CommerceIndicator == "internet" {
		body.Processing.CommerceIndicator = authenticated(brand, s.ECI)
	}
}

// authenticated returns the commerce indicator of an authentication. Mastercard has one for a
// success and an attempt. A payment whose authentication failed is an ordinary one: only some
// processors have indicators for it.
func authenticated(brand card.Brand, eci string) string {
	mastercard := brand == card.Mastercard || brand == card.Maestro
	program, known := map[card.Brand]string{
		card.Visa: "vbv", card.Amex: "aesk", card.JCB: "js", card.Discover: "dipb", card.Diners: "pb",
	}[brand]
	switch {
	case mastercard && (eci == "02" || eci == "01"):
		return "spa"
	case known && eci == "05":
		return program
	case known && eci == "06":
		return program + "_attempted"
	}
	return "internet"
}

// merchantReasons are the provider's reasons of merchant-initiated payments.
var merchantReasons = map[string]string{
	string(v1.InitiatorReasonResubmission): "1", string(v1.InitiatorReasonDelayedCharge): "2",
	string(v1.InitiatorReasonReauthorization): "3", string(v1.InitiatorReasonNoShow): "4",
	string(v1.InitiatorReasonRecurring): "7", string(v1.InitiatorReasonInstallment): "9",
	string(v1.InitiatorReasonUnscheduled): "10",
}

// agreements are the commerce indicators of agreements.
var agreements = map[string]string{
	string(v1.InitiatorReasonRecurring): "recurring", string(v1.InitiatorReasonInstallment): "install",
}

func encodeInitiator(p *processing, i acquirer.Initiator) {
	if i == (acquirer.Initiator{}) {
		return
	}
	if indicator, ok := agreements[i.Reason]; ok {
		p.CommerceIndicator = indicator
	}
	out := &initiatorObject{Type: i.Type}
	again := &merchantInitiated{PreviousTransactionID: i.PreviousNetworkTransactionID}
	switch {
	case i.Type == string(v1.InitiatorTypeMerchant):
		out.StoredCredentialUsed, again.Reason = true, merchantReasons[i.Reason]
	case i.Reason == "":
		out.StoredCredentialUsed = true
	default: // the first payment of an agreement
		out.CredentialStoredOnFile = true
		if i.Reason == string(v1.InitiatorReasonRecurring) {
			p.Recurring = &recurringOptions{FirstRecurringPayment: true}
		}
	}
	if *again != (merchantInitiated{}) {
		out.MerchantInitiated = again
	}
	p.Authorization.Initiator = out
}
