package postgres

var idempotencySQL = map[string]string{
	"deleteExpiredKey":   `DELETE FROM idempotency_keys WHERE id = $1::bigint AND status <> 0`,
	"lockIdempotencyKey": `SELECT id FROM idempotency_keys WHERE id = $1::bigint FOR UPDATE`,
	"selectClaim": `SELECT id, fingerprint, status, body, expires_at FROM idempotency_keys
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND key = $3::text`,
	"completeKey": `UPDATE idempotency_keys SET status = $1::bigint, body = $2::bytea, expires_at = CASE
		WHEN expires_at < $3::bigint THEN $4::bigint ELSE expires_at END
		WHERE id = $5::bigint AND status = 0`,
	"releaseKey": `DELETE FROM idempotency_keys WHERE id = $1::bigint AND status = 0 AND body IS NULL`,
	"contestKey": `UPDATE idempotency_keys SET body = $1::bytea WHERE id = $2::bigint AND status = 0 AND body IS NULL`,
	"keepContestedKey": `UPDATE idempotency_keys SET status = $1::bigint, expires_at = CASE
		WHEN expires_at < $2::bigint THEN $3::bigint ELSE expires_at END
		WHERE id = $4::bigint AND status = 0`,
	"selectIdempotencyKey": `SELECT status, body, created_at, expires_at FROM idempotency_keys
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND key = $3::text`,
	"selectIdempotencyKeys": `SELECT id, COALESCE(OCTET_LENGTH(body), 0) FROM idempotency_keys
		WHERE id > $1::bigint AND id <= $2::bigint ORDER BY id`,
	"selectKeyWindow": `SELECT COUNT(*), COALESCE(SUM(CASE WHEN status <> 0 AND expires_at <= $1::bigint THEN 1
		ELSE 0 END), 0),
			COALESCE(SUM(CASE WHEN created_at > $3::bigint AND created_at <= $4::bigint THEN 1 ELSE 0 END), 0),
			COALESCE(SUM(CASE WHEN status <> 0 AND expires_at > $2::bigint THEN 1 ELSE 0 END), 0), COALESCE(MAX(id), 0)
		FROM (SELECT id, status, created_at, expires_at FROM idempotency_keys WHERE id > $5::bigint ORDER BY id
			LIMIT $6::bigint) AS next`,
	"correctKeyExpiries": `UPDATE idempotency_keys SET expires_at = $1::bigint
		WHERE id >= $2::bigint AND id <= $3::bigint AND status <> 0 AND expires_at > $4::bigint`,
	"deleteExpiredKeys": `DELETE FROM idempotency_keys WHERE id >= $1::bigint AND id <= $2::bigint AND status <> 0
		AND expires_at <= $3::bigint`,
	// It claims nothing unless the API key $7, if any, can be used at the time $5.
	"claimKey": `INSERT INTO idempotency_keys (merchant_id, live, key, fingerprint, created_at, expires_at)
		SELECT $1::bigint, $2::bigint, $3::text, $4::bytea, $8::bigint, $6::bigint WHERE $7::bigint = 0 OR EXISTS (SELECT 1
			FROM api_keys JOIN merchants ON merchants.id = api_keys.merchant_id
		WHERE api_keys.id = $7::bigint AND revoked_at IS NULL AND (api_keys.expires_at IS NULL
			OR api_keys.expires_at > $5::bigint) AND disabled_at = 0) ON CONFLICT (merchant_id, live, key) DO NOTHING
				RETURNING id`,
}
