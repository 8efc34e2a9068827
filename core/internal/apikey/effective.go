package apikey

import "slices"

// The narrow scopes. No key is granted one: a key has it with the scopes of the table below.
const (
	ScopeTransactionsReadOne    = "transactions:read_one" // a transaction and its captures, by id
	ScopeTransactionsFind       = "transactions:find"     // the transactions with one reference
	ScopeRefundsReadOne         = "refunds:read_one"      // a refund by id
	ScopeRefundsCreateLinked    = "refunds:create_linked" // a refund of a transaction
	ScopeCustomersReadOne       = "customers:read_one"    // a customer and each payment method, by id
	ScopeCustomersFind          = "customers:find"        // the customers with one reference or e-mail address
	ScopePaymentMethodsList     = "payment_methods:list"  // the payment methods of one customer
	ScopeTokensReadOne          = "tokens:read_one"       // a token by id
	ScopeIdempotencyKeysRead    = "idempotency_keys:read" // the use of one Idempotency-Key
	ScopeIdempotencyKeysReserve = "idempotency_keys:reserve"
)

// extension is a row of the table of effective scopes. A secret key that was granted each scope in
// with also has each scope in gives.
type extension struct{ with, gives []string }

// extensions is the table of effective scopes. Its rows read the granted scopes only, so no row
// extends another. For each narrow scope, the first row is that of the scope that includes it.
var extensions = []extension{
	{[]string{ScopeTransactionsRead}, []string{
		ScopeTransactionsReadOne, ScopeTransactionsFind, ScopeRefundsReadOne, ScopeTokensReadOne, ScopeIdempotencyKeysRead,
	}},
	{[]string{ScopeCustomersRead}, []string{ScopeCustomersReadOne, ScopeCustomersFind, ScopePaymentMethodsList}},
	{[]string{ScopeRefundsCreate}, []string{ScopeRefundsCreateLinked}},

	// A scope that changes an object reads that object by id.
	{[]string{ScopePaymentsAuthorize}, []string{ScopeTransactionsReadOne}},
	{[]string{ScopePaymentsCapture}, []string{ScopeTransactionsReadOne}},
	{[]string{ScopePaymentsConfirm}, []string{ScopeTransactionsReadOne}},
	{[]string{ScopeRefundsCreate}, []string{ScopeTransactionsReadOne, ScopeRefundsReadOne}},
	{[]string{ScopeCustomersWrite}, []string{ScopeCustomersReadOne}},
	{[]string{ScopeTokensCreate}, []string{ScopeTokensReadOne}},

	// A payment method that is given in full is stored by its token.
	{[]string{ScopeCustomersWrite}, []string{ScopeTokensCreate}},

	// Under compat:use, one permission is for the life of a payment.
	{[]string{ScopeCompatUse, ScopePaymentsAuthorize}, []string{
		ScopePaymentsCapture, ScopeRefundsCreateLinked, ScopeRefundsReadOne,
	}},

	// Under compat:use, a payment also reads the other payments of its order, and the payment
	// method that it charges. Customers are looked up before one is created, and so are the payment
	// methods of a customer, and Idempotency-Keys. A number may be a refund's.
	{[]string{ScopeCompatUse, ScopePaymentsAuthorize}, []string{
		ScopeTransactionsFind, ScopeCustomersReadOne, ScopeIdempotencyKeysRead,
	}},
	{[]string{ScopeCompatUse, ScopePaymentsCapture}, []string{ScopeRefundsReadOne, ScopeIdempotencyKeysRead}},
	{[]string{ScopeCompatUse, ScopeRefundsCreate}, []string{ScopeIdempotencyKeysRead}},
	{[]string{ScopeCompatUse, ScopeCustomersWrite}, []string{
		ScopeCustomersFind, ScopePaymentMethodsList, ScopeIdempotencyKeysRead,
	}},

	// A key that only reads cannot reserve the Idempotency-Key of a payment. Under compat:use, a
	// reservation is part of each login.
	{[]string{ScopePaymentsAuthorize}, []string{ScopeIdempotencyKeysReserve}},
	{[]string{ScopePaymentsCapture}, []string{ScopeIdempotencyKeysReserve}},
	{[]string{ScopePaymentsConfirm}, []string{ScopeIdempotencyKeysReserve}},
	{[]string{ScopeRefundsCreate}, []string{ScopeIdempotencyKeysReserve}},
	{[]string{ScopeCustomersWrite}, []string{ScopeIdempotencyKeysReserve}},
	{[]string{ScopeTokensCreate}, []string{ScopeIdempotencyKeysReserve}},
	{[]string{ScopeWebhooksWrite}, []string{ScopeIdempotencyKeysReserve}},
	{[]string{ScopeKeysWrite}, []string{ScopeIdempotencyKeysReserve}},
	{[]string{ScopeMLEWrite}, []string{ScopeIdempotencyKeysReserve}},
	{[]string{ScopeCompatUse}, []string{ScopeIdempotencyKeysReserve}},
}

// narrowScopes are the scopes that no key is granted.
var narrowScopes = []string{
	ScopeTransactionsReadOne, ScopeTransactionsFind, ScopeRefundsReadOne, ScopeRefundsCreateLinked, ScopeCustomersReadOne,
	ScopeCustomersFind, ScopePaymentMethodsList, ScopeTokensReadOne, ScopeIdempotencyKeysRead,
	ScopeIdempotencyKeysReserve,
}

// Permits reports whether a key of this kind with these granted scopes has the scope, granted or by
// the table of effective scopes. The table extends secret keys only.
func Permits(kind Kind, granted []string, scope string) bool {
	if slices.Contains(granted, scope) {
		return true
	}
	return kind == Secret && slices.ContainsFunc(extensions, func(e extension) bool {
		return slices.Contains(e.gives, scope) &&
			!slices.ContainsFunc(e.with, func(s string) bool { return !slices.Contains(granted, s) })
	})
}

// EffectiveScopes returns every scope that such a key has by Permits. The scopes of AllScopes come
// first, in their order. The slice is the caller's.
func EffectiveScopes(kind Kind, granted []string) []string {
	all := append(AllScopes(), narrowScopes...)
	return slices.DeleteFunc(all, func(s string) bool { return !Permits(kind, granted, s) })
}

// Grantable returns the scope to grant to a key that needs the scope: itself, or the one that
// includes a narrow scope.
func Grantable(scope string) string {
	i := slices.IndexFunc(extensions, func(e extension) bool { return slices.Contains(e.gives, scope) })
	if i < 0 || ValidScope(scope) {
		return scope
	}
	return extensions[i].with[0]
}
