package providerb

import (
	"strconv"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// typeCodes are the dialect's codes of brands, for cards whose request has no type.
var typeCodes = map[card.Brand]string{
	card.Visa: "001", card.Mastercard: "002", card.Amex: "003", card.Discover: "004", card.Diners: "005", card.JCB: "007",
	card.Maestro: "042", card.UnionPay: "062",
}

// typeOf returns the code of a card's brand; "" if the dialect has none.
func typeOf(b v1.CardBrand) string { return typeCodes[card.Brand(b)] }

// cardFields is a card or network token in the form of the request.
type cardFields struct {
	field       string // the group of its fields
	number      secret.String
	month, year wire.Text
}

// expiry returns the month in which the card ends, or the problem of its number or month. It does
// not reject an expired card: v1 does, after it has searched for an earlier request. So a retry
// after the end of the month finds the earlier payment. V1 accepts no year before 2000; a card of
// such a year has always expired.
func (n cardFields) expiry() (month, year int, p problem) {
	if missingFields := n.missingFields(); len(missingFields) > 0 {
		return 0, 0, missing(missingFields...)
	}
	if !chars.Digits(n.number.Reveal()) {
		return 0, 0, invalid(n.field + ".number")
	}
	month, err := strconv.Atoi(string(n.month))
	if err != nil || len(n.month) > 2 || month < 1 || month > 12 {
		return 0, 0, invalid(n.field + ".expirationMonth")
	}
	year, err = strconv.Atoi(string(n.year))
	if len(n.year) == 2 {
		year += 2000
	}
	if err != nil || len(n.year) != 2 && len(n.year) != 4 || year < 0 || year > 2099 {
		return 0, 0, invalid(n.field + ".expirationYear")
	}
	if !card.BrandOf(n.number).FitsNumber(n.number) || !card.Valid(n.number) {
		return 0, 0, decline(reasonInvalidAccount)
	}
	if year < 2000 {
		return 0, 0, decline(reasonExpiredCard)
	}
	return month, year, problem{}
}

func (n cardFields) missingFields() []string {
	var fields []string
	for _, f := range []struct {
		name  string
		empty bool
	}{{"number", n.number.IsZero()}, {"expirationMonth", n.month == ""}, {"expirationYear", n.year == ""}} {
		if f.empty {
			fields = append(fields, n.field+"."+f.name)
		}
	}
	return fields
}

const fieldCode = "paymentInformation.card.securityCode"

// securityCode checks a security code; nil without one.
func securityCode(code secret.String, brand card.Brand) (*secret.String, problem) {
	switch {
	case code.IsZero():
		return nil, problem{}
	case !chars.Digits(code.Reveal()) || code.Len() > 4:
		return nil, invalid(fieldCode)
	case !brand.FitsCode(code):
		return nil, decline(reasonInvalidCVN)
	}
	return &code, problem{}
}

// chargeCard puts the card of the request into the payment.
func chargeCard(body *v1.TransactionCreate, in *wire.Card) problem {
	const group = "paymentInformation.card"
	month, year, p := cardFields{group, in.Number.String, in.ExpirationMonth, in.ExpirationYear}.expiry()
	if !p.none() {
		return p
	}
	code, p := securityCode(in.SecurityCode.String, card.BrandOf(in.Number.String))
	if !p.none() {
		return p
	}
	body.PaymentMethod = "card"
	body.Card = &v1.CardInput{Number: in.Number.String, ExpMonth: month, ExpYear: year, Cvc: code}
	return problem{}
}
