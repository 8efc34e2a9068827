package sqlite

var idempotencySQL = map[string]string{
	"deleteExpiredKey":   `DELETE FROM idempotency_keys WHERE id = ? AND status <> 0`,
	"lockIdempotencyKey": "", // one command runs at a time: see LockRow
	"selectClaim": `SELECT id, fingerprint, status, body, expires_at FROM idempotency_keys
		WHERE merchant_id = ? AND live = ? AND key = ?`,
	"completeKey": `UPDATE idempotency_keys SET status = ?1, body = ?2, expires_at = CASE
		WHEN expires_at < ?3 THEN ?4 ELSE expires_at END
		WHERE id = ?5 AND status = 0`,
	"releaseKey": `DELETE FROM idempotency_keys WHERE id = ? AND status = 0 AND body IS NULL`,
	"contestKey": `UPDATE idempotency_keys SET body = ? WHERE id = ? AND status = 0 AND body IS NULL`,
	"keepContestedKey": `UPDATE idempotency_keys SET status = ?1, expires_at = CASE
		WHEN expires_at < ?2 THEN ?3 ELSE expires_at END
		WHERE id = ?4 AND status = 0`,
	"selectIdempotencyKey": `SELECT status, body, created_at, expires_at FROM idempotency_keys
		WHERE merchant_id = ? AND live = ? AND key = ?`,
	"selectIdempotencyKeys": `SELECT id, COALESCE(LENGTH(body), 0) FROM idempotency_keys
		WHERE id > ? AND id <= ? ORDER BY id`,
	"selectKeyWindow": `SELECT COUNT(*), COALESCE(SUM(CASE WHEN status <> 0 AND expires_at <= ?1 THEN 1
		ELSE 0 END), 0),
			COALESCE(SUM(CASE WHEN created_at > ?3 AND created_at <= ?4 THEN 1 ELSE 0 END), 0),
			COALESCE(SUM(CASE WHEN status <> 0 AND expires_at > ?2 THEN 1 ELSE 0 END), 0), COALESCE(MAX(id), 0)
		FROM (SELECT id, status, created_at, expires_at FROM idempotency_keys WHERE id > ?5 ORDER BY id
			LIMIT ?6) AS next`,
	"correctKeyExpiries": `UPDATE idempotency_keys SET expires_at = ?
		WHERE id >= ? AND id <= ? AND status <> 0 AND expires_at > ?`,
	"deleteExpiredKeys": `DELETE FROM idempotency_keys WHERE id >= ? AND id <= ? AND status <> 0 AND expires_at <= ?`,
	// It claims nothing unless the API key ?7, if any, can be used at the time ?5.
	"claimKey": `INSERT INTO idempotency_keys (merchant_id, live, key, fingerprint, created_at, expires_at)
		SELECT ?1, ?2, ?3, ?4, ?8, ?6 WHERE ?7 = 0 OR EXISTS (SELECT 1
			FROM api_keys JOIN merchants ON merchants.id = api_keys.merchant_id
			WHERE api_keys.id = ?7 AND revoked_at IS NULL AND (api_keys.expires_at IS NULL OR api_keys.expires_at > ?5)
				AND disabled_at = 0) ON CONFLICT (merchant_id, live, key) DO NOTHING`,
}
