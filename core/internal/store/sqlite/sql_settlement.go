package sqlite

import "github.com/causeway-pay/causeway/core/internal/store/columns"

// takenAt is the time of a capture, word for word as in the index captures_unsettled.
const takenAt = `CASE WHEN captured_at > 0 THEN captured_at ELSE created_at END`

// The states of settlement of a row, as payment has them.
const (
	transactionSettlement = `CASE WHEN amount_captured = 0 THEN 'none' WHEN amount_settled < amount_captured
		THEN 'pending' ELSE 'settled' END`
	captureSettlement = `CASE WHEN settled = 1 THEN 'settled' WHEN state = 'succeeded' THEN 'pending' ELSE 'none' END`
	refundSettlement  = `CASE WHEN settlement_day > 0 THEN 'settled' WHEN state = 'failed' THEN 'none'
		ELSE 'pending' END`
)

// inDay is the condition that a capture of a transaction has settled in the day ?15.
const inDay = `id IN (SELECT transaction_id FROM captures INDEXED BY captures_of_day
	WHERE merchant_id = ?1 AND live = ?2 AND settlement_day = ?15 AND settlement_day > 0)`

// oneOf returns the condition that a value is among the values of a parameter, which have commas
// between them. Without any, all values match.
func oneOf(parameter, value string) string {
	return `(` + parameter + ` = '' OR instr(',' || ` + parameter + ` || ',', ',' || ` + value + ` || ',') > 0)`
}

// captureSettles and refundSettles are the conditions that a row has the state of settlement ?4, if
// that is not empty.
const (
	captureSettles = `?4 IN ('', ` + captureSettlement + `)`
	refundSettles  = `?4 IN ('', ` + refundSettlement + `)`
)

// oldestPending is the id at which the tenant's refunds begin that have the state of settlement of
// a parameter.
func oldestPending(parameter string) string {
	return `CASE ` + parameter + ` WHEN 'pending' THEN COALESCE((SELECT id FROM refunds INDEXED BY refunds_unsettled
		WHERE merchant_id = ?1 AND live = ?2 AND settlement_day = 0 AND state <> 'failed' ORDER BY id LIMIT 1),
		9223372036854775807) ELSE 0 END`
}

// sourceOf is the payment source in the details of a row, as payment.SettlementTotal has it.
func sourceOf(table string) string {
	return `COALESCE(` + table + `.details ->> '$.card.brand', ` + table + `.details ->> '$.network_token.brand',
		CASE WHEN ` + table + `.details ->> '$.bank_account' IS NULL THEN '' ELSE 'bank_account' END)`
}

// ofEachTenant selects each merchant m in each mode, with its test clock c. ahead is how far the
// tenant's clock is ahead.
const (
	ofEachTenant = ` FROM merchants m CROSS JOIN (SELECT 0 AS live UNION ALL SELECT 1) mode
		LEFT JOIN test_clocks c ON c.merchant_id = m.id`
	ahead = `CASE mode.live WHEN 0 THEN COALESCE(c.offset_ms, 0) ELSE 0 END`
)

// settlementDays selects each merchant in each mode, with the settings of its settlement day. It
// adds the times of its oldest and newest unsettled capture, and of its oldest unsettled refund.
const settlementDays = `SELECT m.id, mode.live, m.time_zone, m.cutoff, ` + ahead + `,
		COALESCE((SELECT ` + takenAt + ` FROM captures INDEXED BY captures_unsettled
			WHERE merchant_id = m.id AND live = mode.live AND settled = 0 AND state = 'succeeded'
			ORDER BY ` + takenAt + ` LIMIT 1), 0),
		COALESCE((SELECT ` + takenAt + ` FROM captures INDEXED BY captures_unsettled
			WHERE merchant_id = m.id AND live = mode.live AND settled = 0 AND state = 'succeeded'
			ORDER BY ` + takenAt + ` DESC LIMIT 1), 0),
		COALESCE((SELECT created_at FROM refunds INDEXED BY refunds_unsettled
			WHERE merchant_id = m.id AND live = mode.live AND settlement_day = 0 AND state <> 'failed'
				AND state = 'succeeded' ORDER BY id LIMIT 1), 0)` + ofEachTenant

var settlementSQL = map[string]string{
	"selectDays":   settlementDays,
	"selectDaysOf": settlementDays + ` WHERE m.id = ?`,
	"selectUnsettledCaptures": `SELECT id, transaction_id, ` + takenAt + ` FROM captures INDEXED BY captures_unsettled
		WHERE merchant_id = ?1 AND live = ?2 AND settled = 0 AND state = 'succeeded' AND ` + takenAt + ` <= ?3
			AND ` + takenAt + ` >= ?4 AND (` + takenAt + ` > ?4 OR id > ?5)
		ORDER BY ` + takenAt + `, id LIMIT ?6`,
	"correctCaptureTime": `UPDATE captures SET captured_at = ?1
		WHERE id = ?2 AND settled = 0 AND state = 'succeeded' AND ` + takenAt + ` > ?3`,
	"sumUnsettledCaptures": `SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT), COUNT(*) FROM captures
		WHERE transaction_id = ? AND state = 'succeeded' AND settled = 0 AND ` + takenAt + ` <= ?`,
	"settleThrough": `UPDATE transactions SET amount_settled = amount_settled + ?1,
			version = version + CASE WHEN amount_settled + ?1 = amount_captured THEN 1 ELSE 0 END, updated_at = ?2
		WHERE id = ?3 AND merchant_id = ?4 AND live = ?5 AND operation <> 'void' AND ?1 > 0
			AND status IN ('captured', 'partially_captured')
		RETURNING amount_settled = amount_captured, currency, ` + sourceOf("transactions"),
	"settleCapturesThrough": `UPDATE captures SET settled = 1, settlement_day = ?, updated_at = ?
		WHERE transaction_id = ? AND state = 'succeeded' AND settled = 0 AND ` + takenAt + ` <= ?`,
	"lockTransactionID": "", // one command runs at a time: see LockRow
	"selectSettleable": `SELECT transaction_id FROM captures INDEXED BY captures_unsettled
		WHERE merchant_id = ?1 AND live = ?2 AND settled = 0 AND state = 'succeeded'
			AND (SELECT t.operation = '' AND t.status IN ('captured', 'partially_captured')
				FROM transactions t WHERE t.id = captures.transaction_id)
		ORDER BY ` + takenAt + `, id LIMIT ?3`,
	"selectUnsettledRefunds": `SELECT id FROM refunds INDEXED BY refunds_unsettled
		WHERE merchant_id = ?1 AND live = ?2 AND settlement_day = 0 AND state <> 'failed' AND state = 'succeeded'
			AND created_at <= ?3 AND id > ?4 ORDER BY id LIMIT ?5`,
	"settleRefund": `UPDATE refunds SET settlement_day = ?1, updated_at = ?2
		WHERE id = ?3 AND merchant_id = ?4 AND live = ?5 AND settlement_day = 0 AND state = 'succeeded'
		RETURNING amount, currency, COALESCE((SELECT ` + sourceOf("t") + ` FROM transactions t
			WHERE t.id = refunds.transaction_id), ` + sourceOf("refunds") + `)`,
	"addToDay": `INSERT INTO settlement_totals (merchant_id, live, day_id, currency, source, captures, amount_captured,
			refunds, amount_refunded)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (merchant_id, live, day_id, currency, source) DO UPDATE SET
			captures = captures + excluded.captures, amount_captured = amount_captured + excluded.amount_captured,
			refunds = refunds + excluded.refunds, amount_refunded = amount_refunded + excluded.amount_refunded`,
	"selectSettlementDay": `SELECT ` + columns.SettlementTotal + ` FROM settlement_totals
		WHERE merchant_id = ?1 AND live = ?2 AND day_id = ?3 ORDER BY currency, source`,
	"selectSettlementDays": `SELECT ` + columns.SettlementTotal + ` FROM settlement_totals
		WHERE merchant_id = ?1 AND live = ?2 AND day_id IN (SELECT DISTINCT day_id FROM settlement_totals
			WHERE merchant_id = ?1 AND live = ?2 AND day_id > ?3 AND day_id < ?4 AND day_id < ?5
			ORDER BY day_id DESC LIMIT ?6)
		ORDER BY day_id DESC, currency, source`,
	"selectSettlementDaysBefore": `SELECT ` + columns.SettlementTotal + ` FROM settlement_totals
		WHERE merchant_id = ?1 AND live = ?2 AND day_id IN (SELECT DISTINCT day_id FROM settlement_totals
			WHERE merchant_id = ?1 AND live = ?2 AND day_id > ?3 AND day_id < ?4 AND day_id > ?5
			ORDER BY day_id LIMIT ?6)
		ORDER BY day_id, currency, source`,
}
