package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// expiryGrace keeps a card valid until its month has ended in the last time zone.
const expiryGrace = 12 * time.Hour

// payerCard finds the card that a request charges.
func (a *API) payerCard(t payment.Tenant, g givenSource) (acquirer.Card, error) {
	switch {
	case g.card != nil:
		return a.givenCard(g.card)
	case g.method == kindCard && t.Live:
		return acquirer.Card{}, &fault{code: codeMissingField, param: kindCard}
	case t.Live:
		return acquirer.Card{}, &fault{code: codeUnknownPaymentMethod, param: "payment_method"}
	}
	name := g.method
	if name == kindCard {
		name = a.Test.DefaultPaymentMethod()
	}
	found, ok := a.Test.Fixture(name)
	if !ok {
		return acquirer.Card{}, &fault{code: codeUnknownPaymentMethod, param: "payment_method"}
	}
	return found, nil
}

// givenCard checks a card that the payer typed.
func (a *API) givenCard(in *v1.CardInput) (acquirer.Card, error) {
	if f := a.numberFault(kindCard, in.Number, in.ExpMonth, in.ExpYear); f != nil {
		return acquirer.Card{}, f
	}
	out := acquirer.Card{Number: in.Number, ExpMonth: in.ExpMonth, ExpYear: in.ExpYear}
	if in.Cvc != nil {
		if !card.BrandOf(in.Number).FitsCode(*in.Cvc) {
			return acquirer.Card{}, &fault{code: codeInvalidCVC, param: "card.cvc"}
		}
		out.CVC = *in.Cvc
	}
	if f := lengthFault(field{"card.holder", in.Holder, 255}); f != nil {
		return acquirer.Card{}, f
	}
	return out, nil
}

// numberFault checks the number and the month of a card or of a network token. kind begins the
// names of the fields.
func (a *API) numberFault(kind string, number secret.String, month, year int) *fault {
	switch {
	case number.IsZero():
		return &fault{code: codeMissingField, param: kind + ".number"}
	case !card.Valid(number):
		return &fault{code: codeInvalidCardNumber, param: kind + ".number"}
	}
	return a.expiryFault(kind, month, year)
}

// expiryFault checks the month until which a card or a network token is valid.
func (a *API) expiryFault(kind string, month, year int) *fault {
	switch {
	case month == 0:
		return &fault{code: codeMissingField, param: kind + ".exp_month"}
	case month < 1 || month > 12:
		return &fault{code: codeInvalidValue, param: kind + ".exp_month", message: "The month must be from 1 to 12."}
	case year == 0:
		return &fault{code: codeMissingField, param: kind + ".exp_year"}
	case year < 2000 || year > 2099:
		return &fault{code: codeInvalidValue, param: kind + ".exp_year", message: "The year must have four digits, from 2000 to 2099."}
	}
	ends := time.Date(year, time.Month(month)+1, 1, 0, 0, 0, 0, time.UTC)
	if !a.Clock.Now().Before(ends.Add(expiryGrace)) {
		return &fault{code: codeExpiredCard, param: kind + ".exp_year"}
	}
	return nil
}

// shownBrand returns the contract's name of a brand. The contract has no name for Maestro.
func shownBrand(number secret.String) v1.CardBrand {
	if b := v1.CardBrand(card.BrandOf(number)); b.Valid() {
		return b
	}
	return v1.CardBrandUnknown
}

// shownCard returns the part of a card that may be shown.
func (a *API) shownCard(t payment.Tenant, c acquirer.Card, holder *string) *v1.Card {
	return &v1.Card{
		Brand: shownBrand(c.Number), Last4: secret.LastFour(c.Number),
		ExpMonth: c.ExpMonth, ExpYear: c.ExpYear, Fingerprint: a.fingerprint(t, c.Number), Holder: holder,
	}
}

// fingerprint returns a value that is equal for equal numbers within one merchant and mode. Values
// of different tenants cannot be compared.
func (a *API) fingerprint(t payment.Tenant, number secret.String) string {
	mac := hmac.New(sha256.New, a.FingerprintKey)
	mac.Write(strconv.AppendInt(nil, t.Merchant, 10))
	mac.Write(strconv.AppendBool([]byte{'|'}, t.Live))
	mac.Write([]byte("|" + number.Reveal()))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}
