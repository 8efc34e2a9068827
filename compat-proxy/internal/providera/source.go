package providera

import (
	"regexp"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/compat-proxy/internal/parity"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/bankaccount"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// otherPayments are the payment methods that are refused, each with the nearest code of the
// contract.
var otherPayments = map[string]problem{
	"encryptedTrackData": because(reasonNotAccepted),
	"payPal":             because(reasonNotAccepted),
	"emv":                because(reasonNotAccepted),
	"opaqueData":         refuse(apiOpaqueToken),
}

// source puts the payment source of a new payment into body. It rejects an expired card of a test
// request, which never reaches v1.
func (d *decoder) source(body *v1.TransactionCreate) problem {
	p := d.charge(body)
	if !p.none() || !d.echo.Test {
		return p
	}
	switch card, token := body.Card, body.NetworkToken; {
	case card != nil && expired(card.ExpMonth, card.ExpYear, d.basis.now),
		token != nil && expired(token.ExpMonth, token.ExpYear, d.basis.now):
		return because(reasonExpired)
	}
	return problem{}
}

// charge puts the payment source of a new payment into body.
func (d *decoder) charge(body *v1.TransactionCreate) problem {
	if ids, named := d.namedProfile(); named {
		return d.chargeProfile(body, ids)
	}
	payment := d.txn.Child("payment")
	switch {
	case payment.Child("creditCard").Present():
		return chargeCard(body, payment.Child("creditCard"))
	case payment.Child("trackData").Present():
		return d.chargeTrack(body, payment.Child("trackData"))
	case payment.Child("bankAccount").Present():
		return d.chargeBank(body, payment.Child("bankAccount"))
	}
	return blank("Credit card number") // decoder.payment has refused the other methods
}

// payment refuses payment sources that v1 can neither charge nor refund to.
func (d *decoder) payment() problem {
	if p := d.profile(); !p.none() {
		return p
	}
	if _, named := d.namedProfile(); named {
		return problem{}
	}
	payment := d.txn.Child("payment")
	for method, p := range otherPayments {
		if payment.Child(method).Present() {
			return p
		}
	}
	for _, method := range []string{"creditCard", "trackData", "bankAccount"} {
		if payment.Child(method).Present() {
			return problem{}
		}
	}
	return blank("Credit card number")
}

func chargeCard(body *v1.TransactionCreate, given wire.Node) problem {
	card, p := checkCard(given)
	if !p.none() {
		return p
	}
	if !isTrue(given.Get("isPaymentToken")) && !given.Has("cryptogram") {
		body.PaymentMethod, body.Card = "card", card
		return problem{}
	}
	token := &v1.NetworkTokenInput{Number: card.Number, ExpMonth: card.ExpMonth, ExpYear: card.ExpYear}
	if text := given.Get("cryptogram"); text != "" {
		cryptogram := secret.New(text)
		if !base64Form.MatchString(text) {
			return because(reasonCryptogram)
		}
		token.Cryptogram = &cryptogram
	}
	token.Eci = indicator(given.Get("tokenRequestorEci"))
	if id := given.Get("tokenRequestorId"); len(id) == 11 && chars.Digits(id) {
		token.RequestorID = &id
	}
	body.PaymentMethod, body.NetworkToken = "network_token", token
	return problem{}
}

// base64Form is the form of a cryptogram or an authentication value that v1 accepts.
var base64Form = regexp.MustCompile(`^[A-Za-z0-9+/_-]{1,64}=*$`)

// indicator returns an ECI as the two digits of v1; nil if it is invalid.
func indicator(text string) *string {
	if len(text) == 1 {
		text = "0" + text
	}
	if len(text) != 2 || !chars.Digits(text) {
		return nil
	}
	return &text
}

// The two tracks of a magnetic stripe, with or without their sentinels: number, year and month.
var (
	track1Form = regexp.MustCompile(`^%?[Bb]([0-9]{12,19})\^[^^]{2,26}\^([0-9]{2})([0-9]{2})[^?]*\??.?$`)
	track2Form = regexp.MustCompile(`^;?([0-9]{12,19})[=D]([0-9]{2})([0-9]{2})[^?]*\??.?$`)
)

// track returns the card of a track, in the form of a card given in full.
func track(data wire.Node) (number, expiry string, ok bool) {
	form, text := track1Form, data.Get("track1")
	if data.Child("track2").Present() {
		form, text = track2Form, data.Get("track2")
	}
	m := form.FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	return m[1], m[3] + m[2], true
}

// The expiry that v1 gets for the past one of a track, by the rule ExpiredTrack. It does not depend
// on the time, so that a retry is the same request.
const (
	trackMonth = 12
	trackYear  = 2099
)

// chargeTrack puts the card of a track into the payment. The rest of the track is dropped.
func (d *decoder) chargeTrack(body *v1.TransactionCreate, data wire.Node) problem {
	number, expiry, ok := track(data)
	if !ok && data.Child("track2").Present() {
		return because(reasonTrack2)
	}
	if !ok {
		return because(reasonTrack1)
	}
	card, p := cardOf(secret.New(number), expiry)
	if !p.none() {
		return p
	}
	if d.basis.rules.Has(parity.ExpiredTrack) && expired(card.ExpMonth, card.ExpYear, d.basis.now) {
		card.ExpMonth, card.ExpYear = trackMonth, trackYear
	}
	body.PaymentMethod, body.Card = "card", card
	return problem{}
}

// accountTypes maps the types of bank accounts to v1's.
var accountTypes = map[string]v1.BankAccountType{
	"":                 v1.BankAccountTypeChecking,
	"checking":         v1.BankAccountTypeChecking,
	"savings":          v1.BankAccountTypeSavings,
	"businessChecking": v1.BankAccountTypeBusinessChecking,
}

// chargeBank charges a bank account. It is always captured immediately.
func (d *decoder) chargeBank(body *v1.TransactionCreate, given wire.Node) problem {
	routing, number := given.Get("routingNumber"), accountNumber(given)
	holder := strings.TrimSpace(given.Get("nameOnAccount"))
	accountType := accountTypes[given.Get("accountType")]
	switch {
	case *body.Capture != v1.CaptureModeAutomatic && !d.basis.rules.Has(parity.BankAuthorization):
		return because(reasonNotForChecks)
	case body.Currency != "usd":
		return because(reasonCurrency)
	case !bankaccount.ValidRouting(routing):
		return because(reasonRouting)
	case !validAccount(number):
		return because(reasonAccount)
	case holder == "":
		return blank("Bank account name")
	case given.Get("echeckType") == "CCD" && accountType != v1.BankAccountTypeBusinessChecking:
		return because(reasonCheckAccount)
	}
	if limit, found := d.basis.rules.Find(parity.BankDebitLimit); found && body.Amount > limit.Amount {
		return because(reasonDeclined)
	}
	*body.Capture = v1.CaptureModeAutomatic
	body.PaymentMethod = "bank_account"
	body.BankAccount = &v1.BankAccountInput{
		RoutingNumber: routing, AccountNumber: secret.New(number), AccountType: accountType, Holder: holder,
	}
	return problem{}
}
