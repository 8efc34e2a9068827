package operator

import (
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Role is the set of actions that an operator token may do.
type Role string

// The roles.
const (
	RoleOperator Role = "operator"        // everything
	RoleAuditor  Role = "auditor"         // reads everything, the audit record included
	RoleFilter   Role = "filter-identify" // identifies API keys and sends announcements
)

// Valid reports whether it is one of the roles.
func (r Role) Valid() bool { return r == RoleOperator || r == RoleAuditor || r == RoleFilter }

// TokenStatus is the state of an operator token.
type TokenStatus string

// The statuses of operator tokens.
const (
	TokenActive  TokenStatus = "active"
	TokenExpired TokenStatus = "expired"
	TokenRevoked TokenStatus = "revoked"
)

// ObjectToken is the object of a Token.
const ObjectToken = "operator"

// Token is an operator token.
type Token struct {
	ID        string         `json:"id"` // opr_…
	Object    string         `json:"object"`
	Name      string         `json:"name"`
	Role      Role           `json:"role"`
	Status    TokenStatus    `json:"status"`
	Token     *secret.String `json:"token,omitempty"` // only in the response to its create
	CreatedAt v1.Time        `json:"created_at"`
	ExpiresAt *v1.Time       `json:"expires_at,omitempty"`
	RevokedAt *v1.Time       `json:"revoked_at,omitempty"`
}

// TokenList is all operator tokens, oldest first.
type TokenList struct {
	Object  string  `json:"object"`
	Data    []Token `json:"data"`
	HasMore bool    `json:"has_more"`
}

// TokenCreate is the body of a create.
type TokenCreate struct {
	Name      string   `json:"name"`
	Role      Role     `json:"role"`
	ExpiresAt *v1.Time `json:"expires_at,omitempty"`
}
