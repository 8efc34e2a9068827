package sqlite

import "github.com/causeway-pay/causeway/core/internal/store/columns"

var accountSQL = map[string]string{
	"insertAccount": `INSERT INTO acquirer_accounts (` + columns.Account + `)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'enabled', 1, ?10, ?10, ?10)`,
	"selectAccount": `SELECT ` + columns.Account + ` FROM acquirer_accounts WHERE id = ?`,
	"lockAccount":   `SELECT ` + columns.Account + ` FROM acquirer_accounts WHERE id = ?`,
	"selectEnabledAccounts": `SELECT ` + columns.Account + ` FROM acquirer_accounts
		WHERE merchant_id = ? AND state = 'enabled' ORDER BY rank`,
	"selectAllAccounts": `SELECT ` + columns.Account + ` FROM acquirer_accounts ORDER BY id`,
	"countEnabledAccounts": `SELECT COUNT(*) FROM acquirer_accounts
		WHERE merchant_id = ? AND currency = ? AND method = ? AND rank = ? AND state = 'enabled'`,
	"rotateAccount": `UPDATE acquirer_accounts SET vault_key = ?1, credentials = ?2, version = version + 1,
		updated_at = ?3, rotated_at = ?3 WHERE id = ?4`,
	"setAccountState": `UPDATE acquirer_accounts SET state = ?, version = version + 1, updated_at = ? WHERE id = ?`,
	"selectAccountsAfter": `SELECT ` + columns.Account + ` FROM acquirer_accounts WHERE (?1 = 0 OR merchant_id = ?1)
			AND id < ?2 ORDER BY id DESC LIMIT ?3`,
	"selectAccountsBefore": `SELECT ` + columns.Account + ` FROM acquirer_accounts WHERE (?1 = 0 OR merchant_id = ?1)
			AND id > ?2 ORDER BY id LIMIT ?3`,
	"selectSealedAccounts": `SELECT id, merchant_id, 1, vault_key, credentials FROM acquirer_accounts
		WHERE vault_key <> ? AND id > ? ORDER BY id LIMIT ?`,
	"countAccountSteps": `SELECT s.account, COUNT(*) FROM (
		` + openSteps + `) s WHERE s.account <> 0 AND s.since <= ? GROUP BY s.account`,
	"resealAccount": `UPDATE acquirer_accounts SET vault_key = ?, credentials = ? WHERE id = ? AND vault_key = ?`,
}
