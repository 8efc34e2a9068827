package payment

import (
	"errors"
	"time"
)

// ErrOperatorEnded reports that the operator token was revoked or has expired.
var ErrOperatorEnded = errors.New("payment: the operator token has ended")

// OperatorToken is an operator token: a name and a role. The store has only the hash of its secret.
type OperatorToken struct {
	ID        int64
	Name      string
	Role      string // operator, auditor or filter-identify
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
	Hash      []byte    // of the secret and of all fields above but RevokedAt; empty once revoked
}

// Valid reports whether the token is accepted at a time.
func (o *OperatorToken) Valid(now time.Time) bool {
	return o.RevokedAt.IsZero() && (o.ExpiresAt.IsZero() || now.Before(o.ExpiresAt))
}
