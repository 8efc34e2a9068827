package postgres

import "github.com/causeway-pay/causeway/core/internal/store"

// compile returns the SQL of the store's statements. Each parameter is cast to its type: PostgreSQL would take
// the type from the first place at which one stands, and an amount that is compared with 0 there would
// have 32 bits.
func compile() (store.SQL, error) {
	return store.Compile(
		customerSQL, erasureSQL, eventSQL, idempotencySQL, merchantSQL, paymentSQL, recoverySQL, serviceSQL,
		settlementSQL, stepSQL, vaultSQL, webhookSQL,
	)
}
