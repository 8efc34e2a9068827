package command

import v1 "github.com/causeway-pay/causeway/shared/v1"

// ListExpiring lists the stored cards of all customers that expire in a month, by their ids.
type ListExpiring struct {
	Month int `json:"month"`
	Year  int `json:"year"`

	NewestFirst bool `json:"newest_first,omitzero"`
	// Skip and Limit select the rows of the page.
	Skip  int `json:"skip,omitzero"`
	Limit int `json:"limit"`
}

// StoredMethod is a payment method of a list.
type StoredMethod struct {
	Method v1.PaymentMethod `json:"method"`
	// Default reports that it is its customer's default.
	Default bool `json:"default,omitzero"`
}

// StoredMethods is the result of ListExpiring.
type StoredMethods struct {
	Rows []StoredMethod `json:"rows"`
	// Total is the number of all rows.
	Total int `json:"total"`
}

// FindCustomer finds the newest customer that CreateCustomer would not make again. The result is
// Repeated with that customer, else NotFound.
type FindCustomer struct {
	Body v1.CustomerInput `json:"body"`

	// Unmasked is as in CreateCustomer.
	Unmasked []string `json:"-"`
}

// Kind implements Command.
func (ListExpiring) Kind() Kind { return MethodsList }

// Kind implements Command.
func (FindCustomer) Kind() Kind { return CustomerGet }
