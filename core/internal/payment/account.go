package payment

import (
	"errors"
	"time"
)

// ErrAccountExists reports that the merchant has an enabled account for the currency, the payment
// method kind and the rank already.
var ErrAccountExists = errors.New("payment: the merchant has an enabled account for this already")

// AccountState is whether an account takes new payments.
type AccountState string

// The states of accounts. Open payments of a disabled account still finish.
const (
	AccountEnabled  AccountState = "enabled"
	AccountDisabled AccountState = "disabled"
)

// The ranks of a merchant's accounts for one currency and payment method kind.
const (
	FirstAccount  = 1
	SecondAccount = 2 // for failover
)

// Account is a merchant's account at an acquirer. It serves live mode only.
type Account struct {
	ID       int64
	Merchant int64
	Currency string // ISO 4217, lower case
	Method   string // card or bank_account
	Rank     int
	Kind     string // of the acquirer, such as provider-a
	Profile  []byte // JSON: the settings without secrets

	VaultKey    uint32 // which key of the vault encrypts the credentials
	Credentials []byte

	State     AccountState
	Version   int64 // increases with each change
	CreatedAt time.Time
	UpdatedAt time.Time
	RotatedAt time.Time // when the credentials were last replaced
}

// Tenant returns the tenant whose payments the account can serve.
func (a *Account) Tenant() Tenant { return Tenant{Merchant: a.Merchant, Live: true} }
