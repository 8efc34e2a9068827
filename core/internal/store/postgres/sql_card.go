package postgres

var cardSQL = map[string]string{
	"selectCardAttempts": `SELECT at, never FROM card_attempts
		WHERE merchant_id = $1::bigint AND fingerprint = $2::text`,
	"correctCardAttempts": `UPDATE card_attempts SET at = $1::bigint
		WHERE merchant_id = $2::bigint AND fingerprint = $3::text AND at > $1::bigint`,
	"insertCardAttempt": `INSERT INTO card_attempts (merchant_id, fingerprint, transaction_id, attempt, account, at)
		VALUES ($1::bigint, $2::text, $3::bigint, $4::bigint, $5::bigint, $6::bigint) ON CONFLICT DO NOTHING`,
	"keepCardAttempt": `INSERT INTO card_attempts (merchant_id, fingerprint, transaction_id, attempt, account, at, never)
		VALUES ($1::bigint, $2::text, $3::bigint, $4::bigint, $5::bigint, $6::bigint, $7::smallint)
		ON CONFLICT (merchant_id, fingerprint, transaction_id, attempt, account) DO UPDATE SET never = excluded.never`,
	"deleteCardAttempt": `DELETE FROM card_attempts WHERE merchant_id = $1::bigint AND fingerprint = $2::text
		AND transaction_id = $3::bigint AND attempt = $4::bigint AND account = $5::bigint`,
	// Two approvals of one card lock its rows in one order.
	"deleteCardAttempts": `DELETE FROM card_attempts WHERE ctid = ANY (ARRAY(SELECT ctid FROM card_attempts
		WHERE merchant_id = $1::bigint AND fingerprint = $2::text ORDER BY transaction_id, attempt, account FOR UPDATE))`,
	"deleteOldCardAttempts": `DELETE FROM card_attempts WHERE ctid = ANY (ARRAY(SELECT ctid FROM card_attempts
		WHERE at <= $1::bigint ORDER BY at LIMIT $2::bigint FOR UPDATE SKIP LOCKED))`,
}
