package postgres

import "github.com/causeway-pay/causeway/core/internal/store/columns"

//nolint:gosec // SQL
var stepSQL = map[string]string{
	"insertCapture": `INSERT INTO captures
		(id, transaction_id, merchant_id, live, state, amount, currency, final, details, claim, created_at,
			updated_at,
			core_id, api_key_id, client_address, account, tag)
		VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::text, $6::bigint, $7::text, $8::bigint, $9::text,
			$10::bigint, $11::bigint, $12::bigint, $13::bigint, $14::bigint, $15::text, $16::bigint, $17::text)
		ON CONFLICT DO NOTHING`,
	"beginCapture": `UPDATE transactions SET operation = 'capture', operation_id = $1::bigint,
			captures_begun = captures_begun + 1,
			amount_capture_pending = CASE $2::bigint WHEN 0 THEN amount_authorized - amount_captured ELSE $2::bigint END,
				updated_at = $3::bigint
		WHERE id = $4::bigint AND merchant_id = $5::bigint AND live = $6::bigint AND operation = ''
			AND status IN ('authorized', 'partially_captured')
			AND amount_authorized - amount_captured >= GREATEST($2::bigint, 1) AND captures_begun < $7::bigint
			AND account = $8::bigint
		RETURNING amount_capture_pending, currency, erased_at`,
	"endCapture": `UPDATE captures SET state = $1::text, failure_code = $2::text, failure_message = $3::text,
		claim = 0, updated_at = $4::bigint, captured_at = $4::bigint, acquirer_id = $6::text
		WHERE id = $5::bigint AND state = 'pending'`,
	"endCaptureOfTransaction": `UPDATE transactions SET operation = '', operation_id = 0, amount_capture_pending = 0,
			captures_begun = captures_begun - $6::bigint, amount_captured = amount_captured + $1::bigint,
			status = CASE WHEN $1::bigint = 0 THEN status
				WHEN $2::bigint <> 0 OR amount_captured + $1::bigint = amount_authorized THEN 'captured'
					ELSE 'partially_captured' END,
			version = version + CASE WHEN $1::bigint > 0 THEN 1 ELSE 0 END, updated_at = $3::bigint
		WHERE id = $4::bigint AND operation = 'capture' AND operation_id = $5::bigint`,
	"selectCapture": `SELECT ` + columns.Capture + ` FROM captures
		WHERE id = $1::bigint AND merchant_id = $2::bigint AND live = $3::bigint`,
	"selectStandingCaptures": `SELECT ` + columns.OpenCapture + ` FROM captures
		WHERE transaction_id = $1::bigint AND merchant_id = $2::bigint AND live = $3::bigint AND state = 'succeeded'
		ORDER BY id`,
	"selectCaptureDetails": `SELECT details FROM captures WHERE id = $1`,
	"selectOpenCaptures": `SELECT ` + columns.OpenCapture + `, ` + columns.LastAttempt + `, FALSE FROM captures
			LEFT JOIN step_attempts ON kind = 'capture' AND object_id = id AND number = 0
		WHERE state = 'pending' AND updated_at NOT BETWEEN $7::bigint AND $8::bigint` + ofStepPage,
	"reserveRefund": `UPDATE transactions SET amount_refund_pending = amount_refund_pending + $1::bigint,
		updated_at = $2::bigint
		WHERE id = $3::bigint AND merchant_id = $4::bigint AND live = $5::bigint AND operation <> 'void'
			AND status IN ('captured', 'partially_captured')
			AND $1::bigint > 0 AND amount_captured - amount_refunded - amount_refund_pending >= $1::bigint
			AND account = $6::bigint
		RETURNING currency, erased_at, COALESCE(details::jsonb #>> '{customer}', '')`,
	"insertRefund": `INSERT INTO refunds
		(id, transaction_id, capture_id, merchant_id, live, state, amount, currency, details, claim, created_at,
			updated_at,
			core_id, api_key_id, client_address, account, tag, customer)
		VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::text, $7::bigint, $8::text, $9::text,
			$10::bigint, $11::bigint, $12::bigint, $13::bigint, $14::bigint, $15::text, $16::bigint, $17::text,
			$18::text)
		ON CONFLICT DO NOTHING`,
	"reserveRefundOfCapture": `UPDATE captures SET amount_refund_pending = amount_refund_pending + $1::bigint
		WHERE id = (SELECT id FROM captures AS fit
			WHERE transaction_id = $2::bigint AND $3::bigint IN (0, id) AND state = 'succeeded'
				AND amount - amount_refunded - amount_refund_pending >= $1::bigint
			ORDER BY amount - amount_refunded - amount_refund_pending, id LIMIT 1)
		RETURNING id`,
	"insertCredit": `INSERT INTO refunds (id, merchant_id, live, state, amount, currency, details, claim,
		created_at, updated_at,
			core_id, api_key_id, client_address, account, tag)
		VALUES ($1::bigint, $2::bigint, $3::bigint, $4::text, $5::bigint, $6::text, $7::text, $8::bigint, $9::bigint,
			$10::bigint, $11::bigint, $12::bigint, $13::text, $14::bigint, $15::text) ON CONFLICT DO NOTHING`,
	"endRefund": `UPDATE refunds SET state = $1::text, failure_code = $2::text, failure_message = $3::text,
		claim = 0, updated_at = $4::bigint, acquirer_id = $5::text
		WHERE id = $6::bigint AND state = 'pending'`,
	"endRefundOfTransaction": `UPDATE transactions SET amount_refund_pending = amount_refund_pending - $1::bigint,
			amount_refunded = amount_refunded + $2::bigint, updated_at = $3::bigint
		WHERE id = $4::bigint`,
	"endRefundOfCapture": `UPDATE captures SET amount_refund_pending = amount_refund_pending - $1::bigint,
		amount_refunded = amount_refunded + $2::bigint, updated_at = $3::bigint WHERE id = $4::bigint`,
	"selectRefund": `SELECT ` + columns.Refund + ` FROM refunds
		WHERE id = $1::bigint AND merchant_id = $2::bigint AND live = $3::bigint`,
	"selectRefundDetails": `SELECT details FROM refunds WHERE id = $1`,
	"selectOpenRefunds": `SELECT ` + columns.OpenRefund + `, ` + columns.LastAttempt + `,
			EXISTS (SELECT 1 FROM reversals r WHERE r.kind = 'refund' AND r.step_id = refunds.id) FROM refunds
			LEFT JOIN step_attempts ON kind = 'refund' AND object_id = id AND number = 0
		WHERE state = 'pending' AND updated_at NOT BETWEEN $7::bigint AND $8::bigint` + ofStepPage,
	"correctCaptureOfTransaction": `UPDATE transactions SET amount_captured = amount_captured + $1::bigint,
			status = CASE WHEN $2::bigint <> 0 OR amount_captured + $1::bigint = amount_authorized THEN 'captured'
				ELSE 'partially_captured' END,
			version = version + 1, updated_at = $3::bigint
		WHERE id = $4::bigint AND operation = '' AND status IN ('authorized', 'partially_captured')
			AND amount_authorized - amount_captured >= $1::bigint`,
	"correctCapture": `UPDATE captures SET state = 'succeeded', failure_code = '', failure_message = '',
		updated_at = $1::bigint, captured_at = $1::bigint, acquirer_id = $3::text
		WHERE id = $2::bigint AND state = 'failed'`,
	"correctRefund": `UPDATE refunds SET state = 'succeeded', failure_code = '', failure_message = '',
		updated_at = $1::bigint, acquirer_id = $2::text
		WHERE id = $3::bigint AND state = 'failed'`,
	"correctRefundOfTransaction": `UPDATE transactions SET amount_refunded = amount_refunded + $1::bigint,
		updated_at = $2::bigint
		WHERE id = $3::bigint AND operation <> 'void' AND status IN ('captured', 'partially_captured')
			AND amount_captured - amount_refunded - amount_refund_pending >= $1::bigint`,
	"correctRefundOfCapture": `UPDATE captures SET amount_refunded = amount_refunded + $1::bigint,
		updated_at = $2::bigint
		WHERE id = $3::bigint AND state = 'succeeded'
			AND amount - amount_refunded - amount_refund_pending >= $1::bigint`,
	"correctVoid": `UPDATE transactions SET status = 'voided', amount_captured = 0, version = version + 1,
		updated_at = $1::bigint
		WHERE id = $2::bigint AND operation = '' AND status IN ('authorized', 'partially_captured', 'captured')
			AND amount_settled = 0 AND amount_refunded = 0 AND amount_refund_pending = 0`,
	"voidCaptures": `UPDATE captures SET state = 'voided', updated_at = $1::bigint
		WHERE transaction_id = $2::bigint AND state = 'succeeded'`,
	"reclaimAuthorization": `UPDATE transactions SET reclaimed_at = $3::bigint
		WHERE id = $1::bigint AND attempt = $2::bigint AND status IN ('processing', 'unknown') AND reclaimed_at = 0
			AND account = $4::bigint`,
	"reclaimVoid": `UPDATE transactions SET reclaimed_at = $3::bigint
		WHERE id = $1::bigint AND operation_id = $2::bigint AND operation = 'void' AND reclaimed_at = 0
			AND account = $4::bigint`,
	"reclaimCapture": `UPDATE captures SET reclaimed_at = $3::bigint
		WHERE transaction_id = $1::bigint AND id = $2::bigint AND state = 'pending' AND reclaimed_at = 0
			AND account = $4::bigint`,
	"reclaimRefund": `UPDATE refunds SET reclaimed_at = $3::bigint
		WHERE COALESCE(transaction_id, 0) = $1::bigint AND id = $2::bigint AND state = 'pending' AND reclaimed_at = 0
			AND account = $4::bigint`,
}
