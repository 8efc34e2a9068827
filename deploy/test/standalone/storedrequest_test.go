package standalone_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// storedRequest is a request about a stored customer. In its document, {name} stands for the
// reference of the customer and its payment. {customer}, {method}, {address} and {payment} stand
// for the numbers of the objects that the requests before it made.
type storedRequest struct {
	before []string // the requests before it, by their names; settle settles the payment
	method string   // of the dialect
	send   string
	// done is the result of the first request. again is the result of a later one; it is done if it is
	// empty. Each is a code of the envelope, or the response code with the reason.
	done, again string
	want        storedState
}

// later returns the result of a request after an equal one.
func (x storedRequest) later() string { return cmp.Or(x.again, x.done) }

// storedState is what v1 has of one customer.
type storedState struct {
	customers []string // "email"
	methods   []string // "last four digits, month/year, default"
	addresses []string // "zip, default"
	payments  []string // "status captured refunded"
}

const (
	visaProfile = `<paymentProfiles><customerType>individual</customerType><billTo><firstName>Ana</firstName>` +
		`<address>1 Elm St</address><zip>98004</zip></billTo>` + visaPayment +
		`<defaultPaymentProfile>true</defaultPaymentProfile></paymentProfiles>`
	visaPayment = `<payment><creditCard><cardNumber>4111111111111111</cardNumber><expirationDate>2031-04` +
		`</expirationDate></creditCard></payment>`
	otherBilling = `<billTo><firstName>Ana</firstName><address>2 Elm St</address><zip>98005</zip></billTo>`
	otherPayment = `<payment><creditCard><cardNumber>5424000000000015</cardNumber><expirationDate>2030-12` +
		`</expirationDate></creditCard></payment>`
	ofCustomer = `<customerProfileId>{customer}</customerProfileId>`
	ofMethod   = `<customerPaymentProfileId>{method}</customerPaymentProfileId>`
	invoiced   = `<order><invoiceNumber>{name}</invoiceNumber></order>`
	byStored   = `<profile>` + ofCustomer + `<paymentProfile><paymentProfileId>{method}</paymentProfileId>` +
		`</paymentProfile></profile>`
	okResult, noRecord, duplicateRecord = "I00001", "E00040", "E00039"
)

// theCustomer is the state after the request "customer".
var theCustomer = storedState{
	customers: []string{"{name}@example.org"},
	methods:   []string{"1111 4/2031 default"}, addresses: []string{"98004"},
}

// with returns the state with payments.
func (s storedState) with(payments ...string) storedState {
	s.payments = payments
	return s
}

// methodsAre returns the state with other payment methods.
func (s storedState) methodsAre(methods ...string) storedState {
	s.methods = methods
	return s
}

// addressesAre returns the state with other shipping addresses.
func (s storedState) addressesAre(addresses ...string) storedState {
	s.addresses = addresses
	return s
}

// storedRequests are the requests by their names.
var storedRequests = map[string]storedRequest{
	"customer": {
		method: "createCustomerProfile",
		send: `<profile><merchantCustomerId>{name}</merchantCustomerId><email>{name}@example.org</email>` + visaProfile +
			`<shipToList><firstName>Bo</firstName><zip>98004</zip></shipToList></profile>`,
		done: okResult, again: duplicateRecord, want: theCustomer,
	},
	"whole": {
		method: "createCustomerProfile",
		send: `<profile><merchantCustomerId>{name}</merchantCustomerId><email>{name}@example.org</email>` + visaProfile +
			`<paymentProfiles>` + otherBilling + otherPayment + `</paymentProfiles><shipToList><firstName>Bo</firstName>` +
			`<zip>98004</zip></shipToList><shipToList><firstName>Cy</firstName><zip>98005</zip></shipToList></profile>` +
			`<validationMode>liveMode</validationMode>`,
		done: okResult, again: duplicateRecord,
		want: theCustomer.methodsAre("0015 12/2030", "1111 4/2031 default").addressesAre("98004", "98005"),
	},
	"bare": {
		method: "createCustomerProfile",
		send: `<profile><merchantCustomerId>{name}</merchantCustomerId><email>{name}@example.org</email>` +
			`<shipToList><firstName>Bo</firstName><zip>98004</zip></shipToList></profile>`,
		done: okResult, again: duplicateRecord, want: theCustomer.methodsAre(),
	},
	"card": {
		before: []string{"customer"}, method: "createCustomerPaymentProfile",
		send: ofCustomer + `<paymentProfile>` + otherBilling + otherPayment + `<defaultPaymentProfile>true` +
			`</defaultPaymentProfile></paymentProfile><validationMode>liveMode</validationMode>`,
		done: okResult, again: duplicateRecord, want: theCustomer.methodsAre("0015 12/2030 default", "1111 4/2031"),
	},
	"address": {
		before: []string{"customer"}, method: "createCustomerShippingAddress",
		send: ofCustomer + `<address><firstName>Cy</firstName><zip>98005</zip></address>` +
			`<defaultShippingAddress>true</defaultShippingAddress>`,
		done: okResult, again: duplicateRecord, want: theCustomer.addressesAre("98004", "98005 default"),
	},
	"charge": {
		before: []string{"customer"}, method: "createTransaction",
		send: `<transactionRequest><transactionType>authCaptureTransaction</transactionType><amount>20.00</amount>` +
			byStored + invoiced + `</transactionRequest>`,
		done: "1/1", again: "3/11", want: theCustomer.with("captured 2000 0"),
	},
	"charge the default": {
		before: []string{"customer"}, method: "createTransaction",
		send: `<transactionRequest><transactionType>authCaptureTransaction</transactionType><amount>20.00</amount><profile>` +
			ofCustomer + `<shippingProfileId>{address}</shippingProfileId></profile>` + invoiced + `</transactionRequest>`,
		done: "1/1", again: "3/11", want: theCustomer.with("captured 2000 0"),
	},
	"refund": {
		before: []string{"customer", "charge", "settle"}, method: "createTransaction",
		send: `<transactionRequest><transactionType>refundTransaction</transactionType><amount>2.50</amount>` + byStored +
			`<refTransId>{payment}</refTransId></transactionRequest>`,
		done: "1/1", again: "3/11", want: theCustomer.with("captured 2000 250"),
	},
	"renew": {
		before: []string{"customer"}, method: "updateCustomerPaymentProfile",
		send: ofCustomer + `<paymentProfile><payment><creditCard><cardNumber>XXXX1111</cardNumber>` +
			`<expirationDate>2033-07</expirationDate></creditCard></payment>` + ofMethod + `</paymentProfile>`,
		done: okResult, want: theCustomer.methodsAre("1111 7/2033 default"),
	},
	"another number": {
		before: []string{"customer"}, method: "updateCustomerPaymentProfile",
		send: ofCustomer + `<paymentProfile>` + otherBilling + otherPayment + `<defaultPaymentProfile>true` +
			`</defaultPaymentProfile>` + ofMethod + `</paymentProfile><validationMode>liveMode</validationMode>`,
		done: okResult, want: theCustomer.methodsAre("0015 12/2030 default"),
	},
	"another email": {
		before: []string{"customer"}, method: "updateCustomerProfile",
		send: `<profile><merchantCustomerId>{name}</merchantCustomerId><email>other-{name}@example.org</email>` + ofCustomer +
			`</profile>`,
		done: okResult, want: storedState{
			customers: []string{"other-{name}@example.org"}, methods: theCustomer.methods, addresses: theCustomer.addresses,
		},
	},
	"another address": {
		before: []string{"customer"}, method: "updateCustomerShippingAddress",
		send: ofCustomer + `<address><firstName>Bo</firstName><zip>98009</zip><customerAddressId>{address}` +
			`</customerAddressId></address>`,
		done: okResult, want: theCustomer.addressesAre("98009"),
	},
	"delete the card": {
		before: []string{"customer"}, method: "deleteCustomerPaymentProfile", send: ofCustomer + ofMethod,
		done: okResult, again: noRecord, want: theCustomer.methodsAre(),
	},
	"delete the address": {
		before: []string{"customer"}, method: "deleteCustomerShippingAddress",
		send: ofCustomer + `<customerAddressId>{address}</customerAddressId>`,
		done: okResult, again: noRecord, want: theCustomer.addressesAre(),
	},
	"delete": {
		before: []string{"customer"}, method: "deleteCustomerProfile", send: ofCustomer,
		done: okResult, again: noRecord,
	},
	"validate": {
		before: []string{"customer"}, method: "validateCustomerPaymentProfile",
		send: ofCustomer + ofMethod + `<validationMode>liveMode</validationMode>`, done: "1/1", want: theCustomer,
	},
	"sale": {
		before: []string{"customer"}, method: "createCustomerProfileTransaction",
		send: `<transaction><profileTransAuthCapture><amount>20.00</amount>` + ofCustomer + ofMethod +
			`<customerShippingAddressId>{address}</customerShippingAddressId>` + invoiced +
			`</profileTransAuthCapture></transaction>`,
		done: "1/1", again: "3/11", want: theCustomer.with("captured 2000 0"),
	},
	"authorization": {
		before: []string{"customer"}, method: "createCustomerProfileTransaction",
		send: `<transaction><profileTransAuthOnly><amount>20.00</amount>` + ofCustomer + ofMethod + invoiced +
			`</profileTransAuthOnly></transaction>`,
		done: "1/1", again: "3/11", want: theCustomer.with("authorized 0 0"),
	},
	"capture": {
		before: []string{"customer", "authorization"}, method: "createCustomerProfileTransaction",
		send: `<transaction><profileTransPriorAuthCapture><amount>5.00</amount>` + ofCustomer + ofMethod +
			`<transId>{payment}</transId></profileTransPriorAuthCapture></transaction>`,
		done: "1/1", again: "1/311", want: theCustomer.with("captured 500 0"),
	},
	"void": {
		before: []string{"customer", "authorization"}, method: "createCustomerProfileTransaction",
		send: `<transaction><profileTransVoid>` + ofCustomer + ofMethod +
			`<transId>{payment}</transId></profileTransVoid></transaction>`,
		done: "1/1", again: "1/310", want: theCustomer.with("voided 0 0"),
	},
	"refund by profile": {
		before: []string{"customer", "sale", "settle"}, method: "createCustomerProfileTransaction",
		send: `<transaction><profileTransRefund><amount>2.50</amount>` + ofCustomer + ofMethod +
			`<transId>{payment}</transId></profileTransRefund></transaction>`,
		done: "1/1", again: "3/11", want: theCustomer.with("captured 2000 250"),
	},
	"payment and customer": {
		method: "createTransaction",
		send: `<transactionRequest><transactionType>authCaptureTransaction</transactionType><amount>20.00</amount>` +
			visaPayment + `<profile><createProfile>true</createProfile></profile>` + invoiced + `<customer><id>{name}</id>` +
			`<email>{name}@example.org</email></customer><shipTo><zip>98004</zip></shipTo></transactionRequest>`,
		done: "1/1", again: "3/11", want: theCustomer.methodsAre("1111 4/2031").with("captured 2000 0"),
	},
}

// storedRun is one run of a request: the names in its documents.
type storedRun struct {
	*storedWorld

	name, customer, method, address, payment string
}

// document returns the document of a request.
func (r *storedRun) document(x storedRequest) string {
	return fmt.Sprintf(`<%[1]sRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><merchantAuthentication><name>%[2]s`+
		`</name><transactionKey>%[3]s</transactionKey></merchantAuthentication><refId>%[4]s</refId>%[5]s</%[1]sRequest>`,
		x.method, r.p.ProviderA.Name, r.p.ProviderA.TransactionKey, r.name, r.fill(x.send))
}

func (r *storedRun) fill(text string) string {
	return strings.NewReplacer("{name}", r.name, "{customer}", r.customer, "{method}", r.method, "{address}", r.address,
		"{payment}", r.payment).Replace(text)
}

// storedResult returns the result of a response: that of its transaction or its direct response, or
// the code of its envelope.
func storedResult(got legacyResponse) string {
	if line := element(got.body, "directResponse"); line != "" {
		fields := strings.Split(line, ",")
		return fields[0] + "/" + fields[2]
	}
	return got.result()
}

// prepare sends the requests before one, undisturbed.
func (r *storedRun) prepare(t *testing.T, names []string) {
	t.Helper()
	for _, name := range names {
		if name == "settle" {
			settle(t, r.m, txn(t, r.payment))
			continue
		}
		x := storedRequests[name]
		got := mustPost(t, r.client, r.p.HTTP, r.document(x))
		if result := storedResult(got); result != x.done {
			t.Fatalf("%s, %s: got %s, want %s", r.name, name, got.body, x.done)
		}
		if x.method == "createCustomerProfile" {
			r.customer, r.method, r.address = element(got.body, "customerProfileId"),
				element(element(got.body, "customerPaymentProfileIdList"), "numericString"),
				element(element(got.body, "customerShippingAddressIdList"), "numericString")
		} else if line := element(got.body, "directResponse"); line != "" {
			r.payment = strings.Split(line, ",")[6]
		} else {
			r.payment = got.number
		}
	}
}

// state reads what v1 has of the run's customer, and the numbers of all of it.
func (r *storedRun) state(t *testing.T) (s storedState, numbers []string) {
	t.Helper()
	number := func(of id.Prefix, name string) {
		n, err := id.ToDecimal(of, name)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	for _, c := range mustDecode[v1.CustomerList](t,
		r.m.must(t, http.MethodGet, "/v1/customers?reference="+r.name, "", "")).Data {
		if len(c.Metadata) != 0 && c.Metadata["setup"] != "" {
			t.Errorf("%s: customer %s is incomplete", r.name, c.ID)
		}
		number(id.Customer, c.ID)
		s.customers = append(s.customers, v1.Text(c.Email))
		for _, method := range mustDecode[v1.PaymentMethodList](t,
			r.m.must(t, http.MethodGet, "/v1/customers/"+c.ID+"/payment_methods", "", "")).Data {
			number(id.PaymentMethod, method.ID)
			s.methods = append(s.methods, strings.TrimSpace(fmt.Sprintf("%s %d/%d %s", method.Card.Last4, method.Card.ExpMonth,
				method.Card.ExpYear, defaultMark(method.ID == v1.Text(c.DefaultPaymentMethod)))))
		}
		if c.ShippingAddresses == nil {
			continue
		}
		for _, a := range *c.ShippingAddresses {
			number(id.ShippingAddress, a.ID)
			s.addresses = append(s.addresses, strings.TrimSpace(v1.Text(a.Address.PostalCode)+" "+defaultMark(a.Default)))
		}
	}
	for _, x := range mustDecode[v1.TransactionList](t,
		r.m.must(t, http.MethodGet, "/v1/transactions?reference="+r.name, "", "")).Data {
		number(id.Transaction, x.ID)
		s.payments = append(s.payments, fmt.Sprintf("%s %d %d", x.Status, x.AmountCaptured, x.AmountRefunded))
	}
	slices.Sort(s.methods)
	slices.Sort(s.addresses)
	return s, numbers
}

func defaultMark(is bool) string {
	if is {
		return "default"
	}
	return ""
}
