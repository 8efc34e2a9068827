package command

import v1 "github.com/causeway-pay/causeway/shared/v1"

// GetCustomer reads a customer with its payment methods, oldest first.
type GetCustomer struct {
	Customer Number `json:"customer,omitempty"`
	// Reference and Email select the oldest customer that has them, if Customer is empty.
	Reference string `json:"reference,omitempty"`
	Email     string `json:"email,omitempty"`
}

// ListCustomers lists the ids of all customers, oldest first.
type ListCustomers struct{}

// DeleteCustomer deletes a customer and its payment methods.
type DeleteCustomer struct {
	Customer Number `json:"customer"`
}

// GetMethod reads a customer and one of its payment methods.
type GetMethod struct {
	Customer Number `json:"customer"`
	// Method selects the payment method; empty for the default one. Without a default, the result
	// is Unmet with ConditionDefault.
	Method Number `json:"method,omitempty"`
}

// AddMethod gives a customer a payment method, without a security code. An equal payment method of
// the customer is Repeated. Payment methods are equal if they have the same number, expiry, name,
// street and postal code.
type AddMethod struct {
	Customer Number    `json:"customer"`
	Method   NewMethod `json:"method"`
	// Default makes it the customer's default.
	Default bool `json:"default,omitzero"`
	// Most is the greatest number of payment methods. Beyond it, the result is Unmet with
	// ConditionMost.
	Most int `json:"most"`
}

// UpdateCustomer changes the fields of a customer that are given, as v1 does.
type UpdateCustomer struct {
	Customer Number           `json:"customer"`
	Body     v1.CustomerInput `json:"body"`
}

// IdentifyCustomer replaces the identifying fields of a customer: the ones that are absent are
// removed. If another customer has the same fields, nothing changes, and the result is Repeated
// with that customer.
type IdentifyCustomer struct {
	Customer Number           `json:"customer"`
	Body     v1.CustomerInput `json:"body"`

	// Unmasked is as in CreateCustomer.
	Unmasked []string `json:"-"`
}

// ChangeMethod changes a payment method, and keeps its id. If the customer has an equal one,
// nothing changes, and the result is Repeated with that one.
type ChangeMethod struct {
	Customer Number `json:"customer"`
	Method   Number `json:"method"`
	// New replaces the number and the expiry. Without it Require must hold.
	New     *CreateToken `json:"new,omitempty"`
	Require Require      `json:"require,omitzero"`
	// Expiry replaces the expiry of a card whose number stays.
	Expiry *v1.CardExpiry `json:"expiry,omitempty"`
	// Billing replaces the billing contact. Nil keeps it, and an empty one removes it. An empty
	// entry of Metadata removes the entry.
	Billing  *v1.Contact       `json:"billing,omitzero"`
	Metadata map[string]string `json:"metadata,omitempty"`
	// Default makes it the customer's default.
	Default bool `json:"default,omitzero"`
}

// AddAddress gives a customer a shipping address. An equal address of the customer is Repeated.
// Addresses are equal if they have the same name, street, postal code and telephone number. The
// result has the address and the id of the customer.
type AddAddress struct {
	Customer Number                  `json:"customer"`
	Address  v1.ShippingAddressInput `json:"address"`
}

// ChangeAddress replaces all fields of a shipping address: the ones that are absent are removed. An
// empty entry of the metadata removes the entry. If the customer has an equal address, nothing
// changes, and the result is Repeated.
type ChangeAddress struct {
	Customer Number                  `json:"customer"`
	Address  Number                  `json:"address"`
	Body     v1.ShippingAddressInput `json:"body"`
}

// DeleteAddress deletes a shipping address of a customer.
type DeleteAddress struct {
	Customer Number `json:"customer"`
	Address  Number `json:"address"`
}

// DetachMethod removes a payment method from its customer.
type DetachMethod struct {
	Customer Number `json:"customer"`
	Method   Number `json:"method"`
}

// Kind implements Command.
func (GetCustomer) Kind() Kind { return CustomerGet }

// Kind implements Command.
func (ListCustomers) Kind() Kind { return CustomerList }

// Kind implements Command.
func (DeleteCustomer) Kind() Kind { return CustomerDelete }

// Kind implements Command.
func (GetMethod) Kind() Kind { return MethodGet }

// Kind implements Command.
func (UpdateCustomer) Kind() Kind { return CustomerUpdate }

// Kind implements Command.
func (IdentifyCustomer) Kind() Kind { return CustomerUpdate }

// Kind implements Command.
func (ChangeMethod) Kind() Kind { return MethodUpdate }

// Kind implements Command.
func (AddMethod) Kind() Kind { return MethodCreate }

// Kind implements Command.
func (AddAddress) Kind() Kind { return CustomerUpdate }

// Kind implements Command.
func (ChangeAddress) Kind() Kind { return CustomerUpdate }

// Kind implements Command.
func (DeleteAddress) Kind() Kind { return CustomerUpdate }

// Kind implements Command.
func (DetachMethod) Kind() Kind { return MethodDelete }
