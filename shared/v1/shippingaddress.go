package v1

// Contact returns the recipient and the place of a shipping address.
func (a *ShippingAddress) Contact() *Contact {
	return &Contact{
		FirstName: a.FirstName, LastName: a.LastName, Company: a.Company, Email: a.Email, Phone: a.Phone, Address: a.Address,
	}
}

// Contact returns the recipient and the place of the input.
func (a *ShippingAddressInput) Contact() *Contact {
	return &Contact{
		FirstName: a.FirstName, LastName: a.LastName, Company: a.Company, Email: a.Email, Phone: a.Phone, Address: a.Address,
	}
}
