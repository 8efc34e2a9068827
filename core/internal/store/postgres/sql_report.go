package postgres

// Conditions word for word as in the indexes captures_unreported and captures_excepted.
const (
	unreported = `live = 1 AND settled = 0 AND state = 'succeeded' AND exception <> 'not_settled'`
	excepted   = `settled = 0 AND state = 'succeeded' AND exception <> '' AND exception <> 'not_settled'`
)

var reportSQL = map[string]string{
	// One seek in the index for each account.
	"selectReportingAccounts": `WITH RECURSIVE found (account) AS (
			SELECT 0::bigint UNION ALL SELECT (SELECT c.account FROM captures c
				WHERE c.merchant_id = $1::bigint AND c.account > found.account AND ` + unreported + `
				ORDER BY c.account LIMIT 1) FROM found WHERE found.account IS NOT NULL)
		SELECT account FROM found WHERE account > 0`,
	"selectUnreported": `SELECT c.id, c.transaction_id, c.taken_at, c.amount, c.currency, c.tag, c.acquirer_id,
			c.exception, c.exception_reason, t.auto_capture, t.attempt, t.tag, t.result
		FROM (SELECT *, ` + takenAt + ` AS taken_at FROM captures
			WHERE merchant_id = $1::bigint AND account = $2::bigint AND ` + unreported + `
				AND ` + takenAt + ` <= $3::bigint AND ` + takenAt + ` >= $4::bigint
				AND (` + takenAt + ` > $4::bigint OR id > $5::bigint)) c
		JOIN transactions t ON t.id = c.transaction_id AND t.operation <> 'void'
		ORDER BY c.taken_at, c.id LIMIT $6::bigint`,
	"selectUnsettledAmount": `SELECT amount FROM captures
		WHERE id = $1::bigint AND transaction_id = $2::bigint AND state = 'succeeded' AND settled = 0`,
	"settleCapture": `UPDATE captures SET settled = 1, settlement_day = $1::bigint, exception = '', exception_reason = '',
		exception_at = 0, updated_at = $2::bigint WHERE id = $3::bigint`,
	"exceptCapture": `UPDATE captures SET exception = $1::text, exception_reason = $2::text,
			exception_at = CASE exception WHEN '' THEN $3::bigint ELSE exception_at END
		WHERE id = $4::bigint AND ` + unreported + ` AND (exception <> $1::text OR exception_reason <> $2::text)`,
	"endException": `UPDATE captures SET exception = 'not_settled', exception_at = $1::bigint
		WHERE id = $2::bigint AND ` + excepted,
	"selectExceptions": `SELECT c.id, c.transaction_id, c.merchant_id, c.live, c.account, c.acquirer_id, c.amount,
			c.currency, c.taken_at, c.exception, c.exception_reason, c.exception_at, t.result
		FROM (SELECT *, ` + takenAt + ` AS taken_at FROM captures
			WHERE ` + excepted + ` AND ($1::bigint = 0 OR merchant_id = $1::bigint)
				AND ($2::bigint = 0 OR id = $2::bigint) AND id > $3::bigint) c
		JOIN transactions t ON t.id = c.transaction_id ORDER BY c.id LIMIT $4::bigint`,
	"countExceptions": `SELECT exception, COUNT(*) FROM captures WHERE ` + excepted + `
		GROUP BY exception`,
}
