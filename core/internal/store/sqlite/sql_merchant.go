package sqlite

import "github.com/causeway-pay/causeway/core/internal/store/columns"

var merchantSQL = map[string]string{
	"countActiveKeys": `SELECT COUNT(*) FROM api_keys WHERE merchant_id = ?1 AND live = ?2 AND replaced_by IS NULL
		AND revoked_at IS NULL
		AND (expires_at IS NULL OR expires_at > ?3)`,
	"countStoredKeys": `SELECT COUNT(*) FROM (SELECT 1 FROM api_keys
		WHERE merchant_id = ? AND live = ? LIMIT ?) AS stored`,
	"deleteEndedKey": `DELETE FROM api_keys WHERE id = (SELECT id FROM api_keys
		WHERE merchant_id = ?1 AND live = ?2 AND (revoked_at IS NOT NULL OR expires_at <= ?3) AND id <> ?4
		ORDER BY id LIMIT 1)`,
	"selectMerchantID": `SELECT id FROM merchants WHERE id = ?`,
	"insertKey": `INSERT INTO api_keys (id, merchant_id, live, kind, name, hash, root_version, hint, scopes,
		addresses, origins, created_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULLIF(?, 0))`,
	"replaceKey": `UPDATE api_keys SET replaced_by = ?1, expires_at = MIN(COALESCE(expires_at, ?2), ?2)
		WHERE id = ?3 AND merchant_id = ?4 AND live = ?5 AND replaced_by IS NULL AND revoked_at IS NULL
			AND (expires_at IS NULL OR expires_at > ?6)`,
	"revokeKey": `UPDATE api_keys SET revoked_at = COALESCE(revoked_at, ?1)
		WHERE id = ?2 AND merchant_id = ?3 AND live = ?4 AND (?5 <> 0 OR revoked_at IS NOT NULL
			OR replaced_by IS NOT NULL OR expires_at <= ?1
			OR kind <> 'secret' OR instr(' ' || scopes || ' ', ' keys:write ') = 0
			OR EXISTS (SELECT 1 FROM api_keys other
				WHERE other.merchant_id = ?3 AND other.live = ?4 AND other.id <> ?2 AND other.kind = 'secret'
					AND instr(' ' || other.scopes || ' ', ' keys:write ') > 0 AND other.revoked_at IS NULL
					AND other.replaced_by IS NULL AND (other.expires_at IS NULL OR other.expires_at > ?1)))`,
	"touchKey":        `UPDATE api_keys SET last_used_at = ?1 WHERE id = ?2 AND COALESCE(last_used_at, 0) < ?1`,
	"lockKey":         `SELECT ` + columns.Key + ` FROM api_keys WHERE id = ? AND merchant_id = ? AND live = ?`,
	"selectKey":       `SELECT ` + columns.Key + ` FROM api_keys WHERE id = ? AND merchant_id = ? AND live = ?`,
	"selectKeyByHash": `SELECT ` + columns.Key + ` FROM api_keys WHERE hash = ?`,
	"selectKeyByID":   `SELECT ` + columns.Key + ` FROM api_keys WHERE id = ?`,
	"listKeys": `SELECT ` + columns.Key + ` FROM api_keys WHERE merchant_id = ? AND live = ?
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listKeysBefore": `SELECT ` + columns.Key + ` FROM api_keys WHERE merchant_id = ? AND live = ?
			AND id > ? ORDER BY id LIMIT ?`,
	"selectKeyUse": `SELECT revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2), disabled_at > 0
		FROM api_keys JOIN merchants ON merchants.id = api_keys.merchant_id WHERE api_keys.id = ?1`,
	"insertOperator":  `INSERT INTO operators (` + columns.Operator + `) VALUES (?, ?, ?, ?, ?, 0, ?)`,
	"lockOperator":    `SELECT ` + columns.Operator + ` FROM operators WHERE id = ?`,
	"revokeOperator":  `UPDATE operators SET revoked_at = ?, hash = x'' WHERE id = ?`,
	"selectOperator":  `SELECT ` + columns.Operator + ` FROM operators WHERE id = ?`,
	"selectOperators": `SELECT ` + columns.Operator + ` FROM operators ORDER BY id`,
	"shareOperator":   `SELECT ` + columns.Operator + ` FROM operators WHERE id = ?`,
	"rehashKey":       `UPDATE api_keys SET hash = ?1, root_version = ?2 WHERE id = ?3 AND root_version < ?2`,
	"countRootUses": `SELECT root_version, COUNT(*) FROM api_keys
		WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) GROUP BY root_version
			ORDER BY root_version`,
	"countUnconfirmedBefore": `SELECT COUNT(*) FROM transactions WHERE status = 'requires_confirmation' AND id < ?`,
	"countStoredBetween": `SELECT COUNT(*), COALESCE(MAX(id), 0),
			COUNT(CASE WHEN status <> 0 AND expires_at > ?1 AND body >= ?2 AND body < ?3 THEN 1 END)
		FROM (SELECT id, status, expires_at, body FROM idempotency_keys WHERE id > ?4 ORDER BY id LIMIT ?5) AS next`,
	"countValidKeys": `SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM api_keys
		WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
	"countAllEndpoints": `SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM webhook_endpoints`,
	"insertMerchant":    `INSERT INTO merchants (id, name, created_at) VALUES (?, ?, ?)`,
	"updateMerchant": `UPDATE merchants SET name = COALESCE(NULLIF(?1, ''), name),
		time_zone = COALESCE(NULLIF(?2, ''), time_zone),
			cutoff = CASE WHEN ?3 < 0 THEN cutoff ELSE ?3 END, unlinked_refunds = COALESCE(?4, unlinked_refunds)
		WHERE id = ?5`,
	"setKeepCustomers": `UPDATE merchants SET keep_customers = NULLIF(?, 0) WHERE id = ?`,
	"setKeepPersonal":  `UPDATE merchants SET keep_personal = NULLIF(?, 0) WHERE id = ?`,
	"deleteErasures":   `DELETE FROM erasures`,
	"disableMerchant": `UPDATE merchants SET disabled_at = CASE WHEN ?1 = 0 THEN 0 WHEN disabled_at > 0
		THEN disabled_at ELSE ?2 END WHERE id = ?3`,
	"selectMerchant":  `SELECT ` + columns.Merchant + ` FROM merchants WHERE id = ?`,
	"lockMerchant":    `SELECT ` + columns.Merchant + ` FROM merchants WHERE id = ?`,
	"selectMerchants": `SELECT ` + columns.Merchant + ` FROM merchants ORDER BY id`,
	"listMerchants": `SELECT ` + columns.Merchant + ` FROM merchants WHERE id > 0
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listMerchantsBefore": `SELECT ` + columns.Merchant + ` FROM merchants WHERE id > 0
			AND id > ? ORDER BY id LIMIT ?`,
	"listMerchantKeys": `SELECT ` + columns.Key + ` FROM api_keys WHERE merchant_id = ? AND live IN (0, 1)
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listMerchantKeysBefore": `SELECT ` + columns.Key + ` FROM api_keys WHERE merchant_id = ? AND live IN (0, 1)
			AND id > ? ORDER BY id LIMIT ?`,
	"selectUnlinkedRefunds": `SELECT COALESCE(MAX(unlinked_refunds), 0) FROM merchants WHERE id = ?`,
}
