package api

import (
	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// givenNetworkToken checks a network token. Only the parts that may be shown are stored.
func (a *API) givenNetworkToken(t payment.Tenant, in *v1.NetworkTokenInput) (payer, error) {
	if in == nil {
		return payer{}, &fault{code: codeMissingField, param: kindNetworkToken}
	}
	if f := a.numberFault(kindNetworkToken, in.Number, in.ExpMonth, in.ExpYear); f != nil {
		return payer{}, f
	}
	token := acquirer.NetworkToken{Number: in.Number, ExpMonth: in.ExpMonth, ExpYear: in.ExpYear}
	if in.Cryptogram != nil {
		token.Cryptogram = *in.Cryptogram
	}
	if in.Cryptogram != nil && !base64Text(token.Cryptogram.Reveal()) {
		return payer{}, &fault{code: codeInvalidValue, param: "network_token.cryptogram", message: "The cryptogram must have 1 to 64 characters of base64."}
	}
	if f := eciFault("network_token.eci", in.Eci); f != nil {
		return payer{}, f
	}
	if in.RequestorID != nil && !isDigits(*in.RequestorID, 11, 11) {
		return payer{}, &fault{code: codeInvalidValue, param: "network_token.requestor_id", message: "The id of the token requestor must have 11 digits."}
	}
	token.ECI, token.RequestorID = v1.Text(in.Eci), v1.Text(in.RequestorID)
	shown := &v1.NetworkToken{
		Brand: shownBrand(in.Number), Last4: secret.LastFour(in.Number), ExpMonth: in.ExpMonth, ExpYear: in.ExpYear,
		Fingerprint: a.fingerprint(t, in.Number), Eci: in.Eci, RequestorID: in.RequestorID,
	}
	return payer{Source: acquirer.Source{NetworkToken: token}, shown: shownSource{NetworkToken: shown}}, nil
}
