package postgres

import "github.com/causeway-pay/causeway/core/internal/store"

// compile returns the SQL of the store's statements. Each parameter is cast to its type. Without a
// cast PostgreSQL derives the type from the first use of the parameter. An amount that is first
// compared with 0 would have 32 bits.
func compile() (map[*store.Statement]string, error) {
	return store.Compile(
		accountSQL, byIDSQL, cardSQL, customerSQL, erasureSQL, eventSQL, idempotencySQL, listSQL, merchantSQL,
		paymentSQL, recoverySQL, reportSQL, serviceSQL, settlementSQL, stepSQL, vaultSQL, webhookSQL,
	)
}
