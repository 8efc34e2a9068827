package sqlite

var cardSQL = map[string]string{
	"selectCardAttempts":  `SELECT at, never FROM card_attempts WHERE merchant_id = ? AND fingerprint = ?`,
	"correctCardAttempts": `UPDATE card_attempts SET at = ?1 WHERE merchant_id = ?2 AND fingerprint = ?3 AND at > ?1`,
	"insertCardAttempt": `INSERT INTO card_attempts (merchant_id, fingerprint, transaction_id, attempt, account, at)
		VALUES (?, ?, ?, ?, ?, ?)`,
	"keepCardAttempt": `INSERT INTO card_attempts (merchant_id, fingerprint, transaction_id, attempt, account, at, never)
		VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (merchant_id, fingerprint, transaction_id, attempt, account) DO UPDATE SET never = excluded.never`,
	"deleteCardAttempt": `DELETE FROM card_attempts
		WHERE merchant_id = ? AND fingerprint = ? AND transaction_id = ? AND attempt = ? AND account = ?`,
	"deleteCardAttempts": `DELETE FROM card_attempts WHERE merchant_id = ? AND fingerprint = ?`,
	"deleteOldCardAttempts": `DELETE FROM card_attempts
		WHERE (merchant_id, fingerprint, transaction_id, attempt, account) IN (
			SELECT merchant_id, fingerprint, transaction_id, attempt, account
			FROM card_attempts WHERE at <= ? ORDER BY at LIMIT ?)`,
}
