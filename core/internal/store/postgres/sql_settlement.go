package postgres

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

// sourceOf is the payment source in the details of a row, as payment.SettlementTotal has it.
func sourceOf(table string) string {
	details := `(` + table + `.details::jsonb)`
	return `COALESCE(` + details + ` #>> '{card,brand}', ` + details + ` #>> '{network_token,brand}',
		CASE WHEN ` + details + ` #>> '{bank_account}' IS NULL THEN '' ELSE 'bank_account' END)`
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
		COALESCE((SELECT ` + takenAt + ` FROM captures
			WHERE merchant_id = m.id AND live = mode.live AND settled = 0 AND state = 'succeeded'
			ORDER BY ` + takenAt + ` LIMIT 1), 0),
		COALESCE((SELECT ` + takenAt + ` FROM captures
			WHERE merchant_id = m.id AND live = mode.live AND settled = 0 AND state = 'succeeded'
			ORDER BY ` + takenAt + ` DESC LIMIT 1), 0),
		COALESCE((SELECT created_at FROM refunds
			WHERE merchant_id = m.id AND live = mode.live AND settlement_day = 0 AND state <> 'failed'
				AND state = 'succeeded' ORDER BY id LIMIT 1), 0)` + ofEachTenant

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
	"sumUnsettledCaptures": `SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT), COUNT(*) FROM captures
		WHERE transaction_id = $1::bigint AND state = 'succeeded' AND settled = 0 AND ` + takenAt + ` <= $2::bigint`,
	"settleThrough": `UPDATE transactions SET amount_settled = amount_settled + $1::bigint,
			version = version + CASE WHEN amount_settled + $1::bigint = amount_captured THEN 1 ELSE 0 END,
				updated_at = $2::bigint
		WHERE id = $3::bigint AND merchant_id = $4::bigint AND live = $5::bigint AND operation <> 'void'
			AND $1::bigint > 0
			AND status IN ('captured', 'partially_captured')
		RETURNING amount_settled = amount_captured, currency, ` + sourceOf("transactions"),
	"settleCapturesThrough": `UPDATE captures SET settled = 1, settlement_day = $1::bigint, updated_at = $2::bigint
		WHERE transaction_id = $3::bigint AND state = 'succeeded' AND settled = 0 AND ` + takenAt + ` <= $4::bigint`,
	"lockTransactionID": `SELECT id FROM transactions WHERE id = $1::bigint AND merchant_id = $2::bigint
		AND live = $3::bigint FOR UPDATE`,
	"selectSettleable": `SELECT transaction_id FROM captures
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND settled = 0 AND state = 'succeeded'
			AND (SELECT t.operation = '' AND t.status IN ('captured', 'partially_captured')
				FROM transactions t WHERE t.id = captures.transaction_id)
		ORDER BY ` + takenAt + `, id LIMIT $3::bigint`,
	"selectUnsettledRefunds": `SELECT id FROM refunds
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND settlement_day = 0 AND state <> 'failed'
			AND state = 'succeeded' AND created_at <= $3::bigint AND id > $4::bigint ORDER BY id LIMIT $5::bigint`,
	"settleRefund": `UPDATE refunds SET settlement_day = $1::bigint, updated_at = $2::bigint
		WHERE id = $3::bigint AND merchant_id = $4::bigint AND live = $5::bigint AND settlement_day = 0
			AND state = 'succeeded'
		RETURNING amount, currency, COALESCE((SELECT ` + sourceOf("t") + ` FROM transactions t
			WHERE t.id = refunds.transaction_id), ` + sourceOf("refunds") + `)`,
	"addToDay": `INSERT INTO settlement_totals (merchant_id, live, day_id, currency, source, captures, amount_captured,
			refunds, amount_refunded)
		VALUES ($1::bigint, $2::bigint, $3::bigint, $4::text, $5::text, $6::bigint, $7::bigint, $8::bigint, $9::bigint)
		ON CONFLICT (merchant_id, live, day_id, currency, source) DO UPDATE SET
			captures = settlement_totals.captures + excluded.captures,
			amount_captured = settlement_totals.amount_captured + excluded.amount_captured,
			refunds = settlement_totals.refunds + excluded.refunds,
			amount_refunded = settlement_totals.amount_refunded + excluded.amount_refunded`,
	"selectSettlementDay": `SELECT ` + columns.SettlementTotal + ` FROM settlement_totals
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND day_id = $3::bigint ORDER BY currency, source`,
	"selectSettlementDays": `SELECT ` + columns.SettlementTotal + ` FROM settlement_totals
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND day_id IN (SELECT DISTINCT day_id FROM settlement_totals
			WHERE merchant_id = $1::bigint AND live = $2::bigint AND day_id > $3::bigint AND day_id < $4::bigint
				AND day_id < $5::bigint ORDER BY day_id DESC LIMIT $6::bigint)
		ORDER BY day_id DESC, currency, source`,
	"selectSettlementDaysBefore": `SELECT ` + columns.SettlementTotal + ` FROM settlement_totals
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND day_id IN (SELECT DISTINCT day_id FROM settlement_totals
			WHERE merchant_id = $1::bigint AND live = $2::bigint AND day_id > $3::bigint AND day_id < $4::bigint
				AND day_id > $5::bigint ORDER BY day_id LIMIT $6::bigint)
		ORDER BY day_id, currency, source`,
}
