package sqlite

import (
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// compile returns the SQL of the store's statements. Parameters are ?, or ?1 and so on.
func compile() (map[*store.Statement]string, error) {
	return store.Compile(
		accountSQL, byIDSQL, cardSQL, customerSQL, erasureSQL, eventSQL, idempotencySQL, merchantSQL, paymentSQL,
		recoverySQL, reportSQL, serviceSQL, settlementSQL, stepSQL, vaultSQL, webhookSQL,
	)
}

// metadataHas returns the condition that the metadata of a row has all entries of a parameter, a
// JSON object.
func metadataHas(parameter string) string {
	return `(` + parameter + ` = '{}' OR NOT EXISTS (SELECT 1 FROM json_each(` + parameter + `) AS wanted
		WHERE wanted.value IS NOT (SELECT entry.value FROM json_each(details, '$.metadata') AS entry
			WHERE entry.key = wanted.key)))`
}

// textOf returns the SQL of a statement. It returns an error if the engine has none: a file has no
// secrets that several processes share.
func textOf(texts map[*store.Statement]string, s *store.Statement) (string, error) {
	if text := texts[s]; text != "" {
		return text, nil
	}
	return "", fmt.Errorf("sqlite: the engine cannot run the statement %s", s)
}
