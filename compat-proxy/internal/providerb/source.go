package providerb

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// unsupportedSource refuses payment sources that only the provider can decrypt or charge, and debit
// and benefit cards with a PIN. Their purchases have no separate capture, so their clients would
// never capture an authorization.
func unsupportedSource(req *wire.Request) problem {
	pay := &req.Payment
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"paymentInformation.fluidData.value", !pay.FluidData.Value.IsZero()},
		{"tokenInformation.transientTokenJwt", !req.Token.TransientTokenJWT.IsZero()},
		{"tokenInformation.jti", req.Token.JTI != "" && !strings.HasPrefix(string(req.Token.JTI), "tok_")},
		{"paymentInformation.legacyToken.id", pay.LegacyToken.ID != ""},
		{"paymentInformation.tokenizedPaymentMethod.id", pay.TokenizedPaymentMethod.ID != ""},
		{"paymentInformation.thirdPartyToken.id", pay.ThirdPartyToken.ID != ""},
		{"paymentInformation.eWallet.accountId", pay.EWallet.AccountID != ""},
		{"paymentInformation.paymentType.subTypeName", strings.EqualFold(string(pay.PaymentType.SubTypeName), "DEBIT")},
		{"pointOfSaleInformation.encryptedPin", !req.PointOfSale.EncryptedPIN.IsZero()},
		{
			"processingInformation.purchaseOptions.isElectronicBenefitsTransfer",
			bool(req.Processing.PurchaseOptions.Benefits),
		},
		{"paymentInformation.bank.iban", !pay.Bank.IBAN.IsZero() || !pay.Bank.Account.IBAN.IsZero()},
	} {
		if f.given {
			return unsupported(f.name)
		}
	}
	return problem{}
}

// source puts the payment source of a new payment into body.
func (d *decoder) source(body *v1.TransactionCreate, c money.Currency) problem {
	pay := &d.req.Payment
	if p := unsupportedSource(d.req); !p.none() {
		return p
	}
	customer := d.customer()
	token := !pay.TokenizedCard.Number.IsZero() || !pay.TokenizedCard.Cryptogram.IsZero()
	carded := token || !pay.Card.Number.IsZero()
	bank := !pay.Bank.Account.Number.IsZero() || pay.Bank.RoutingNumber != ""
	switch {
	case carded && bank: // it is unclear which of the two the client wants to charge
		return invalid("paymentInformation.card", "paymentInformation.bank")
	case token:
		return d.chargeToken(body)
	case carded:
		return chargeCard(body, &pay.Card)
	case bank:
		return d.chargeBank(body, c)
	case d.req.Token.JTI != "":
		body.PaymentMethod = string(d.req.Token.JTI)
		return problem{}
	case customer != "" || pay.PaymentInstrument.ID != "" || pay.InstrumentIdentifier.ID != "":
		return d.chargeStored(body, customer)
	case !d.req.PointOfSale.TrackData.IsZero(): // without a card number that can be read
		return invalid("pointOfSaleInformation.trackData")
	}
	none := cardFields{
		"paymentInformation.card",
		secret.String{},
		pay.Card.ExpirationMonth,
		pay.Card.ExpirationYear,
	}
	return missing(none.missingFields()...)
}

// customer returns the id of the stored customer as the client sent it, "" without one.
func (d *decoder) customer() wire.Text {
	return cmp.Or(d.req.Payment.Customer.ID, d.req.Payment.Customer.CustomerID)
}

const (
	fieldCustomer = "paymentInformation.customer.id"
	fieldAddress  = "paymentInformation.shippingAddress.id"
)

// storedAddress ships the payment to the customer's stored address that it names, unless the
// request has another address.
func (d *decoder) storedAddress(p *plan) problem {
	given := d.req.Payment.ShippingAddress.ID
	if given == "" {
		return problem{}
	}
	address, ok := stored(id.ShippingAddress, string(given))
	owner, known := stored(id.Customer, string(d.customer()))
	if !ok || !known {
		return invalid(fieldAddress)
	}
	if p.Body.Customer = &owner; p.Body.Shipping == nil {
		p.ShipTo = address
	}
	return problem{}
}

// chargeStored charges a customer's payment method. The default is the customer's default.
func (d *decoder) chargeStored(body *v1.TransactionCreate, customer wire.Text) problem {
	pay := &d.req.Payment
	if customer != "" {
		cus, ok := stored(id.Customer, string(customer))
		if !ok {
			return invalid(fieldCustomer)
		}
		body.Customer = &cus
	}
	for _, m := range []struct {
		field string
		id    wire.Text
	}{
		{"paymentInformation.paymentInstrument.id", pay.PaymentInstrument.ID},
		{"paymentInformation.instrumentIdentifier.id", pay.InstrumentIdentifier.ID},
	} {
		if m.id == "" || body.PaymentMethod != "" {
			continue
		}
		method, ok := stored(id.PaymentMethod, string(m.id))
		if !ok {
			return invalid(m.field)
		}
		body.PaymentMethod = method
	}
	code, p := securityCode(pay.Card.SecurityCode.String, card.Unknown)
	body.CardCvc = code
	return p
}

// stored returns a v1 id, given as such or in its decimal form.
func stored(prefix id.Prefix, text string) (string, bool) {
	const longest = 64
	if strings.HasPrefix(text, string(prefix)+"_") {
		return text, len(text) <= longest
	}
	full, err := id.Decimal(prefix, text)
	return full, err == nil
}

var (
	// base64Form is the form of a cryptogram or an authentication value that v1 accepts.
	base64Form = regexp.MustCompile(`^[A-Za-z0-9+/_-]{1,64}=*$`)
	// requestorForm is the form of a network's id of a token requestor.
	requestorForm = regexp.MustCompile(`^[0-9]{11}$`)
)

// chargeToken charges a network token. Older clients send its cryptogram as an authentication
// value.
func (d *decoder) chargeToken(body *v1.TransactionCreate) problem {
	const group = "paymentInformation.tokenizedCard"
	in := &d.req.Payment.TokenizedCard
	month, year, p := cardFields{group, in.Number.String, in.ExpirationMonth, in.ExpirationYear}.expiry()
	if !p.none() {
		return p
	}
	token := &v1.NetworkTokenInput{Number: in.Number.String, ExpMonth: month, ExpYear: year}
	field, cryptogram := group+".cryptogram", in.Cryptogram.String
	if cryptogram.IsZero() {
		field, cryptogram = d.authenticationValue()
	}
	if !cryptogram.IsZero() {
		if !base64Form.MatchString(cryptogram.Reveal()) {
			return invalid(field)
		}
		token.Cryptogram = &cryptogram
	}
	if eci, p := d.indicator(); !p.none() {
		return p
	} else if eci != "" {
		token.Eci = &eci
	}
	if requestor := string(in.RequestorID); requestorForm.MatchString(requestor) {
		token.RequestorID = &requestor
	}
	body.PaymentMethod, body.NetworkToken = "network_token", token
	return problem{}
}
