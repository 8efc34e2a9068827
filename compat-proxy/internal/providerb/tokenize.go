package providerb

import (
	"net/http"
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// storeScope is the scope that a key needs, besides the payment's, to store the payment source.
const storeScope = "customers:write"

// store decides whether the payment source is stored, and for which customer. It refuses to store
// any source but a full card or bank account. A stored source needs no storing.
func (d *decoder) store(p *plan) problem {
	body, customer := &p.Body, d.customer()
	switch {
	case !p.Store:
		return problem{}
	case body.Customer != nil, strings.HasPrefix(body.PaymentMethod, string(id.PaymentMethod)+"_"):
		p.Store = false
		return problem{}
	case body.Card == nil && body.BankAccount == nil:
		return unsupported(fieldActions)
	case customer == "":
		return problem{}
	}
	owner, ok := stored(id.Customer, string(customer))
	if !ok {
		return invalid(fieldCustomer)
	}
	body.Customer = &owner // v1 refuses the payment of an unknown customer
	p.Store = requested(d.req.Processing.ActionTokenTypes, typeInstrument, typeIdentifier)
	return problem{}
}

// storeSource gives the payment source to the payment's customer, or else makes a customer with it.
// It adds the stored objects to the response. A failure does not change the payment.
func (h *Handler) storeSource(c call, p plan, t *v1.Transaction, out *wire.Response) {
	method := newMethod(p.Body)
	var do command.Command = newCustomer(c.req, p.Body, method, numberOf(t))
	if p.Body.Customer != nil {
		do = command.AttachMethod{Customer: *p.Body.Customer, Method: method}
	}
	r := h.cfg.Executor.Execute(c.ctx, c.caller.Grant.APIKey, do)
	if r.Customer == nil || r.Outcome != command.Done && r.Outcome != command.Repeated {
		return
	}
	made, owner := r.Customer, r.Customer.ID
	if p.Body.Customer != nil && len(r.Methods) == 1 {
		made = &v1.Customer{DefaultPaymentMethod: &r.Methods[0].ID} // the customer itself is not new
	}
	if out.Token = storedObjects(c.req.Processing.ActionTokenTypes, made); out.Token != nil {
		linkStored(out.Links, out.Token, owner)
	}
}

// newMethod returns the payment source of a payment as a payment method, without a security code.
func newMethod(body v1.TransactionCreate) command.NewMethod {
	token := v1.TokenCreate{BankAccount: body.BankAccount}
	if card := body.Card; card != nil {
		token.Card = &v1.CardInput{Number: card.Number, ExpMonth: card.ExpMonth, ExpYear: card.ExpYear, Holder: card.Holder}
	}
	return command.NewMethod{Token: command.CreateToken{Body: token}, Billing: body.Billing}
}

// newCustomer makes a customer from the payer, with the payment source as the default payment
// method. The payment's number is one of the identifying fields, so the same payment never makes
// two customers.
func newCustomer(
	req *wire.Request, body v1.TransactionCreate, method command.NewMethod, number string,
) command.CreateCustomer {
	description := "Stored with payment " + number
	in := v1.CustomerInput{
		Reference: &number, Description: &description, Billing: body.Billing,
	}
	if id := textsOf(req).given(req.Buyer.MerchantCustomerID, maxLine); id != nil {
		in.Reference = id
	}
	if b := body.Billing; b != nil {
		in.FirstName, in.LastName, in.Company, in.Email, in.Phone = b.FirstName, b.LastName, b.Company, b.Email, b.Phone
	}
	c := command.CreateCustomer{Body: in, Default: 1, Methods: []command.NewMethod{method}}
	if to := body.Shipping; to != nil {
		c.Addresses = []v1.ShippingAddressInput{{
			FirstName: to.FirstName, LastName: to.LastName, Company: to.Company, Email: to.Email, Phone: to.Phone,
			Address: to.Address, Default: new(true),
		}}
	}
	return c
}

// The types of stored objects that a request may name.
const (
	typeCustomer   = "customer"
	typeInstrument = "paymentInstrument"
	typeIdentifier = "instrumentIdentifier"
	typeAddress    = "shippingAddress"
)

// requested reports whether a request names one of the types; it names all of them by default.
func requested(types []wire.Text, names ...string) bool {
	return len(types) == 0 || slices.ContainsFunc(types, func(t wire.Text) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(string(t), name) })
	})
}

// storedObjects returns the stored objects of the requested types; all of them by default. A
// payment instrument comes with its instrument identifier, which is the same object. It is always
// new.
func storedObjects(types []wire.Text, customer *v1.Customer) *wire.TokenResponse {
	wants := func(names ...string) bool { return requested(types, names...) }
	out := &wire.TokenResponse{New: true}
	method := v1.Text(customer.DefaultPaymentMethod)
	if wants(typeCustomer) {
		out.Customer = identified(customer.ID)
	}
	if wants(typeAddress) && customer.ShippingAddresses != nil {
		out.ShippingAddress = identified((*customer.ShippingAddresses)[0].ID)
	}
	if wants(typeInstrument) {
		out.PaymentInstrument = identified(method)
	}
	if wants(typeIdentifier, typeInstrument) {
		out.InstrumentIdentifier = activeIdentifier(method)
	}
	if *out == (wire.TokenResponse{New: true}) {
		return nil
	}
	return out
}

// linkStored adds the links of the stored objects of a customer.
func linkStored(links *wire.Links, made *wire.TokenResponse, customer string) {
	at := func(segments ...string) *wire.Link {
		return &wire.Link{Href: "/tms/" + strings.Join(segments, "/"), Method: http.MethodGet}
	}
	if made.Customer != nil {
		links.Customer = at("v2", "customers", customer)
	}
	if made.ShippingAddress != nil {
		links.ShippingAddress = at("v2", "customers", customer, "shipping-addresses", made.ShippingAddress.ID)
	}
	if made.PaymentInstrument != nil {
		links.PaymentInstrument = at("v2", "customers", customer, "payment-instruments", made.PaymentInstrument.ID)
	}
	if made.InstrumentIdentifier != nil {
		links.InstrumentIdentifier = at("v1", "instrumentidentifiers", made.InstrumentIdentifier.ID)
	}
}
