package command

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

// Kind implements Command.
func (GetCustomer) Kind() Kind { return CustomerGet }

// Kind implements Command.
func (ListCustomers) Kind() Kind { return CustomerList }

// Kind implements Command.
func (DeleteCustomer) Kind() Kind { return CustomerDelete }
