package providerb

import (
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// storeScope is the scope that a key needs, besides the payment's, to store the payment source.
const storeScope = "customers:write"

// storable refuses to store any payment source but a full card or bank account without a stored
// customer.
func (d *decoder) storable(body *v1.TransactionCreate) problem {
	pay := &d.req.Payment
	if body.Card == nil && body.BankAccount == nil || pay.Customer.ID != "" || pay.Customer.CustomerID != "" {
		return unsupported(fieldActions)
	}
	return problem{}
}

// storeSource makes a customer from the payer, with the payment source as the default payment
// method. The payment's number is one of the identifying fields, so the same payment never makes
// two customers. A failure does not change the payment.
func (h *Handler) storeSource(c call, p plan, t *v1.Transaction) *wire.TokenResponse {
	number := numberOf(t)
	description := "Stored with payment " + number
	in := v1.CustomerInput{
		Reference: &number, Description: &description, Billing: p.Body.Billing,
		Shipping: p.Body.Shipping,
	}
	if id := textsOf(c.req).given(c.req.Buyer.MerchantCustomerID, maxLine); id != nil {
		in.Reference = id
	}
	if b := p.Body.Billing; b != nil {
		in.FirstName, in.LastName, in.Company, in.Email, in.Phone = b.FirstName, b.LastName, b.Company, b.Email, b.Phone
	}
	token := v1.TokenCreate{BankAccount: p.Body.BankAccount}
	if card := p.Body.Card; card != nil {
		token.Card = &v1.CardInput{Number: card.Number, ExpMonth: card.ExpMonth, ExpYear: card.ExpYear, Holder: card.Holder}
	}
	r := h.cfg.Executor.Execute(c.ctx, c.caller.Grant.APIKey, []command.Command{command.CreateCustomer{
		Body: in, Default: 1,
		Methods: []command.NewMethod{{Token: command.CreateToken{Body: token}, Billing: p.Body.Billing}},
	}})[0]
	if r.Customer == nil || r.Outcome != command.Done && r.Outcome != command.Repeated {
		return nil
	}
	return storedObjects(c.req.Processing.ActionTokenTypes, r.Customer)
}

// storedObjects returns the stored objects of the requested types; all of them by default.
func storedObjects(types []wire.Text, customer *v1.Customer) *wire.TokenResponse {
	wants := func(name string) bool {
		return len(types) == 0 || slices.ContainsFunc(types,
			func(t wire.Text) bool { return strings.EqualFold(string(t), name) })
	}
	out := &wire.TokenResponse{}
	if wants("customer") {
		out.Customer = identified(customer.ID)
	}
	if method := text(customer.DefaultPaymentMethod); method != "" {
		if wants("paymentInstrument") {
			out.PaymentInstrument = identified(method)
		}
		if wants("instrumentIdentifier") {
			out.InstrumentIdentifier = identified(method)
		}
	}
	if *out == (wire.TokenResponse{}) {
		return nil
	}
	return out
}
