package payment

import "time"

// Customer is a payer that the merchant has stored for later payments.
type Customer struct {
	ID        int64
	Tenant    Tenant
	Details   []byte // the merchant's data, as the contract shows it; opaque here
	Default   int64  // the payment method that is charged when none is named, 0 for none
	Version   int64  // counts the announced changes, including attached and detached methods
	Client    Client // that created it; not read back
	CreatedAt time.Time
	UpdatedAt time.Time
}

// MaxMethods is how many payment methods a customer has at most, so that all of them can be
// detached in one commit.
const MaxMethods = 500

// Method is a customer's stored card or bank account. It never has a security code.
type Method struct {
	ID          int64
	Tenant      Tenant
	Customer    int64
	Kind        string
	Fingerprint string
	Details     []byte // the data that may be shown, as the contract shows it; opaque here
	Sealed      Sealed // empty after the method is detached
	Client      Client // that attached it; not read back
	CreatedAt   time.Time
	DetachedAt  time.Time // zero while it is attached
}
