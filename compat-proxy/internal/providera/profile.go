package providera

import (
	"strconv"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/bankaccount"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	maxPaymentProfiles   = 10
	maxShippingAddresses = 100 // as in v1
)

// customerKindKey is the metadata entry of a customer with its profileType.
const customerKindKey = "customer_kind"

// profilePlan is a decoded createCustomerProfileRequest. It has a customer to make after the
// payment profiles have passed their checks, or a problem that decides the response.
type profilePlan struct {
	Problem problem
	Create  command.CreateCustomer
	// Checks are the checks of the validation mode, one for each payment profile. Without validation
	// there are none.
	Checks []profileCheck
	// Unstored are the positions of payment profiles that v1 does not store, counted from 1, in order.
	Unstored []int
	// Duplicates is the problem if two of the payment profiles or shipping addresses are equal. The
	// request is refused after the checks.
	Duplicates problem
}

// decodeProfile converts a createCustomerProfileRequest to a plan. It is pure.
func decodeProfile(req *wire.Request, basis basis) profilePlan {
	profile, mode := req.Root.Child("profile"), req.Root.Get("validationMode")
	customer := identifying(profile)
	payments, addresses := profile.All("paymentProfiles"), profile.All("shipToList")
	switch {
	case customer == (v1.CustomerInput{}):
		return profilePlan{Problem: refuse(apiEmptyProfile)}
	case len(payments) > maxPaymentProfiles:
		return profilePlan{Problem: refuse(apiTooManyPayments)}
	case len(addresses) > maxShippingAddresses:
		return profilePlan{Problem: refuse(apiTooManyAddresses)}
	}
	kept := v1.Metadata{}
	setNonEmpty(kept, customerKindKey, profile.Get("profileType"))
	setNonEmpty(kept, emptyProfileKey, sentEmpty(profile, identifyingFields))
	p := profilePlan{Create: command.CreateCustomer{Body: customer, Addresses: shippingInputs(addresses)}}
	if haveEqual(p.Create.Addresses) {
		p.Duplicates = duplicateAddress
	}
	seen := map[methodIdentity]bool{}
	for i, given := range payments {
		method, refused := newMethod(given.Child("payment"), given.Child("billTo"), mode)
		if !refused.none() {
			return profilePlan{Problem: refused}
		}
		same := identityOf(given)
		if seen[same] {
			p.Duplicates = problem{API: apiDuplicate, Text: textDuplicateMethod}
		}
		seen[same] = true
		if !storable(method) {
			p.Unstored = append(p.Unstored, i+1)
			kept[unstoredKey+strconv.Itoa(i+1)] = masked(lastFour(given.Get("payment", "creditCard", "cardNumber")))
			continue
		}
		p.add(method, given)
		if validated(mode) {
			p.Checks = append(p.Checks, newCheck(ownerIn(profile), given, mode, basis))
		}
	}
	if len(kept) > 0 {
		p.Create.Body.Metadata = &kept
	}
	return p
}

// shippingInputs converts the shipping addresses of a new profile to v1's form. It leaves out the
// ones without a field.
func shippingInputs(addresses []wire.Node) (out []v1.ShippingAddressInput) {
	for _, address := range addresses {
		if in, ok := shippingInput(address); ok {
			out = append(out, in)
		}
	}
	return out
}

// haveEqual reports whether two shipping addresses are equal, by the same fields as two of a stored
// profile.
func haveEqual(addresses []v1.ShippingAddressInput) bool {
	type fields struct{ firstName, lastName, line1, line2, zip, phone string }
	seen := map[fields]bool{}
	for i := range addresses {
		in := &addresses[i]
		same := fields{firstName: v1.Text(in.FirstName), lastName: v1.Text(in.LastName), phone: v1.Text(in.Phone)}
		if a := in.Address; a != nil {
			same.line1, same.line2, same.zip = v1.Text(a.Line1), v1.Text(a.Line2), v1.Text(a.PostalCode)
		}
		if seen[same] {
			return true
		}
		seen[same] = true
	}
	return false
}

// identifying returns the fields that identify a profile.
func identifying(profile wire.Node) v1.CustomerInput {
	return v1.CustomerInput{
		Reference: nonEmpty(profile.Get("merchantCustomerId")), Description: nonEmpty(profile.Get("description")),
		Email: nonEmpty(profile.Get("email")),
	}
}

// add adds a payment profile that v1 stores.
func (p *profilePlan) add(method command.NewMethod, given wire.Node) {
	setNonEmpty(method.Metadata, "customer_type", given.Get("customerType"))
	p.Create.Methods = append(p.Create.Methods, method)
	if isTrue(given.Get("defaultPaymentProfile")) && p.Create.Default == 0 {
		p.Create.Default = len(p.Create.Methods)
	}
}

// nonEmpty returns nil for an empty text. It keeps n/a, because these fields identify a customer.
func nonEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func setNonEmpty(m map[string]string, name, value string) {
	if value != "" {
		m[name] = value
	}
}

// newMethod converts the payment of a payment profile to v1's form. It refuses a payment that v1
// cannot store, before anything is made.
func newMethod(payment, billTo wire.Node, mode string) (command.NewMethod, problem) {
	m := command.NewMethod{Billing: contact(billTo), Metadata: map[string]string{}}
	setNonEmpty(m.Metadata, "billing_fax", billTo.Get("faxNumber"))
	setNonEmpty(m.Metadata, emptyBillingKey, sentEmpty(billTo, billingFields))
	var p problem
	switch {
	case payment.Child("creditCard").Present():
		p = storeCard(&m, payment.Child("creditCard"), mode)
	case payment.Child("bankAccount").Present():
		p = storeBank(&m, payment.Child("bankAccount"), validated(mode))
	case payment.Child("opaqueData").Present():
		p = refuse(apiOpaqueToken)
	case !payment.Present():
		p = refuse(apiNoPayment)
	default:
		p = invalid("Payment")
	}
	return m, p
}

// methodIdentity holds the fields by which two payment profiles of one customer are equal: the
// payment source, and the name and address.
type methodIdentity struct {
	number, routing string
	month, year     int

	firstName, lastName, address, zip string
}

func identityOf(given wire.Node) methodIdentity {
	payment, billTo := given.Child("payment"), given.Child("billTo")
	card, bank := payment.Child("creditCard"), payment.Child("bankAccount")
	same := methodIdentity{
		// one of the two is there
		number: card.Get("cardNumber") + accountNumber(bank), routing: bank.Get("routingNumber"),
		firstName: billTo.Get("firstName"), lastName: billTo.Get("lastName"), address: billTo.Get("address"),
		zip: billTo.Get("zip"),
	}
	same.month, same.year, _, _ = expiration(card.Get("expirationDate"))
	return same
}

// storeCard puts a card into the payment profile. Without a validation, it leaves out a card with a
// wrong check digit, which v1 does not store. V1 rejects an expired card, after it has searched
// for a customer of an earlier request.
func storeCard(m *command.NewMethod, given wire.Node, mode string) problem {
	text := given.Get("cardNumber")
	number := secret.New(text)
	month, year, hidden, ok := expiration(given.Get("expirationDate"))
	switch {
	case !chars.Digits(text) || len(text) < 13:
		return refuse(apiCardLength)
	case isTrue(given.Get("isPaymentToken")) || given.Has("cryptogram"):
		return invalid("Payment")
	case !validated(mode) && (!ok || hidden):
		return invalid("Expiration Date")
	case !validated(mode) && !card.Valid(number): // accepted, and never charged
		return problem{}
	}
	m.Token.Body.Card = &v1.CardInput{Number: number, ExpMonth: month, ExpYear: year}
	m.Metadata[issuerKey] = text[:issuerLength]
	return problem{}
}

// validated reports whether a mode checks payment profiles. If so, a direct response reports an
// invalid number or date.
func validated(mode string) bool { return mode != "" && mode != "none" }

func storeBank(m *command.NewMethod, given wire.Node, checked bool) problem {
	routing, number, holder := given.Get("routingNumber"), accountNumber(given), given.Get("nameOnAccount")
	switch {
	case !checked && !bankaccount.ValidRouting(routing):
		return invalid("Routing Number")
	case !checked && !validAccount(number):
		return invalid("Account Number")
	case holder == "":
		return missing("Name on Account")
	}
	m.Token.Body.BankAccount = &v1.BankAccountInput{
		RoutingNumber: routing, AccountNumber: secret.New(number), AccountType: accountTypes[given.Get("accountType")],
		Holder: holder,
	}
	for name, element := range map[string]string{"echeck_type": "echeckType", "bank_name": "bankName"} {
		setNonEmpty(m.Metadata, name, given.Get(element))
	}
	return problem{}
}

// invalid returns E00013 for the field of that name; missing returns E00014.
func invalid(field string) problem {
	return problem{API: apiFieldInvalid, Text: field + " is invalid."}
}

func missing(field string) problem {
	return problem{API: apiFieldMissing, Text: field + " is required."}
}

// profileNumbers holds the numbers of a profile and its parts, for the response.
type profileNumbers struct {
	customer  string
	methods   []string
	addresses []string
}

func newProfileNumbers(r command.Result) profileNumbers {
	if r.Outcome != command.Done || r.Customer == nil {
		return profileNumbers{}
	}
	m := profileNumbers{customer: decimal(id.Customer, r.Customer.ID)}
	for _, method := range r.Methods {
		m.methods = append(m.methods, decimal(id.PaymentMethod, method.ID))
	}
	if r.Customer.ShippingAddresses != nil {
		for _, a := range *r.Customer.ShippingAddresses {
			m.addresses = append(m.addresses, decimal(id.ShippingAddress, a.ID))
		}
	}
	return m
}

// first returns the numbers of a profile that has at most one of each part.
func (m profileNumbers) first() profileIDs {
	ids := profileIDs{Customer: m.customer}
	if len(m.methods) > 0 {
		ids.Method = m.methods[0]
	}
	if len(m.addresses) > 0 {
		ids.Address = m.addresses[0]
	}
	return ids
}

// elements returns the profile's numbers as elements of either response. The lists are there even
// if they are empty.
func (m profileNumbers) elements() elementList {
	var l elementList
	l.text("customerProfileId", m.customer)
	return append(l, texts("customerPaymentProfileIdList", "numericString", m.methods),
		texts("customerShippingAddressIdList", "numericString", m.addresses))
}

func texts(name, item string, items []string) *wire.Element {
	list := wire.ListElement(name)
	for _, text := range items {
		list.Add(wire.TextElement(item, text))
	}
	return list
}

// judgeProfile converts the result of making a customer, or of giving one a payment method, to the
// client's problem; none if it was done.
func judgeProfile(r command.Result) problem {
	switch r.Outcome {
	case command.Done:
		return problem{}
	case command.Repeated:
		return problem{
			API: apiDuplicate, Text: "A duplicate record with ID " + decimal(id.Customer, r.Customer.ID) + " already exists.",
		}
	case command.Unavailable:
		if p := unavailable(r); p.API != "" {
			return p
		}
	case command.Refused:
		return refusedProfile(r)
	case command.NotFound:
		return noProfile()
	case command.Unmet:
		if code, known := unmetCodes[r.Unmet]; known {
			return refuse(code)
		}
	case command.Declined, command.Uncertain:
	}
	return refuse(apiProcessing)
}

// profileFields maps the field that v1 refused to its name in the error text.
var profileFields = map[string]string{
	"card.number": "Card Number", "card.exp_month": "Expiration Date", "card.exp_year": "Expiration Date",
	"bank_account.routing_number": "Routing Number", "bank_account.account_number": "Account Number",
	"bank_account.holder": "Name on Account", "reference": "Merchant Customer ID", "description": "Description",
	"email": "Email",
}

func refusedProfile(r command.Result) problem {
	if r.Code == v1.CodeKeyReused || r.Code == command.CodeNameSpent {
		return nameTaken()
	}
	if r.Code == v1.CodeMLERequired {
		return encryptionRequired
	}
	switch r.Status {
	case 401:
		return refuse(apiBadLogin)
	case 403:
		if r.Code == v1.CodeMerchantDisabled {
			return refuse(apiInactive)
		}
		return refuse(apiAccessDenied)
	case 400:
		if field, known := profileFields[r.Param]; known {
			return invalid(field)
		}
		return refuse(apiFieldInvalid)
	}
	return refuse(apiProcessing)
}
