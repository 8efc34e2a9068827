package sqlite

import "github.com/causeway-pay/causeway/core/internal/store/columns"

// tokensAfter selects a page of the tokens that expire by ?1, in the order of expiry and id. It
// begins after the token with the expiry ?2 and the id ?3. tokensBetween selects the tokens from
// one expiry and id up to another.
const (
	//nolint:gosec // SQL
	tokensAfter = `expires_at <= ?1 AND expires_at >= ?2 AND (expires_at > ?2 OR id > ?3)
		ORDER BY expires_at, id LIMIT ?4`
	//nolint:gosec // SQL
	tokensBetween = `expires_at >= ?1 AND (expires_at > ?1 OR id >= ?2)
		AND expires_at <= ?3 AND (expires_at < ?3 OR id <= ?4)`
)

//nolint:gosec // SQL
var vaultSQL = map[string]string{
	"selectCodeKey":  `SELECT id, hour, vault_key, sealed FROM code_keys WHERE hour = ? ORDER BY id DESC LIMIT 1`,
	"selectCodeKeys": `SELECT id, hour, vault_key, sealed FROM code_keys ORDER BY id`,
	"insertCodeKey":  `INSERT INTO code_keys (id, hour, vault_key, sealed) VALUES (?, ?, ?, ?)`,
	"resealCodeKey":  `UPDATE code_keys SET vault_key = ?, sealed = ? WHERE id = ? AND vault_key = ?`,
	"insertCode": `INSERT INTO security_codes (token_id, key_id, sealed)
		SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM code_keys WHERE id = ?2)`,
	"deleteCode":         `DELETE FROM security_codes WHERE token_id = ?`,
	"otherCodeKeysExist": `SELECT EXISTS (SELECT 1 FROM code_keys WHERE hour < ? OR hour > ?)`,
	"deleteCodesWithoutKey": `DELETE FROM security_codes
		WHERE NOT EXISTS (SELECT 1 FROM code_keys WHERE code_keys.id = security_codes.key_id)`,
	"merchantsExist": `SELECT EXISTS (SELECT 1 FROM merchants)`,
	"sealedExist": `SELECT EXISTS (SELECT 1 FROM tokens WHERE number IS NOT NULL)
		OR EXISTS (SELECT 1 FROM payment_methods WHERE number IS NOT NULL)
		OR EXISTS (SELECT 1 FROM acquirer_accounts)`,
	// A file has no secrets that several processes share: they are files of the data folder.
	"selectSecret":        "",
	"selectSecretChanged": "",
	"insertSecret":        "",
	"replaceSecret":       "",
	"insertToken": `INSERT INTO tokens
		(id, merchant_id, live, kind, details, vault_key, number, secret_hash, cvc_given, created_at, expires_at,
			api_key_id, client_address)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	"useToken": `UPDATE tokens SET used_by = ?1, used_at = ?2
		WHERE id = ?3 AND merchant_id = ?4 AND live = ?5 AND used_by = 0 AND expires_at > ?2`,
	"returnToken": `UPDATE tokens SET used_by = 0, used_at = 0 WHERE id = ? AND used_by = ? AND cvc_given = 0`,
	"returnTokenWithCode": `UPDATE tokens SET used_by = 0, used_at = 0
		WHERE id = ? AND used_by = ? AND cvc_given = 1 AND expires_at > ?`,
	"selectOldTokens": `SELECT expires_at, id FROM tokens INDEXED BY tokens_by_expiry
		WHERE ` + tokensAfter,
	"deleteTokens": `DELETE FROM tokens WHERE ` + tokensBetween,
	// The token with its security code and the key that encrypts the code, if they still exist.
	"selectToken": `SELECT ` + columns.Token + `, c.sealed, COALESCE(k.id, 0), COALESCE(k.hour, 0),
		COALESCE(k.vault_key, 0), k.sealed
		FROM tokens t LEFT JOIN security_codes c ON c.token_id = t.id LEFT JOIN code_keys k ON k.id = c.key_id
		WHERE t.id = ? AND t.merchant_id = ? AND t.live = ?`,
	"retireKey":        `INSERT INTO vault_retired_keys (key, retired_at) VALUES (?, ?) ON CONFLICT DO NOTHING`,
	"selectRetiredKey": `SELECT 1 FROM vault_retired_keys WHERE key = ?`,
	"selectSealedTokens": `SELECT id, merchant_id, live, vault_key, number FROM tokens
		WHERE vault_key <> ? AND number IS NOT NULL AND id > ? ORDER BY id LIMIT ?`,
	"selectSealedMethods": `SELECT id, merchant_id, live, vault_key, number FROM payment_methods
		WHERE vault_key <> ? AND number IS NOT NULL AND id > ? ORDER BY id LIMIT ?`,
	"resealToken": `UPDATE tokens SET vault_key = ?, number = ?
		WHERE id = ? AND vault_key = ? AND number IS NOT NULL`,
	"resealMethod": `UPDATE payment_methods SET vault_key = ?, number = ?
		WHERE id = ? AND vault_key = ? AND number IS NOT NULL`,
	"countSealed": `SELECT (SELECT COUNT(*) FROM tokens WHERE vault_key <> ?1 AND number IS NOT NULL)
		+ (SELECT COUNT(*) FROM payment_methods WHERE vault_key <> ?1 AND number IS NOT NULL)
		+ (SELECT COUNT(*) FROM code_keys WHERE vault_key <> ?1)
		+ (SELECT COUNT(*) FROM acquirer_accounts WHERE vault_key <> ?1)`,
	"selectExpiredTokens": `SELECT expires_at, id FROM tokens INDEXED BY tokens_sealed
		WHERE number IS NOT NULL AND ` + tokensAfter,
	"deleteCodesOfExpiredTokens": `DELETE FROM security_codes
		WHERE token_id IN (SELECT id FROM tokens INDEXED BY tokens_sealed
			WHERE number IS NOT NULL AND ` + tokensBetween + `)`,
	"overwriteExpiredTokens": `UPDATE tokens SET number = zeroblob(length(number))
		WHERE number IS NOT NULL AND id IN (SELECT id FROM tokens INDEXED BY tokens_sealed
			WHERE number IS NOT NULL AND ` + tokensBetween + `)`,
	"wipeExpiredTokens": `UPDATE tokens SET number = NULL, expires_at = MIN(expires_at, ?5)
		WHERE id IN (SELECT id FROM tokens INDEXED BY tokens_sealed
			WHERE number IS NOT NULL AND ` + tokensBetween + `)`,
	"selectAheadTokens": `SELECT expires_at, id FROM tokens INDEXED BY tokens_by_expiry
		WHERE ` + tokensAfter,
	"deleteCodesOfAheadTokens": `DELETE FROM security_codes
		WHERE token_id IN (SELECT id FROM tokens INDEXED BY tokens_by_expiry
			WHERE ` + tokensBetween + `)`,
	"overwriteAheadTokens": `UPDATE tokens SET number = zeroblob(length(number))
		WHERE number IS NOT NULL AND id IN (SELECT id FROM tokens INDEXED BY tokens_by_expiry
			WHERE ` + tokensBetween + `)`,
	"wipeAheadTokens": `UPDATE tokens SET number = NULL, expires_at = MIN(expires_at, ?5)
		WHERE id IN (SELECT id FROM tokens INDEXED BY tokens_by_expiry
			WHERE ` + tokensBetween + `)`,
}
