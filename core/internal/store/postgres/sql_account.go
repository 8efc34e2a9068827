package postgres

import "github.com/causeway-pay/causeway/core/internal/store/columns"

var accountSQL = map[string]string{
	"insertAccount": `INSERT INTO acquirer_accounts (` + columns.Account + `)
		VALUES ($1::bigint, $2::bigint, $3::text, $4::text, $5::smallint, $6::text, $7::text, $8::bigint, $9::bytea,
			'enabled', 1, $10::bigint, $10::bigint, $10::bigint) ON CONFLICT DO NOTHING`,
	"selectAccount": `SELECT ` + columns.Account + ` FROM acquirer_accounts WHERE id = $1::bigint`,
	"lockAccount":   `SELECT ` + columns.Account + ` FROM acquirer_accounts WHERE id = $1::bigint FOR UPDATE`,
	"selectEnabledAccounts": `SELECT ` + columns.Account + ` FROM acquirer_accounts
		WHERE merchant_id = $1::bigint AND state = 'enabled' ORDER BY rank`,
	"selectAllAccounts": `SELECT ` + columns.Account + ` FROM acquirer_accounts ORDER BY id`,
	"countEnabledAccounts": `SELECT COUNT(*) FROM acquirer_accounts
		WHERE merchant_id = $1::bigint AND currency = $2::text AND method = $3::text AND rank = $4::smallint
			AND state = 'enabled'`,
	"rotateAccount": `UPDATE acquirer_accounts SET vault_key = $1::bigint, credentials = $2::bytea,
		version = version + 1, updated_at = $3::bigint, rotated_at = $3::bigint WHERE id = $4::bigint`,
	"setAccountState": `UPDATE acquirer_accounts SET state = $1::text, version = version + 1,
		updated_at = $2::bigint WHERE id = $3::bigint`,
	"selectAccountsAfter": `SELECT ` + columns.Account + ` FROM acquirer_accounts
		WHERE ($1::bigint = 0 OR merchant_id = $1::bigint) AND id < $2::bigint ORDER BY id DESC LIMIT $3::bigint`,
	"selectAccountsBefore": `SELECT ` + columns.Account + ` FROM acquirer_accounts
		WHERE ($1::bigint = 0 OR merchant_id = $1::bigint) AND id > $2::bigint ORDER BY id LIMIT $3::bigint`,
	"selectSealedAccounts": `SELECT id, merchant_id, 1, vault_key, credentials FROM acquirer_accounts
		WHERE vault_key <> $1::bigint AND id > $2::bigint ORDER BY id LIMIT $3::bigint`,
	"countAccountSteps": `SELECT s.account, COUNT(*) FROM (
		` + openSteps + `) s WHERE s.account <> 0 AND s.since <= $1::bigint GROUP BY s.account`,
	"resealAccount": `UPDATE acquirer_accounts SET vault_key = $1::bigint, credentials = $2::bytea
		WHERE id = $3::bigint AND vault_key = $4::bigint`,
}
