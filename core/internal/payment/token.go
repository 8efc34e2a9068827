package payment

import "time"

// Sealed is what an object hides, encrypted for that object alone. A field without a text is one it does not have, or has no more.
type Sealed struct {
	Key    uint32 // which key of the vault sealed it
	Number []byte
	CVC    []byte
}

// The kinds of what is paid with.
const (
	KindCard        = "card"
	KindBankAccount = "bank_account"
)

// TokenLifetime is how long a token can be used, by the stored time.
const TokenLifetime = time.Hour

// Token stands for a card or bank account that was typed once, for one use.
type Token struct {
	ID        int64
	Tenant    Tenant
	Kind      string
	Details   []byte // what may be known of it, as the contract shows it; opaque here
	Sealed    Sealed
	CVCGiven  bool  // whether a security code came with it; the code itself is gone after the first use
	UsedBy    int64 // what it was used for: the number of a transaction or of a payment method; 0 for not yet
	UsedAt    time.Time
	CreatedAt time.Time
	ExpiresAt time.Time
}
