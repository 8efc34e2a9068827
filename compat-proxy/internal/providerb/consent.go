package providerb

import (
	"encoding/base64"
	"regexp"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// authCodeForm is the form of an issuer's authorization code in capitals.
var authCodeForm = regexp.MustCompile(`^[0-9A-Z]{1,6}$`)

// consent adds the consent to body: the payer's, and sometimes a prior authorization of the issuer.
func (d *decoder) consent(body *v1.TransactionCreate) problem {
	d.initiator(body)
	if options := &d.req.Processing.AuthorizationOptions; options.VerbalAuthCode != "" {
		return d.approval(body, strings.ToUpper(string(options.VerbalAuthCode)))
	}
	if bool(d.req.Processing.AuthorizationOptions.PartialAuthIndicator) && body.BankAccount == nil {
		available := v1.PartialAuthorizationIfAvailable
		body.PartialAuthorization = &available
	}
	return d.authentication(body)
}

// approval adds the issuer's prior authorization code to body. Such a payment needs no
// authentication.
func (d *decoder) approval(body *v1.TransactionCreate, code string) problem {
	switch {
	case !authCodeForm.MatchString(code):
		return invalid("processingInformation.authorizationOptions.verbalAuthCode")
	case body.Card == nil || *body.Capture != v1.CaptureModeAutomatic:
		return unsupported("processingInformation.authorizationOptions.verbalAuthCode")
	}
	body.PriorAuthorization = &v1.PriorAuthorization{Code: code}
	return problem{}
}

// authenticationValue returns the value that proves the payer's authentication in v1's form, and
// its field.
func (d *decoder) authenticationValue() (string, secret.String) {
	in := &d.req.ConsumerAuthentication
	if !in.CAVV.IsZero() {
		return "consumerAuthenticationInformation.cavv", inBase64(in.CAVV.String)
	}
	return "consumerAuthenticationInformation.ucafAuthenticationData", inBase64(in.UCAFAuthenticationData.String)
}

// inBase64 returns an authentication value in base64. It drops the backslashes of clients that
// escape the slashes twice, and encodes any other text. It returns a longer text than the dialect's
// values unchanged, which v1 would refuse.
func inBase64(value secret.String) secret.String {
	const longest = 40
	text := strings.ReplaceAll(value.Reveal(), `\`, "")
	switch {
	case base64Form.MatchString(text):
		return secret.New(text)
	case 0 < value.Len() && value.Len() <= longest:
		return secret.New(base64.StdEncoding.EncodeToString([]byte(value.Reveal())))
	}
	return value
}

// authentication adds the result of a payer authentication to body. A network token has separate
// fields for it.
func (d *decoder) authentication(body *v1.TransactionCreate) problem {
	field, value := d.authenticationValue()
	eci, p := d.indicator()
	switch {
	case body.NetworkToken != nil, body.BankAccount != nil:
		return problem{}
	case !p.none():
		return p
	case value.IsZero() && eci == "":
		return problem{}
	case !value.IsZero() && !base64Form.MatchString(value.Reveal()):
		return invalid(field)
	case eci == "":
		eci = d.defaultECI(body)
	}
	in := &d.req.ConsumerAuthentication
	out := &v1.ThreeDSecureInput{Eci: eci}
	if !value.IsZero() {
		out.Cavv = &value
	}
	if id := string(in.DirectoryServerTransactionID); networkIDForm.MatchString(id) {
		out.DsTransactionID = &id
	}
	if version := string(in.SpecificationVersion); versionForm.MatchString(version) {
		out.Version = &version
	}
	body.ThreeDSecure = out
	return problem{}
}

// versionForm is the form of the authentication protocol's version.
var versionForm = regexp.MustCompile(`^[0-9](\.[0-9]{1,2}){1,2}$`)

// indicators maps commerceIndicator to the networks' two-digit ECI.
var indicators = map[string]string{
	"vbv": "05", "vbv_attempted": "06", "vbv_failure": "07",
	"spa": "02", "spa_attempted": "01", "spa_failure": "00",
	"aesk": "05", "aesk_attempted": "06", "aesk_failure": "07",
	"js": "05", "js_attempted": "06", "js_failure": "07",
	"dipb": "05", "dipb_attempted": "06", "dipb_failure": "07",
	"pb": "05", "pb_attempted": "06", "pb_failure": "07",
}

// indicator returns the ECI in two digits, from the first field that has it; "" if none does.
func (d *decoder) indicator() (string, problem) {
	in := &d.req.ConsumerAuthentication
	for _, f := range []struct{ name, text string }{
		{"eciRaw", string(in.ECIRaw)},
		{"eci", string(in.ECI)},
		{"ucafCollectionIndicator", string(in.UCAFCollectionIndicator)},
	} {
		text := f.text
		if len(text) == 1 {
			text = "0" + text
		}
		switch {
		case text == "":
		case len(text) == 2 && chars.Digits(text):
			return text, problem{}
		default:
			return "", invalid("consumerAuthenticationInformation." + f.name)
		}
	}
	return indicators[strings.ToLower(string(d.req.Processing.CommerceIndicator))], problem{}
}

// defaultECI returns the ECI for an authentication value without one. The value itself proves that
// the payer was authenticated.
func (d *decoder) defaultECI(body *v1.TransactionCreate) string {
	attempted := strings.EqualFold(string(d.req.ConsumerAuthentication.PARESStatus), "A")
	mastercard := body.Card != nil && card.BrandOf(body.Card.Number) == card.Mastercard
	switch {
	case mastercard && attempted:
		return "01"
	case mastercard:
		return "02"
	case attempted:
		return "06"
	}
	return "05"
}

// initiatorReasons maps the dialect's reasons for a merchant-initiated payment to v1's.
var initiatorReasons = map[string]v1.InitiatorReason{
	"1": v1.InitiatorReasonResubmission,
	"2": v1.InitiatorReasonDelayedCharge,
	"3": v1.InitiatorReasonReauthorization,
	"4": v1.InitiatorReasonNoShow,
}

// agreements are the commerce indicators that imply an agreement.
var agreements = map[string]v1.InitiatorReason{
	"recurring":          v1.InitiatorReasonRecurring,
	"recurring_internet": v1.InitiatorReasonRecurring,
	"install":            v1.InitiatorReasonInstallment,
	"install_internet":   v1.InitiatorReasonInstallment,
}

// networkIDForm is the form of an earlier payment's network id that v1 accepts.
var networkIDForm = regexp.MustCompile(`^[!-~]{1,64}$`)

// initiator adds the initiator of the payment to body, and the payer's agreement to such payments.
func (d *decoder) initiator(body *v1.TransactionCreate) {
	processing := &d.req.Processing
	given := &processing.AuthorizationOptions.Initiator
	agreement, named := agreements[strings.ToLower(string(processing.CommerceIndicator))]
	first := bool(processing.RecurringOptions.FirstRecurringPayment)
	if !named && first {
		agreement, named = v1.InitiatorReasonRecurring, true
	}
	if !named {
		agreement = v1.InitiatorReasonUnscheduled
	}
	again := &given.MerchantInitiated
	in := &v1.Initiator{Type: v1.InitiatorTypeCustomer, Reason: &agreement}
	reason, known := initiatorReasons[strings.TrimLeft(string(again.Reason), "0")]
	merchant := strings.EqualFold(string(given.Type), "merchant")
	switch {
	case merchant && known:
		in.Type, in.Reason = v1.InitiatorTypeMerchant, &reason
	case merchant, named && !first && given.Type == "" && !bool(given.CredentialStored):
		in.Type = v1.InitiatorTypeMerchant
	case bool(given.CredentialStored), named:
	case bool(given.StoredCredentialUsed):
		in.Reason = nil
	default:
		return
	}
	if id := string(again.PreviousTransactionID); networkIDForm.MatchString(id) {
		in.PreviousNetworkTransactionID = &id
	}
	body.Initiator = in
}
