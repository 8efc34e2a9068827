package providera

import (
	"context"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const validateResponse = "validateCustomerPaymentProfileResponse"

// storedAddress returns the fields of a stored address in a direct response.
func storedAddress(c *v1.Contact, fax string) []string {
	fields := map[string]string{}
	for _, e := range customerAddress(c, fax, "") {
		fields[e.Tag] = e.Text()
	}
	out := make([]string, 0, len(addressParts)+2)
	for _, name := range addressParts {
		out = append(out, fields[name])
	}
	return append(out, fields["phoneNumber"], fields["faxNumber"])
}

// ownerOf returns the owner of a stored payment profile.
func ownerOf(c *v1.Customer) owner {
	of := owner{email: v1.Text(c.Email)}
	if c.Metadata["reference_from"] == "" {
		of.customer = v1.Text(c.Reference)
	}
	return of
}

// storedCheck checks a stored payment profile. A live mode queries the issuer of a card.
func storedCheck(of *v1.Customer, m *v1.PaymentMethod, mode, code string, basis basis) profileCheck {
	names := ownerOf(of)
	c := profileCheck{DirectResponse: directResponse{
		test: true, amount: "1.00", method: "CC", customer: names.customer, email: names.email,
		billTo: storedAddress(m.Billing, m.Metadata["billing_fax"]), avs: avsNotApplicable,
	}}
	if m.Card == nil {
		c.DirectResponse.method, c.DirectResponse.accountType = "ECHECK", checkAccount
		if m.BankAccount != nil {
			c.DirectResponse.account = masked(m.BankAccount.Last4)
		}
		return c
	}
	c.DirectResponse.account = masked(m.Card.Last4)
	c.DirectResponse.accountType = accounts[card.Brand(m.Card.Brand)].name
	live := queries(mode)
	if live {
		c.DirectResponse.test, c.DirectResponse.amount = false, "0.00"
	}
	street, zip := c.DirectResponse.billTo[3], c.DirectResponse.billTo[6]
	switch {
	case mode == modeLive && (street == "" || zip == ""):
		c.Problem = because(reasonIncomplete)
	case expired(m.Card.ExpMonth, m.Card.ExpYear, basis.now):
		c.Problem = because(reasonExpired)
	case live:
		c.Verify = storedVerification(m, secret.New(code), basis.currency)
	}
	return c
}

// storedVerification queries the issuer about a stored card and reserves nothing.
func storedVerification(m *v1.PaymentMethod, code secret.String, currency string) *command.Authorize {
	if known, ok := money.Lookup(currency); ok {
		currency = known.Code
	}
	mode := v1.CaptureModeManual
	body := v1.TransactionCreate{
		Currency: currency, Capture: &mode, PaymentMethod: m.ID, Customer: &m.Customer, Billing: m.Billing,
	}
	if !code.IsZero() {
		body.CardCvc = &code
	}
	return &command.Authorize{Body: body}
}

// validatePaymentProfile serves a validateCustomerPaymentProfileRequest.
func (h *Handler) validatePaymentProfile(ctx context.Context, c call) (*wire.Document, problem) {
	req := c.req.Root
	ids := requestedIDs(req)
	r := h.execute(ctx, c, command.GetMethod{Customer: command.Number(ids.Customer), Method: command.Number(ids.Method)})
	p := recordProblem(r)
	mode := req.Get("validationMode")
	if !p.none() || !validated(mode) {
		return finished(validateResponse, c.req.RefID, p)
	}
	check := storedCheck(r.Customer, &r.Methods[0], mode, req.Get("cardCode"), c.basis)
	if address := withoutZeros(req.Get("customerShippingAddressId")); address != "" {
		found := findAddress(r.Customer, address)
		if found == nil {
			return finished(validateResponse, c.req.RefID, refuse(apiNoRecord))
		}
		check.DirectResponse.shipTo = storedAddress(found.Contact(), "")[:len(addressParts)]
		check.DirectResponse.addressID = address
	}
	checks := []profileCheck{check}
	if queriesIssuer(checks) {
		p = requireScope(c.scopes, v1.ScopePaymentsAuthorize)
	}
	if p.none() {
		p = h.bind(ctx, c, validateResponse, withChecks(command.GetMethod{
			Customer: command.Number(ids.Customer), Method: command.Number(ids.Method),
		}, checks)...)
	}
	if !p.none() {
		return finished(validateResponse, c.req.RefID, p)
	}
	responses, p := h.validate(ctx, c, checks)
	return withDirectResponse(validateResponse, "directResponse", c.req.RefID, responses, p)
}

// withDirectResponse builds a response that has only a direct response, if there is one.
func withDirectResponse(
	root, name string, refID *string, responses []string, p problem,
) (*wire.Document, problem) {
	var own elementList
	for _, response := range responses {
		own.text(name, response)
	}
	if p.none() {
		return document(root, refID, wire.ResultOK, refuse(apiOK), own...), p
	}
	return document(root, refID, wire.ResultError, p, own...), p
}
