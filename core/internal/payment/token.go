package payment

import "time"

// Sealed are the hidden values of an object, encrypted for that object only. An empty field means
// that the object has no such value, or has lost it.
type Sealed struct {
	Key    uint32 // which key of the vault sealed the number
	Number []byte
	Code   SealedCode // of a token
}

// SealedCode is the encrypted security code of a token. The zero value means none.
type SealedCode struct {
	Key  CodeKey
	Text []byte // encrypted by Key and the token's value together
}

// CodeKey is the key by which security codes are encrypted in one hour, itself encrypted by the
// vault.
type CodeKey struct {
	ID     int64
	Hour   int64  // in which it seals, as CodeHour counts
	Vault  uint32 // which key of the vault sealed it
	Sealed []byte
}

// CodeHour returns the number of the hour of t, counted from 1970.
func CodeHour(t time.Time) int64 { return t.Unix() / int64(time.Hour/time.Second) }

// CodeHours is the number of hours for which a code key exists, including its own hour: until all
// tokens whose codes it sealed have expired.
const CodeHours = 2

// The kinds of payment sources.
const (
	KindCard        = "card"
	KindBankAccount = "bank_account"
)

// TokenLifetime is how long a token can be used, by the stored time.
const TokenLifetime = time.Hour

// Token stands for a card or bank account, for a single use.
type Token struct {
	ID         int64
	Tenant     Tenant
	Kind       string
	Details    []byte // its public description, as the contract shows it; opaque here
	Sealed     Sealed
	SecretHash []byte // of its TokenValue
	CVCGiven   bool   // whether it was created with a security code; the code is wiped at the first use
	UsedBy     int64  // number of the transaction or payment method that used it; 0 for unused
	UsedAt     time.Time
	Client     Client // that created it; not read back
	CreatedAt  time.Time
	ExpiresAt  time.Time
}
