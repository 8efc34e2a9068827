package postgres

import "github.com/causeway-pay/causeway/core/internal/store/columns"

var merchantSQL = map[string]string{
	"countActiveKeys": `SELECT COUNT(*) FROM api_keys WHERE merchant_id = $1::bigint AND live = $2::bigint
		AND replaced_by IS NULL AND revoked_at IS NULL
		AND (expires_at IS NULL OR expires_at > $3::bigint)`,
	"countStoredKeys": `SELECT COUNT(*) FROM (SELECT 1 FROM api_keys WHERE merchant_id = $1::bigint
		AND live = $2::bigint LIMIT $3::bigint) AS stored`,
	// It skips a key that a revocation has locked: that command locks the merchant's keys next, so
	// waiting would be a deadlock.
	"deleteEndedKey": `DELETE FROM api_keys WHERE id = (SELECT id FROM api_keys
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND (revoked_at IS NOT NULL OR expires_at <= $3::bigint)
			AND id <> $4::bigint
		ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)`,
	"selectMerchantID": `SELECT id FROM merchants WHERE id = $1::bigint`,
	"insertKey": `INSERT INTO api_keys (id, merchant_id, live, kind, name, hash, root_version, hint, scopes,
		addresses, origins, created_at, expires_at)
		VALUES ($1::bigint, $2::bigint, $3::bigint, $4::text, $5::text, $6::bytea, $7::bigint, $8::text, $9::text,
			$10::text, $11::text, $12::bigint, NULLIF($13::bigint, 0)) ON CONFLICT DO NOTHING`,
	"replaceKey": `UPDATE api_keys SET replaced_by = $1::bigint, expires_at = LEAST(COALESCE(expires_at,
		$2::bigint), $2::bigint)
		WHERE id = $3::bigint AND merchant_id = $4::bigint AND live = $5::bigint AND replaced_by IS NULL
			AND revoked_at IS NULL
			AND (expires_at IS NULL OR expires_at > $6::bigint)`,
	"revokeKey": `UPDATE api_keys SET revoked_at = COALESCE(revoked_at, $1::bigint)
		WHERE id = $2::bigint AND merchant_id = $3::bigint AND live = $4::bigint AND ($5::bigint <> 0
			OR revoked_at IS NOT NULL OR replaced_by IS NOT NULL OR expires_at <= $1::bigint
			OR kind <> 'secret' OR strpos(' ' || scopes || ' ', ' keys:write ') = 0
			OR EXISTS (SELECT 1 FROM api_keys other
				WHERE other.merchant_id = $3::bigint AND other.live = $4::bigint AND other.id <> $2::bigint
					AND other.kind = 'secret'
					AND strpos(' ' || other.scopes || ' ', ' keys:write ') > 0 AND other.revoked_at IS NULL
					AND other.replaced_by IS NULL AND (other.expires_at IS NULL OR other.expires_at > $1::bigint)))`,
	"touchKey": `UPDATE api_keys SET last_used_at = $1::bigint
		WHERE id = $2::bigint AND COALESCE(last_used_at, 0) < $1::bigint`,
	"lockKey": `SELECT ` + columns.Key + ` FROM api_keys
		WHERE id = $1::bigint AND merchant_id = $2::bigint AND live = $3::bigint FOR UPDATE`,
	"selectKey": `SELECT ` + columns.Key + ` FROM api_keys
		WHERE id = $1::bigint AND merchant_id = $2::bigint AND live = $3::bigint`,
	"selectKeyByHash": `SELECT ` + columns.Key + ` FROM api_keys WHERE hash = $1::bytea`,
	"selectKeyByID":   `SELECT ` + columns.Key + ` FROM api_keys WHERE id = $1::bigint`,
	"selectKeyUse": `SELECT revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2::bigint),
		disabled_at > 0
		FROM api_keys JOIN merchants ON merchants.id = api_keys.merchant_id WHERE api_keys.id = $1::bigint`,
	"insertOperator": `INSERT INTO operators (` + columns.Operator + `)
		VALUES ($1::bigint, $2::text, $3::text, $4::bigint, $5::bigint, 0, $6::bytea) ON CONFLICT DO NOTHING`,
	"lockOperator":    `SELECT ` + columns.Operator + ` FROM operators WHERE id = $1::bigint FOR UPDATE`,
	"revokeOperator":  `UPDATE operators SET revoked_at = $1::bigint, hash = '' WHERE id = $2::bigint`,
	"selectOperator":  `SELECT ` + columns.Operator + ` FROM operators WHERE id = $1::bigint`,
	"selectOperators": `SELECT ` + columns.Operator + ` FROM operators ORDER BY id`,
	"shareOperator":   `SELECT ` + columns.Operator + ` FROM operators WHERE id = $1::bigint FOR SHARE`,
	"rehashKey": `UPDATE api_keys SET hash = $1::bytea, root_version = $2::bigint
		WHERE id = $3::bigint AND root_version < $2::bigint`,
	"countRootUses": `SELECT root_version, COUNT(*) FROM api_keys
		WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1::bigint) GROUP BY root_version
			ORDER BY root_version`,
	"countUnconfirmedBefore": `SELECT COUNT(*) FROM transactions
		WHERE status = 'requires_confirmation' AND id < $1::bigint`,
	"countStoredBetween": `SELECT COUNT(*), COALESCE(MAX(id), 0),
			COUNT(CASE WHEN status <> 0 AND expires_at > $1::bigint AND body >= $2::bytea AND body < $3::bytea THEN 1 END)
		FROM (SELECT id, status, expires_at, body FROM idempotency_keys WHERE id > $4::bigint ORDER BY id
			LIMIT $5::bigint) AS next`,
	"countValidKeys": `SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM api_keys
		WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1::bigint)`,
	"countAllEndpoints": `SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM webhook_endpoints`,
	"insertMerchant": `INSERT INTO merchants (id, name, created_at)
		VALUES ($1::bigint, $2::text, $3::bigint) ON CONFLICT DO NOTHING`,
	"updateMerchant": `UPDATE merchants SET name = COALESCE(NULLIF($1::text, ''), name),
		time_zone = COALESCE(NULLIF($2::text, ''), time_zone),
			cutoff = CASE WHEN $3::bigint < 0 THEN cutoff ELSE $3::bigint END, unlinked_refunds = COALESCE($4::bigint,
				unlinked_refunds)
		WHERE id = $5::bigint`,
	"setKeepCustomers": `UPDATE merchants SET keep_customers = NULLIF($1::bigint, 0) WHERE id = $2::bigint`,
	"setKeepPersonal":  `UPDATE merchants SET keep_personal = NULLIF($1::bigint, 0) WHERE id = $2::bigint`,
	"deleteErasures":   `DELETE FROM erasures`,
	"disableMerchant": `UPDATE merchants SET disabled_at = CASE WHEN $1::bigint = 0 THEN 0 WHEN disabled_at > 0
		THEN disabled_at ELSE $2::bigint END WHERE id = $3::bigint`,
	"selectMerchant":        `SELECT ` + columns.Merchant + ` FROM merchants WHERE id = $1::bigint`,
	"lockMerchant":          `SELECT ` + columns.Merchant + ` FROM merchants WHERE id = $1::bigint FOR UPDATE`,
	"selectMerchants":       `SELECT ` + columns.Merchant + ` FROM merchants ORDER BY id`,
	"selectUnlinkedRefunds": `SELECT COALESCE(MAX(unlinked_refunds), 0) FROM merchants WHERE id = $1::bigint`,
}
