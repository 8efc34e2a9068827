package postgres

import "github.com/causeway-pay/causeway/core/internal/store/columns"

// tokensAfter selects a page of the tokens that expire by $1, in the order of expiry and id. It
// begins after the token with the expiry $2 and the id $3. tokensBetween selects the tokens from
// one expiry and id up to another.
const (
	//nolint:gosec // SQL
	tokensAfter = `expires_at <= $1::bigint AND expires_at >= $2::bigint AND (expires_at > $2::bigint OR id > $3::bigint)
		ORDER BY expires_at, id LIMIT $4::bigint`
	//nolint:gosec // SQL
	tokensBetween = `expires_at >= $1::bigint AND (expires_at > $1::bigint OR id >= $2::bigint)
		AND expires_at <= $3::bigint AND (expires_at < $3::bigint OR id <= $4::bigint)`
)

//nolint:gosec // SQL
var vaultSQL = map[string]string{
	"selectCodeKey": `SELECT id, hour, vault_key, sealed FROM code_keys WHERE hour = $1::bigint
		ORDER BY id DESC LIMIT 1`,
	"selectCodeKeys": `SELECT id, hour, vault_key, sealed FROM code_keys ORDER BY id`,
	"insertCodeKey": `INSERT INTO code_keys (id, hour, vault_key, sealed)
		VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bytea) ON CONFLICT DO NOTHING`,
	"resealCodeKey": `UPDATE code_keys SET vault_key = $1::bigint, sealed = $2::bytea
		WHERE id = $3::bigint AND vault_key = $4::bigint`,
	"insertCode": `INSERT INTO security_codes (token_id, key_id, sealed)
		SELECT $1::bigint, $2::bigint, $3::bytea WHERE EXISTS (SELECT 1 FROM code_keys WHERE id = $2::bigint)`,
	"deleteCode":         `DELETE FROM security_codes WHERE token_id = $1::bigint`,
	"otherCodeKeysExist": `SELECT EXISTS (SELECT 1 FROM code_keys WHERE hour < $1::bigint OR hour > $2::bigint)`,
	"deleteCodesWithoutKey": `DELETE FROM security_codes
		WHERE NOT EXISTS (SELECT 1 FROM code_keys WHERE code_keys.id = security_codes.key_id)`,
	"merchantsExist": `SELECT EXISTS (SELECT 1 FROM merchants)`,
	"sealedExist": `SELECT EXISTS (SELECT 1 FROM tokens WHERE number IS NOT NULL)
		OR EXISTS (SELECT 1 FROM payment_methods WHERE number IS NOT NULL)
		OR EXISTS (SELECT 1 FROM acquirer_accounts)`,
	"selectSecret":        `SELECT sealed FROM secrets WHERE name = $1::text`,
	"selectSecretChanged": `SELECT changed_at FROM secrets WHERE name = $1::text`,
	"insertSecret": `INSERT INTO secrets (name, sealed, changed_at)
		VALUES ($1::text, $2::bytea, $3::bigint) ON CONFLICT DO NOTHING`,
	"replaceSecret": `UPDATE secrets SET sealed = $1::bytea, changed_at = $2::bigint
		WHERE name = $3::text AND sealed = $4::bytea`,
	"insertToken": `INSERT INTO tokens
		(id, merchant_id, live, kind, details, vault_key, number, secret_hash, cvc_given, created_at, expires_at,
			api_key_id, client_address)
		VALUES ($1::bigint, $2::bigint, $3::bigint, $4::text, $5::text, $6::bigint, $7::bytea, $8::bytea, $9::bigint,
			$10::bigint, $11::bigint, $12::bigint, $13::text) ON CONFLICT DO NOTHING`,
	"useToken": `UPDATE tokens SET used_by = $1::bigint, used_at = $2::bigint
		WHERE id = $3::bigint AND merchant_id = $4::bigint AND live = $5::bigint AND used_by = 0
			AND expires_at > $2::bigint`,
	"returnToken": `UPDATE tokens SET used_by = 0, used_at = 0
		WHERE id = $1::bigint AND used_by = $2::bigint AND cvc_given = 0`,
	"returnTokenWithCode": `UPDATE tokens SET used_by = 0, used_at = 0
		WHERE id = $1::bigint AND used_by = $2::bigint AND cvc_given = 1 AND expires_at > $3::bigint`,
	"selectOldTokens": `SELECT expires_at, id FROM tokens
		WHERE ` + tokensAfter,
	"deleteTokens": `DELETE FROM tokens WHERE ` + tokensBetween,
	// The token with its security code and the key that encrypts the code, if they still exist.
	"selectToken": `SELECT ` + columns.Token + `, c.sealed, COALESCE(k.id, 0), COALESCE(k.hour, 0),
		COALESCE(k.vault_key, 0), k.sealed
		FROM tokens t LEFT JOIN security_codes c ON c.token_id = t.id LEFT JOIN code_keys k ON k.id = c.key_id
		WHERE t.id = $1::bigint AND t.merchant_id = $2::bigint AND t.live = $3::bigint`,
	"retireKey": `INSERT INTO vault_retired_keys (key, retired_at)
		VALUES ($1::bigint, $2::bigint) ON CONFLICT DO NOTHING`,
	"selectRetiredKey": `SELECT 1 FROM vault_retired_keys WHERE key = $1::bigint`,
	"selectSealedTokens": `SELECT id, merchant_id, live, vault_key, number FROM tokens
		WHERE vault_key <> $1::bigint AND number IS NOT NULL AND id > $2::bigint ORDER BY id LIMIT $3::bigint`,
	"selectSealedMethods": `SELECT id, merchant_id, live, vault_key, number FROM payment_methods
		WHERE vault_key <> $1::bigint AND number IS NOT NULL AND id > $2::bigint ORDER BY id LIMIT $3::bigint`,
	"resealToken": `UPDATE tokens SET vault_key = $1::bigint, number = $2::bytea
		WHERE id = $3::bigint AND vault_key = $4::bigint AND number IS NOT NULL`,
	"resealMethod": `UPDATE payment_methods SET vault_key = $1::bigint, number = $2::bytea
		WHERE id = $3::bigint AND vault_key = $4::bigint AND number IS NOT NULL`,
	"countSealed": `SELECT (SELECT COUNT(*) FROM tokens WHERE vault_key <> $1::bigint AND number IS NOT NULL)
		+ (SELECT COUNT(*) FROM payment_methods WHERE vault_key <> $1::bigint AND number IS NOT NULL)
		+ (SELECT COUNT(*) FROM code_keys WHERE vault_key <> $1::bigint)
		+ (SELECT COUNT(*) FROM acquirer_accounts WHERE vault_key <> $1::bigint)`,
	"selectExpiredTokens": `SELECT expires_at, id FROM tokens
		WHERE number IS NOT NULL AND ` + tokensAfter,
	"deleteCodesOfExpiredTokens": `DELETE FROM security_codes
		WHERE token_id IN (SELECT id FROM tokens
			WHERE number IS NOT NULL AND ` + tokensBetween + `)`,
	// Empty, like overwriteMethod.
	"overwriteExpiredTokens": "",
	"wipeExpiredTokens": `UPDATE tokens SET number = NULL, expires_at = LEAST(expires_at, $5::bigint)
		WHERE id IN (SELECT id FROM tokens
			WHERE number IS NOT NULL AND ` + tokensBetween + `)`,
	"selectAheadTokens": `SELECT expires_at, id FROM tokens
		WHERE ` + tokensAfter,
	"deleteCodesOfAheadTokens": `DELETE FROM security_codes
		WHERE token_id IN (SELECT id FROM tokens
			WHERE ` + tokensBetween + `)`,
	"overwriteAheadTokens": "",
	"wipeAheadTokens": `UPDATE tokens SET number = NULL, expires_at = LEAST(expires_at, $5::bigint)
		WHERE id IN (SELECT id FROM tokens
			WHERE ` + tokensBetween + `)`,
}
