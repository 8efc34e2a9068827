package acquirer

import "github.com/causeway-pay/causeway/shared/secret"

// Source is the payment source: exactly one of its fields has a number. It must not outlive the
// call.
type Source struct {
	Card         Card
	NetworkToken NetworkToken
	BankAccount  BankAccount
}

// NetworkToken is a card network's stand-in for a card number.
type NetworkToken struct {
	Number      secret.String // digits only
	Cryptogram  secret.String // base64; zero when none was given
	ExpMonth    int           // 1 to 12
	ExpYear     int           // four digits
	ECI         string        // two digits, "" when none was given
	RequestorID string        // 11 digits, "" when none was given
}

// BankAccount is an account that a direct debit is taken from.
type BankAccount struct {
	Number        secret.String // digits only
	RoutingNumber string        // nine digits
	Type          string        // checking, savings or business_checking
	Holder        string
}

// ThreeDSecure is the result of an authentication of the cardholder. The zero value stands for no
// authentication.
type ThreeDSecure struct {
	ECI             string        // two digits
	CAVV            secret.String // base64; zero when none was given
	DSTransactionID string
	Version         string
}

// Initiator is the party that started the payment and the reason, in the words of the v1 contract.
// The zero value stands for a single payment that the customer starts.
type Initiator struct {
	Type                         string // customer or merchant
	Reason                       string // of a stored credential, "" for none
	PreviousNetworkTransactionID string
	PreviousNetworkLinkID        string // Mastercard's, 22 characters; "" for none
}
