package payment

import "errors"

// Reasons for which a stored payment source cannot be used. The request had no effect.
var (
	// ErrNoSource reports that the tenant has no such token or payment method, or no longer.
	ErrNoSource = errors.New("payment: the token or payment method does not exist")
	// ErrTokenUsed reports that the token was used before.
	ErrTokenUsed = errors.New("payment: the token was used")
	// ErrTokenExpired reports that the token is older than TokenLifetime.
	ErrTokenExpired = errors.New("payment: the token has expired")
	// ErrNoCustomer reports that the tenant has no such customer.
	ErrNoCustomer = errors.New("payment: the customer does not exist")
	// ErrOtherCustomer reports that the payment method belongs to another customer.
	ErrOtherCustomer = errors.New("payment: the payment method belongs to another customer")
)

// StoredSource names the stored objects that a payment uses. An id of 0 stands for none.
type StoredSource struct {
	Customer int64 // must exist
	Method   int64 // must be attached, to Customer if that is not 0
	Token    int64 // must be unused, and is used up
}
