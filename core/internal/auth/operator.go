package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/rowmac"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The roles of operator tokens.
const (
	RoleOperator = "operator"        // everything
	RoleAuditor  = "auditor"         // reads everything, the audit record included
	RoleFilter   = "filter-identify" // identifies API keys and sends announcements: mle-filter and the edge
)

// operatorPrefix begins every operator token, so that scanners of code find one that leaked.
const operatorPrefix id.Prefix = "op"

// operatorIDLength is the length of the prefix and the id in every operator token. Its random bytes
// follow.
var operatorIDLength = len(id.Format(operatorPrefix, 1))

// MintOperator makes the secret of an operator token, from its id and 32 random bytes, and sets its
// hash. The other fields must be final.
func MintOperator(roots *root.Ring, o *payment.OperatorToken) secret.String {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand ends the program first
	token := id.Format(operatorPrefix, o.ID) + base64.RawURLEncoding.EncodeToString(raw[:])
	o.Hash = operatorHash(roots, token, o)
	return secret.New(token)
}

// operatorHash returns the hash that the store has for an operator token. It binds the role and the
// end of the token to its secret and its id, under a key that the store does not have. So a program
// that can write rows can neither make a token nor raise one.
func operatorHash(roots *root.Ring, token string, o *payment.OperatorToken) []byte {
	return rowmac.Of(roots.Lasting(root.OperatorTokens), "causeway operator token 1", token,
		o.Name, o.Role, millis(o.CreatedAt), millis(o.ExpiresAt))
}

// Operator returns the operator token of a secret. It returns payment.ErrNotFound if there is none,
// if it has ended, or if another program has written its row.
func (a *Authenticator) Operator(ctx context.Context, token string) (*payment.OperatorToken, error) {
	n, err := id.Parse(operatorPrefix, token[:min(len(token), operatorIDLength)])
	if err != nil {
		return nil, payment.ErrNotFound
	}
	o, err := a.store.Operator(ctx, n)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(o.Hash, operatorHash(a.roots, token, o)) || !o.Valid(a.clock.Now()) {
		return nil, payment.ErrNotFound
	}
	return o, nil
}

// millis returns a time as the store has it: in milliseconds, "" for none.
func millis(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}
