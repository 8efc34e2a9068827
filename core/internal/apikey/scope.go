package apikey

import "slices"

// The scopes, in the words of the v1 contract. Each names an action that a key may do, apart from
// the limits of its kind.
const (
	ScopePaymentsAuthorize = "payments:authorize" // create and void transactions
	ScopePaymentsCapture   = "payments:capture"
	ScopeRefundsCreate     = "refunds:create"
	ScopeTransactionsRead  = "transactions:read"
	ScopeCustomersWrite    = "customers:write"
	ScopeCustomersRead     = "customers:read"
	ScopeTokensCreate      = "tokens:create"
	ScopePaymentsConfirm   = "payments:confirm"
	ScopeEventsRead        = "events:read"
	ScopeWebhooksWrite     = "webhooks:write"
	ScopeKeysWrite         = "keys:write"
	ScopeMLEWrite          = "mle:write"
	ScopeCompatUse         = "compat:use" // the compatibility endpoints, in addition to the scope of each operation
)

// AllScopes returns every scope, in the order of the contract. The slice is the caller's.
func AllScopes() []string {
	return []string{
		ScopePaymentsAuthorize, ScopePaymentsCapture, ScopeRefundsCreate, ScopeTransactionsRead, ScopeCustomersWrite,
		ScopeCustomersRead, ScopeTokensCreate, ScopePaymentsConfirm, ScopeEventsRead, ScopeWebhooksWrite, ScopeKeysWrite,
		ScopeMLEWrite, ScopeCompatUse,
	}
}

// DefaultScopes returns the scopes of a key of this kind unless it is made with fewer. A secret key
// has all. A publishable key has tokens and confirmation, and may never have more. An unknown kind
// has none. The caller may change the slice.
func DefaultScopes(kind Kind) []string {
	switch kind {
	case Secret:
		return AllScopes()
	case Publishable:
		return []string{ScopeTokensCreate, ScopePaymentsConfirm}
	}
	return nil
}

// ValidScope reports whether s is one of AllScopes.
func ValidScope(s string) bool {
	return slices.Contains(AllScopes(), s)
}
