package sqlite

import (
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// compile returns the SQL of the store's statements. Parameters are ?, or ?1 and so on.
func compile() (map[*store.Statement]string, error) {
	return store.Compile(
		customerSQL, erasureSQL, eventSQL, idempotencySQL, merchantSQL, paymentSQL, recoverySQL, serviceSQL,
		settlementSQL, stepSQL, vaultSQL, webhookSQL,
	)
}

// textOf returns the SQL of a statement. It returns an error if the engine has none: a file has no
// secrets that several processes share.
func textOf(texts map[*store.Statement]string, s *store.Statement) (string, error) {
	if text := texts[s]; text != "" {
		return text, nil
	}
	return "", fmt.Errorf("sqlite: the engine cannot run the statement %s", s)
}
