package providera

import (
	"context"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// profileIDs are the numbers of a stored profile, as clients write them.
type profileIDs struct {
	Customer string `json:"customer,omitempty"`
	Method   string `json:"method,omitempty"`
	Address  string `json:"address,omitempty"`
}

// profileIDs returns the numbers of a profile in a transaction.
func (d *decoder) profileIDs() profileIDs {
	profile := d.txn.Child("profile")
	return profileIDs{
		Customer: withoutZeros(profile.Get("customerProfileId")),
		Method:   withoutZeros(profile.Get("paymentProfile", "paymentProfileId")),
		Address:  withoutZeros(profile.Get("shippingProfileId")),
	}
}

// namedProfile returns the profile that pays or is paid, and false if the transaction names none.
// With createProfile, the numbers are of the profile that gets the payment source.
func (d *decoder) namedProfile() (profileIDs, bool) {
	ids := d.profileIDs()
	return ids, ids != profileIDs{} && !d.creates()
}

// creates reports whether the transaction stores its card after an approval.
func (d *decoder) creates() bool { return isTrue(d.txn.Get("profile", "createProfile")) }

// profile refuses elements that conflict with a stored profile or with createProfile. It accepts a
// transaction with neither.
func (d *decoder) profile() problem {
	ids := d.profileIDs()
	payment := d.txn.Has("payment")
	parts := ids.Method != "" || ids.Address != ""
	switch {
	case d.creates() && ids.Customer != "" && parts:
		return refuse(apiProfileWithCreate)
	case d.creates() && parts:
		return refuse(apiPartsWithCreate)
	case d.creates() && !payment:
		return refuse(apiCreateWithoutPayment)
	case ids == profileIDs{}:
		return problem{}
	case d.creates(): // only the number is left to check
	case payment && d.txn.Child("profile").Has("paymentProfile"):
		return refuse(apiProfileWithPayment)
	case payment:
		return refuse(apiProfileIDWithPayment)
	case ids.Address != "" && d.txn.Has("shipTo"):
		return refuse(apiShippingWithShipTo)
	case d.txn.Has("billTo"):
		return refuse(apiProfileWithBillTo)
	case ids.unstored():
		return because(reasonCardNumber)
	}
	if _, _, ok := ids.v1(); !ok {
		return noProfile()
	}
	if _, ok := ids.shipTo(); !ok {
		return noAddress()
	}
	return problem{}
}

// v1 returns the ids of the numbers. The method is empty for the customer's default.
func (p profileIDs) v1() (customer, method string, ok bool) {
	customer, err := id.Decimal(id.Customer, p.Customer)
	if err != nil {
		return "", "", false
	}
	if p.Method == "" {
		return customer, "", true
	}
	method, err = id.Decimal(id.PaymentMethod, p.Method)
	return customer, method, err == nil
}

// shipTo returns the id of the shipping address, "" without one.
func (p profileIDs) shipTo() (address string, ok bool) {
	if p.Address == "" {
		return "", true
	}
	address, err := id.Decimal(id.ShippingAddress, p.Address)
	return address, err == nil
}

// noProfile refuses numbers that no profile has.
func noProfile() problem {
	return problem{API: apiNoRecord, Text: "Customer Profile ID or Customer Payment Profile ID not found."}
}

// shippingKey is the metadata entry of a payment with the number of its customer's shipping
// address.
const shippingKey = "shipping_address"

// chargeProfile puts the stored profile into the payment.
func (d *decoder) chargeProfile(body *v1.TransactionCreate, ids profileIDs) problem {
	customer, method, ok := ids.v1()
	if !ok {
		return noProfile()
	}
	body.Customer, body.PaymentMethod = &customer, method
	if code := secret.New(d.txn.Get("profile", "paymentProfile", "cardCode")); !code.IsZero() {
		body.CardCvc = &code
	}
	d.echo.Profile = ids
	return problem{}
}

// refundProfile refunds to the stored profile that paid.
func (d *decoder) refundProfile(
	target command.Number, amount, currency string, ids profileIDs,
) (command.Command, problem) {
	customer, method, ok := ids.v1()
	if !ok {
		return nil, noProfile()
	}
	d.echo.Profile = ids
	return command.Refund{
		Target: target, Amount: amount, Reference: d.txn.Get("order", "invoiceNumber"), Metadata: d.ownMetadata(),
		Require:       command.Require{Settled: true, Currency: currency, Customer: customer, Method: method},
		Deduplication: d.deduplication(),
	}, problem{}
}

// newProfile returns the customer that a transaction with createProfile makes from its data, or the
// payment method that it gives to a stored customer.
func (d *decoder) newProfile() profileRequest {
	customer := d.txn.Child("customer")
	c := command.CreateCustomer{
		Body:      v1.CustomerInput{Reference: nonEmpty(customer.Get("id")), Email: nonEmpty(customer.Get("email"))},
		Addresses: shippingInputs(d.txn.All("shipTo")),
	}
	stored, _, exists := d.profileIDs().v1()
	if !exists && c.Body.Reference == nil && c.Body.Email == nil {
		return profileRequest{Problem: refuse(apiNoCustomerInfo)}
	}
	method, p := newMethod(d.txn.Child("payment"), d.txn.Child("billTo"), "")
	if !p.none() || !storable(method) {
		return profileRequest{Problem: refuse(apiNotStorable)}
	}
	setNonEmpty(method.Metadata, "customer_type", customer.Get("type"))
	c.Methods = []command.NewMethod{method}
	if exists {
		return profileRequest{Command: command.AttachMethod{Customer: stored, Method: method}}
	}
	return profileRequest{Command: c}
}

// profileRequest is the createProfile part of a transaction.
type profileRequest struct {
	Command command.Command
	Problem problem
}

// makeRequestedProfile makes the profile of an approved payment, and returns the profileResponse;
// nil without createProfile. Its result does not change the payment. If the proxy dies between the
// two, a retry makes the profile. If the profile already exists, the response to a retry is that of
// any duplicate.
func (h *Handler) makeRequestedProfile(ctx context.Context, c call, p *plan, paid command.Result) *wire.Element {
	if p.NewProfile == nil {
		return nil
	}
	again := repeatsApproval(paid)
	if paid.Outcome != command.Done && !again {
		return nil
	}
	outcome, m := p.NewProfile.Problem, profileNumbers{}
	if outcome.none() {
		outcome = requireScope(c.scopes, v1.ScopeCustomersWrite)
	}
	if outcome.none() {
		r := h.execute(ctx, c, p.NewProfile.Command)
		outcome, m = judgeProfile(r), newProfileNumbers(r)
	}
	if again && !outcome.none() {
		return nil
	}
	if outcome.none() {
		p.Echo.Profile = m.first()
	}
	result := wire.ResultError
	if outcome.none() {
		result, outcome = wire.ResultOK, refuse(apiOK)
	}
	messages := wire.MessagesElement(result, wire.Message{Code: string(outcome.API), Text: outcome.apiMessage()})
	return wire.GroupElement("profileResponse", append([]*wire.Element{messages}, m.elements()...)...)
}

// repeatsApproval reports whether a request repeats one whose payment was approved. V1 returns no
// payment for a duplicate that only has the compared fields in common.
func repeatsApproval(r command.Result) bool {
	if r.Outcome != command.Repeated {
		return false
	}
	switch status(r.Transaction) {
	case v1.TransactionStatusAuthorized, v1.TransactionStatusCaptured, v1.TransactionStatusPartiallyCaptured:
		return true
	default:
		return false
	}
}

// elements returns the numbers as elements of a transactionResponse.
func (p profileIDs) elements() []*wire.Element {
	var l elementList
	l.text("customerProfileId", p.Customer)
	l.text("customerPaymentProfileId", p.Method)
	l.text("customerAddressId", p.Address)
	return l
}

// charged fills in the default payment method that was charged.
func (p profileIDs) charged(t *v1.Transaction) profileIDs {
	if p.Customer == "" || p.Method != "" || t == nil {
		return p
	}
	if number := decimal(id.PaymentMethod, t.PaymentMethod); number != noID {
		p.Method = number
	}
	return p
}
