package providerb

import (
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// storeScopes are what a key needs besides the payment's to keep what was paid with.
var storeScopes = []string{"customers:write", "customers:read", "tokens:create"}

// cannotStore is the scope that the caller's key lacks for keeping what is paid with; "" for none.
func (c call) cannotStore() string {
	for _, scope := range storeScopes {
		if !slices.Contains(c.scopes, scope) {
			return scope
		}
	}
	return ""
}

// storable judges the wish to keep what is paid with: a card or a bank account that is given whole, for a customer of its own.
func (d *decoder) storable(body *v1.TransactionCreate) problem {
	pay := &d.req.Payment
	if body.Card == nil && body.BankAccount == nil || pay.Customer.ID != "" || pay.Customer.CustomerID != "" {
		return unsupported(fieldActions)
	}
	return problem{}
}

// keep makes a customer of who paid, with what was paid with as the default payment method. The payment's number is part of what tells the
// customer apart, so the same payment never makes two. One that cannot be made takes nothing from the payment.
func (h *Handler) keep(c call, p plan, t *v1.Transaction) *wire.TokenAnswer {
	number := numberOf(t)
	description := "Stored with payment " + number
	in := v1.CustomerInput{Reference: &number, Description: &description, Billing: p.Body.Billing, Shipping: p.Body.Shipping}
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
		Body: in, Default: 1, Methods: []command.NewMethod{{Token: command.CreateToken{Body: token}, Billing: p.Body.Billing}},
	}})[0]
	if r.Customer == nil || r.Outcome != command.Done && r.Outcome != command.Repeated {
		return nil
	}
	return kept(c.req.Processing.ActionTokenTypes, r.Customer)
}

// kept names what was stored, as far as the client asked for it; all of it when it asked for nothing in particular.
func kept(types []wire.Text, customer *v1.Customer) *wire.TokenAnswer {
	wants := func(name string) bool {
		return len(types) == 0 || slices.ContainsFunc(types, func(t wire.Text) bool { return strings.EqualFold(string(t), name) })
	}
	out := &wire.TokenAnswer{}
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
	if *out == (wire.TokenAnswer{}) {
		return nil
	}
	return out
}
