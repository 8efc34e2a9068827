package acquirer

import (
	"context"
	"errors"
	"time"
)

// ErrNoAccount reports that the merchant has no account for the payment, or that no such account
// exists.
var ErrNoAccount = errors.New("acquirer: no account")

// Method is the kind of payment source that an account serves. A network token counts as a card.
type Method string

// The kinds of payment sources.
const (
	CardMethod        Method = "card"
	BankAccountMethod Method = "bank_account"
)

// Account is a merchant's account at an acquirer.
type Account struct {
	ID int64
	Acquirer
	Reporter // nil in test mode
	// CapturesOnce: the acquirer makes one capture of an authorization, and releases the rest with it.
	// So each capture is final.
	CapturesOnce bool
}

// Accounts finds the accounts of live mode. It is safe for concurrent use.
type Accounts interface {
	// ForPayment returns the enabled accounts for a new payment of a merchant, in the order in which
	// they are tried: one, or two. It returns ErrNoAccount if there is none.
	ForPayment(ctx context.Context, merchant int64, currency string, method Method) ([]Account, error)
	// Account returns an account of a merchant by its id, also a disabled one: open payments must
	// finish. It returns ErrNoAccount if there is none, and refuses the account of another merchant.
	Account(ctx context.Context, merchant, id int64) (Account, error)
}

// Missing counts how long an acquirer has not had an operation. It is safe for concurrent use.
type Missing interface {
	// Missed records that the acquirer does not have the operation of a reference now. It returns how
	// long the operation has been missing: at most the time since the first call for that reference.
	// No clock that can be set measures the time. found reports that Found was called before.
	Missed(ctx context.Context, reference string) (missing time.Duration, found bool, err error)
	// Found records that the acquirer has had the operation of a reference.
	Found(ctx context.Context, reference string) error
}
