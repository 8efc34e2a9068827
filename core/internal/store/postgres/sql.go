package postgres

import "github.com/causeway-pay/causeway/core/internal/store"

// compile returns the SQL of the store's statements. Each parameter is cast to its type. Without a
// cast PostgreSQL takes the type from the first place of the parameter. An amount that is compared
// with 0 there would have 32 bits.
func compile() (map[*store.Statement]string, error) {
	return store.Compile(
		customerSQL, erasureSQL, eventSQL, idempotencySQL, listSQL, merchantSQL, paymentSQL, recoverySQL, serviceSQL,
		settlementSQL, stepSQL, vaultSQL, webhookSQL,
	)
}
