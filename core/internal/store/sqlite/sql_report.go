package sqlite

// Conditions word for word as in the indexes captures_unreported and captures_excepted.
const (
	unreported = `live = 1 AND settled = 0 AND state = 'succeeded' AND exception <> 'not_settled'`
	excepted   = `settled = 0 AND state = 'succeeded' AND exception <> '' AND exception <> 'not_settled'`
)

var reportSQL = map[string]string{
	// One seek in the index for each account.
	"selectReportingAccounts": `WITH RECURSIVE found (account) AS (
			SELECT 0 UNION ALL SELECT (SELECT c.account FROM captures c INDEXED BY captures_unreported
				WHERE c.merchant_id = ?1 AND c.account > found.account AND ` + unreported + `
				ORDER BY c.account LIMIT 1) FROM found WHERE found.account IS NOT NULL)
		SELECT account FROM found WHERE account > 0`,
	"selectUnreported": `SELECT c.id, c.transaction_id, c.taken_at, c.amount, c.currency, c.tag, c.acquirer_id,
			c.exception, c.exception_reason, t.auto_capture, t.attempt, t.tag, t.result
		FROM (SELECT *, ` + takenAt + ` AS taken_at FROM captures INDEXED BY captures_unreported
			WHERE merchant_id = ?1 AND account = ?2 AND ` + unreported + ` AND ` + takenAt + ` <= ?3
				AND ` + takenAt + ` >= ?4 AND (` + takenAt + ` > ?4 OR id > ?5)) c
		CROSS JOIN transactions t ON t.id = c.transaction_id AND t.operation <> 'void'
		ORDER BY c.taken_at, c.id LIMIT ?6`,
	"selectUnsettledAmount": `SELECT amount FROM captures
		WHERE id = ? AND transaction_id = ? AND state = 'succeeded' AND settled = 0`,
	"settleCapture": `UPDATE captures SET settled = 1, settlement_day = ?, exception = '', exception_reason = '',
		exception_at = 0, updated_at = ? WHERE id = ?`,
	"exceptCapture": `UPDATE captures SET exception = ?1, exception_reason = ?2,
			exception_at = CASE exception WHEN '' THEN ?3 ELSE exception_at END
		WHERE id = ?4 AND ` + unreported + ` AND (exception <> ?1 OR exception_reason <> ?2)`,
	"endException": `UPDATE captures SET exception = 'not_settled', exception_at = ? WHERE id = ? AND ` + excepted,
	"selectExceptions": `SELECT c.id, c.transaction_id, c.merchant_id, c.live, c.account, c.acquirer_id, c.amount,
			c.currency, c.taken_at, c.exception, c.exception_reason, c.exception_at, t.result
		FROM (SELECT *, ` + takenAt + ` AS taken_at FROM captures INDEXED BY captures_excepted
			WHERE ` + excepted + ` AND (?1 = 0 OR merchant_id = ?1) AND (?2 = 0 OR id = ?2) AND id > ?3) c
		CROSS JOIN transactions t ON t.id = c.transaction_id ORDER BY c.id LIMIT ?4`,
	"countExceptions": `SELECT exception, COUNT(*) FROM captures INDEXED BY captures_excepted WHERE ` + excepted + `
		GROUP BY exception`,
}
