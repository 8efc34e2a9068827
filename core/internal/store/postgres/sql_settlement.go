package postgres

// takenAt is the time of a capture, word for word as in the index captures_unsettled.
const takenAt = `CASE WHEN captured_at > 0 THEN captured_at ELSE created_at END`

// settlementDays selects each merchant in each mode, with the settings of its settlement day and
// the times of its oldest and its newest unsettled capture.
const settlementDays = `SELECT m.id, mode.live, m.time_zone, m.cutoff,
		CASE mode.live WHEN 0 THEN COALESCE(c.offset_ms, 0) ELSE 0 END,
		COALESCE((SELECT ` + takenAt + ` FROM captures
			WHERE merchant_id = m.id AND live = mode.live AND settled = 0 AND state = 'succeeded'
			ORDER BY ` + takenAt + ` LIMIT 1), 0),
		COALESCE((SELECT ` + takenAt + ` FROM captures
			WHERE merchant_id = m.id AND live = mode.live AND settled = 0 AND state = 'succeeded'
			ORDER BY ` + takenAt + ` DESC LIMIT 1), 0)
	FROM merchants m CROSS JOIN (SELECT 0 AS live UNION ALL SELECT 1) mode
	LEFT JOIN test_clocks c ON c.merchant_id = m.id`

var settlementSQL = map[string]string{
	"selectDays":   settlementDays,
	"selectDaysOf": settlementDays + ` WHERE m.id = $1::bigint`,
	"selectUnsettledCaptures": `SELECT id, transaction_id, ` + takenAt + ` FROM captures
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND settled = 0 AND state = 'succeeded'
			AND ` + takenAt + ` <= $3::bigint
			AND ` + takenAt + ` >= $4::bigint AND (` + takenAt + ` > $4::bigint OR id > $5::bigint)
		ORDER BY ` + takenAt + `, id LIMIT $6::bigint`,
	"correctCaptureTime": `UPDATE captures SET captured_at = $1::bigint
		WHERE id = $2::bigint AND settled = 0 AND state = 'succeeded' AND ` + takenAt + ` > $3::bigint`,
	"sumUnsettledCaptures": `SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM captures
		WHERE transaction_id = $1::bigint AND state = 'succeeded' AND settled = 0 AND ` + takenAt + ` <= $2::bigint`,
	"settleThrough": `UPDATE transactions SET amount_settled = amount_settled + $1::bigint,
			version = version + CASE WHEN amount_settled + $1::bigint = amount_captured THEN 1 ELSE 0 END,
				updated_at = $2::bigint
		WHERE id = $3::bigint AND merchant_id = $4::bigint AND live = $5::bigint AND operation <> 'void'
			AND $1::bigint > 0
			AND status IN ('captured', 'partially_captured')
		RETURNING amount_settled = amount_captured`,
	"settleCapturesThrough": `UPDATE captures SET settled = 1, updated_at = $1::bigint
		WHERE transaction_id = $2::bigint AND state = 'succeeded' AND settled = 0 AND ` + takenAt + ` <= $3::bigint`,
	"lockTransactionID": `SELECT id FROM transactions WHERE id = $1::bigint AND merchant_id = $2::bigint
		AND live = $3::bigint FOR UPDATE`,
	"selectSettleable": `SELECT transaction_id FROM captures
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND settled = 0 AND state = 'succeeded'
			AND (SELECT t.operation = '' AND t.status IN ('captured', 'partially_captured')
				FROM transactions t WHERE t.id = captures.transaction_id)
		ORDER BY ` + takenAt + `, id LIMIT $3::bigint`,
}
