package sqlite

// takenAt is the time of a capture, word for word as in the index captures_unsettled.
const takenAt = `CASE WHEN captured_at > 0 THEN captured_at ELSE created_at END`

// settlementDays selects each merchant in each mode, with the settings of its settlement day and
// the times of its oldest and its newest unsettled capture.
const settlementDays = `SELECT m.id, mode.live, m.time_zone, m.cutoff,
		CASE mode.live WHEN 0 THEN COALESCE(c.offset_ms, 0) ELSE 0 END,
		COALESCE((SELECT ` + takenAt + ` FROM captures INDEXED BY captures_unsettled
			WHERE merchant_id = m.id AND live = mode.live AND settled = 0 AND state = 'succeeded'
			ORDER BY ` + takenAt + ` LIMIT 1), 0),
		COALESCE((SELECT ` + takenAt + ` FROM captures INDEXED BY captures_unsettled
			WHERE merchant_id = m.id AND live = mode.live AND settled = 0 AND state = 'succeeded'
			ORDER BY ` + takenAt + ` DESC LIMIT 1), 0)
	FROM merchants m CROSS JOIN (SELECT 0 AS live UNION ALL SELECT 1) mode
	LEFT JOIN test_clocks c ON c.merchant_id = m.id`

var settlementSQL = map[string]string{
	"selectDays":   settlementDays,
	"selectDaysOf": settlementDays + ` WHERE m.id = ?`,
	"selectUnsettledCaptures": `SELECT id, transaction_id, ` + takenAt + ` FROM captures INDEXED BY captures_unsettled
		WHERE merchant_id = ?1 AND live = ?2 AND settled = 0 AND state = 'succeeded' AND ` + takenAt + ` <= ?3
			AND ` + takenAt + ` >= ?4 AND (` + takenAt + ` > ?4 OR id > ?5)
		ORDER BY ` + takenAt + `, id LIMIT ?6`,
	"correctCaptureTime": `UPDATE captures SET captured_at = ?1
		WHERE id = ?2 AND settled = 0 AND state = 'succeeded' AND ` + takenAt + ` > ?3`,
	"sumUnsettledCaptures": `SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM captures
		WHERE transaction_id = ? AND state = 'succeeded' AND settled = 0 AND ` + takenAt + ` <= ?`,
	"settleThrough": `UPDATE transactions SET amount_settled = amount_settled + ?1,
			version = version + CASE WHEN amount_settled + ?1 = amount_captured THEN 1 ELSE 0 END, updated_at = ?2
		WHERE id = ?3 AND merchant_id = ?4 AND live = ?5 AND operation <> 'void' AND ?1 > 0
			AND status IN ('captured', 'partially_captured')
		RETURNING amount_settled = amount_captured`,
	"settleCapturesThrough": `UPDATE captures SET settled = 1, updated_at = ?
		WHERE transaction_id = ? AND state = 'succeeded' AND settled = 0 AND ` + takenAt + ` <= ?`,
	"lockTransactionID": "", // one command runs at a time: see LockRow
	"selectSettleable": `SELECT transaction_id FROM captures INDEXED BY captures_unsettled
		WHERE merchant_id = ?1 AND live = ?2 AND settled = 0 AND state = 'succeeded'
			AND (SELECT t.operation = '' AND t.status IN ('captured', 'partially_captured')
				FROM transactions t WHERE t.id = captures.transaction_id)
		ORDER BY ` + takenAt + `, id LIMIT ?3`,
}
