package sqlite

import "github.com/causeway-pay/causeway/core/internal/store/columns"

//nolint:gosec // SQL
var stepSQL = map[string]string{
	"insertCapture": `INSERT INTO captures
		(id, transaction_id, merchant_id, live, state, amount, currency, final, details, claim, created_at,
			updated_at,
			core_id, api_key_id, client_address, account, tag)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	"beginCapture": `UPDATE transactions SET operation = 'capture', operation_id = ?1, captures_begun = captures_begun + 1,
			amount_capture_pending = CASE ?2 WHEN 0 THEN amount_authorized - amount_captured ELSE ?2 END, updated_at = ?3
		WHERE id = ?4 AND merchant_id = ?5 AND live = ?6 AND operation = ''
			AND status IN ('authorized', 'partially_captured')
			AND amount_authorized - amount_captured >= MAX(?2, 1) AND captures_begun < ?7 AND account = ?8
		RETURNING amount_capture_pending, currency, erased_at`,
	"endCapture": `UPDATE captures SET state = ?1, failure_code = ?2, failure_message = ?3, claim = 0,
		updated_at = ?4, captured_at = ?4, acquirer_id = ?6
		WHERE id = ?5 AND state = 'pending'`,
	"endCaptureOfTransaction": `UPDATE transactions SET operation = '', operation_id = 0, amount_capture_pending = 0,
			captures_begun = captures_begun - ?6, amount_captured = amount_captured + ?1,
			status = CASE WHEN ?1 = 0 THEN status
				WHEN ?2 <> 0 OR amount_captured + ?1 = amount_authorized THEN 'captured' ELSE 'partially_captured' END,
			version = version + CASE WHEN ?1 > 0 THEN 1 ELSE 0 END, updated_at = ?3
		WHERE id = ?4 AND operation = 'capture' AND operation_id = ?5`,
	"selectCapture": `SELECT ` + columns.Capture + ` FROM captures WHERE id = ? AND merchant_id = ? AND live = ?`,
	"listCaptures": `SELECT ` + columns.Capture + ` FROM captures INDEXED BY captures_by_tenant
		WHERE merchant_id = ? AND live = ?
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listCapturesBefore": `SELECT ` + columns.Capture + ` FROM captures INDEXED BY captures_by_tenant
		WHERE merchant_id = ? AND live = ?
			AND id > ? ORDER BY id LIMIT ?`,
	"listFilteredCaptures": `SELECT ` + columns.Capture + ` FROM captures INDEXED BY captures_by_tenant
		WHERE merchant_id = ?1 AND live = ?2 AND ` + metadataHas("?3") + ` AND ` + captureSettles + `
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listFilteredCapturesBefore": `SELECT ` + columns.Capture + ` FROM captures INDEXED BY captures_by_tenant
		WHERE merchant_id = ?1 AND live = ?2 AND ` + metadataHas("?3") + ` AND ` + captureSettles + `
			AND id > ? ORDER BY id LIMIT ?`,
	// Without the hint, SQLite reads all captures of the tenant.
	"listCapturesOfTransaction": `SELECT ` + columns.Capture + ` FROM captures INDEXED BY captures_by_transaction
		WHERE merchant_id = ?1 AND live = ?2 AND ` + metadataHas("?3") + ` AND ` + captureSettles + `
			AND transaction_id = ?5 AND ?6 IN (0, settlement_day)
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listCapturesOfTransactionBefore": `SELECT ` + columns.Capture + ` FROM captures INDEXED BY captures_by_transaction
		WHERE merchant_id = ?1 AND live = ?2 AND ` + metadataHas("?3") + ` AND ` + captureSettles + `
			AND transaction_id = ?5 AND ?6 IN (0, settlement_day)
			AND id > ? ORDER BY id LIMIT ?`,
	"listCapturesOfDay": `SELECT ` + columns.Capture + ` FROM captures INDEXED BY captures_of_day
		WHERE merchant_id = ?1 AND live = ?2 AND ` + metadataHas("?3") + ` AND ` + captureSettles + `
			AND settlement_day = ?5 AND settlement_day > 0
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listCapturesOfDayBefore": `SELECT ` + columns.Capture + ` FROM captures INDEXED BY captures_of_day
		WHERE merchant_id = ?1 AND live = ?2 AND ` + metadataHas("?3") + ` AND ` + captureSettles + `
			AND settlement_day = ?5 AND settlement_day > 0
			AND id > ? ORDER BY id LIMIT ?`,
	"selectStandingCaptures": `SELECT ` + columns.OpenCapture + ` FROM captures
		WHERE transaction_id = ? AND merchant_id = ? AND live = ? AND state = 'succeeded' ORDER BY id`,
	"selectCaptureDetails": `SELECT details FROM captures WHERE id = ?`,
	"selectOpenCaptures": `SELECT ` + columns.OpenCapture + `, ` + columns.LastAttempt + `, FALSE
		FROM captures INDEXED BY captures_open
			LEFT JOIN step_attempts ON kind = 'capture' AND object_id = id AND number = 0
		WHERE state = 'pending' AND updated_at NOT BETWEEN ?7 AND ?8` + ofStepPage,
	"reserveRefund": `UPDATE transactions SET amount_refund_pending = amount_refund_pending + ?1,
		updated_at = ?2
		WHERE id = ?3 AND merchant_id = ?4 AND live = ?5 AND operation <> 'void'
			AND status IN ('captured', 'partially_captured')
			AND ?1 > 0 AND amount_captured - amount_refunded - amount_refund_pending >= ?1 AND account = ?6
		RETURNING currency, erased_at, COALESCE(details ->> '$.customer', '')`,
	"insertRefund": `INSERT INTO refunds
		(id, transaction_id, capture_id, merchant_id, live, state, amount, currency, details, claim, created_at,
			updated_at,
			core_id, api_key_id, client_address, account, tag, customer)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	"reserveRefundOfCapture": `UPDATE captures SET amount_refund_pending = amount_refund_pending + ?1
		WHERE id = (SELECT id FROM captures AS fit
			WHERE transaction_id = ?2 AND ?3 IN (0, id) AND state = 'succeeded'
				AND amount - amount_refunded - amount_refund_pending >= ?1
			ORDER BY amount - amount_refunded - amount_refund_pending, id LIMIT 1)
		RETURNING id`,
	"insertCredit": `INSERT INTO refunds (id, merchant_id, live, state, amount, currency, details, claim,
		created_at, updated_at,
			core_id, api_key_id, client_address, account, tag)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	"endRefund": `UPDATE refunds SET state = ?, failure_code = ?, failure_message = ?, claim = 0,
		updated_at = ?, acquirer_id = ?
		WHERE id = ? AND state = 'pending'`,
	"endRefundOfTransaction": `UPDATE transactions SET amount_refund_pending = amount_refund_pending - ?,
			amount_refunded = amount_refunded + ?, updated_at = ?
		WHERE id = ?`,
	"endRefundOfCapture": `UPDATE captures SET amount_refund_pending = amount_refund_pending - ?,
		amount_refunded = amount_refunded + ?, updated_at = ? WHERE id = ?`,
	"selectRefund": `SELECT ` + columns.Refund + ` FROM refunds WHERE id = ? AND merchant_id = ? AND live = ?`,
	"listRefunds": `SELECT ` + columns.Refund + ` FROM refunds INDEXED BY refunds_by_tenant
		WHERE merchant_id = ? AND live = ?
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listRefundsBefore": `SELECT ` + columns.Refund + ` FROM refunds INDEXED BY refunds_by_tenant
		WHERE merchant_id = ? AND live = ?
			AND id > ? ORDER BY id LIMIT ?`,
	"listFilteredRefunds": `SELECT ` + columns.Refund + ` FROM refunds INDEXED BY refunds_by_tenant
		WHERE merchant_id = ?1 AND live = ?2 AND ` + metadataHas("?3") + ` AND ` + refundSettles + `
			AND id >= ` + oldestPending("?4") + `
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listFilteredRefundsBefore": `SELECT ` + columns.Refund + ` FROM refunds INDEXED BY refunds_by_tenant
		WHERE merchant_id = ?1 AND live = ?2 AND ` + metadataHas("?3") + ` AND ` + refundSettles + `
			AND id >= ` + oldestPending("?4") + `
			AND id > ? ORDER BY id LIMIT ?`,
	// Without the hint, SQLite reads all refunds of the tenant.
	"listRefundsOfTransaction": `SELECT ` + columns.Refund + ` FROM refunds INDEXED BY refunds_by_transaction
		WHERE merchant_id = ?1 AND live = ?2 AND ` + metadataHas("?3") + ` AND ` + refundSettles + `
			AND transaction_id = ?5 AND ?6 IN (0, settlement_day) AND ?7 IN ('', customer)
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listRefundsOfTransactionBefore": `SELECT ` + columns.Refund + ` FROM refunds INDEXED BY refunds_by_transaction
		WHERE merchant_id = ?1 AND live = ?2 AND ` + metadataHas("?3") + ` AND ` + refundSettles + `
			AND transaction_id = ?5 AND ?6 IN (0, settlement_day) AND ?7 IN ('', customer)
			AND id > ? ORDER BY id LIMIT ?`,
	"listRefundsOfDay": `SELECT ` + columns.Refund + ` FROM refunds INDEXED BY refunds_of_day
		WHERE merchant_id = ?1 AND live = ?2 AND ` + metadataHas("?3") + ` AND ` + refundSettles + `
			AND settlement_day = ?5 AND settlement_day > 0 AND ?6 IN ('', customer)
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listRefundsOfDayBefore": `SELECT ` + columns.Refund + ` FROM refunds INDEXED BY refunds_of_day
		WHERE merchant_id = ?1 AND live = ?2 AND ` + metadataHas("?3") + ` AND ` + refundSettles + `
			AND settlement_day = ?5 AND settlement_day > 0 AND ?6 IN ('', customer)
			AND id > ? ORDER BY id LIMIT ?`,
	"listRefundsOfCustomer": `SELECT ` + columns.Refund + ` FROM refunds INDEXED BY refunds_of_customer
		WHERE merchant_id = ?1 AND live = ?2 AND ` + metadataHas("?3") + ` AND ` + refundSettles + `
			AND customer = ?5 AND customer <> ''
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listRefundsOfCustomerBefore": `SELECT ` + columns.Refund + ` FROM refunds INDEXED BY refunds_of_customer
		WHERE merchant_id = ?1 AND live = ?2 AND ` + metadataHas("?3") + ` AND ` + refundSettles + `
			AND customer = ?5 AND customer <> ''
			AND id > ? ORDER BY id LIMIT ?`,
	"selectRefundDetails": `SELECT details FROM refunds WHERE id = ?`,
	"selectOpenRefunds": `SELECT ` + columns.OpenRefund + `, ` + columns.LastAttempt + `,
			EXISTS (SELECT 1 FROM reversals r WHERE r.kind = 'refund' AND r.step_id = refunds.id)
		FROM refunds INDEXED BY refunds_open
			LEFT JOIN step_attempts ON kind = 'refund' AND object_id = id AND number = 0
		WHERE state = 'pending' AND updated_at NOT BETWEEN ?7 AND ?8` + ofStepPage,
	"correctCaptureOfTransaction": `UPDATE transactions SET amount_captured = amount_captured + ?1,
			status = CASE WHEN ?2 <> 0 OR amount_captured + ?1 = amount_authorized THEN 'captured'
				ELSE 'partially_captured' END,
			version = version + 1, updated_at = ?3
		WHERE id = ?4 AND operation = '' AND status IN ('authorized', 'partially_captured')
			AND amount_authorized - amount_captured >= ?1`,
	"correctCapture": `UPDATE captures SET state = 'succeeded', failure_code = '', failure_message = '',
		updated_at = ?1, captured_at = ?1, acquirer_id = ?3
		WHERE id = ?2 AND state = 'failed'`,
	"correctRefund": `UPDATE refunds SET state = 'succeeded', failure_code = '', failure_message = '',
		updated_at = ?, acquirer_id = ?
		WHERE id = ? AND state = 'failed'`,
	"correctRefundOfTransaction": `UPDATE transactions SET amount_refunded = amount_refunded + ?1, updated_at = ?2
		WHERE id = ?3 AND operation <> 'void' AND status IN ('captured', 'partially_captured')
			AND amount_captured - amount_refunded - amount_refund_pending >= ?1`,
	"correctRefundOfCapture": `UPDATE captures SET amount_refunded = amount_refunded + ?1, updated_at = ?2
		WHERE id = ?3 AND state = 'succeeded' AND amount - amount_refunded - amount_refund_pending >= ?1`,
	"correctVoid": `UPDATE transactions SET status = 'voided', amount_captured = 0, version = version + 1,
		updated_at = ?
		WHERE id = ? AND operation = '' AND status IN ('authorized', 'partially_captured', 'captured')
			AND amount_settled = 0 AND amount_refunded = 0 AND amount_refund_pending = 0`,
	"voidCaptures": `UPDATE captures SET state = 'voided', updated_at = ?
		WHERE transaction_id = ? AND state = 'succeeded'`,
	"reclaimAuthorization": `UPDATE transactions SET reclaimed_at = ?3
		WHERE id = ?1 AND attempt = ?2 AND status IN ('processing', 'unknown') AND reclaimed_at = 0
			AND account = ?4`,
	"reclaimVoid": `UPDATE transactions SET reclaimed_at = ?3
		WHERE id = ?1 AND operation_id = ?2 AND operation = 'void' AND reclaimed_at = 0
			AND account = ?4`,
	"reclaimCapture": `UPDATE captures SET reclaimed_at = ?3
		WHERE transaction_id = ?1 AND id = ?2 AND state = 'pending' AND reclaimed_at = 0
			AND account = ?4`,
	"reclaimRefund": `UPDATE refunds SET reclaimed_at = ?3
		WHERE COALESCE(transaction_id, 0) = ?1 AND id = ?2 AND state = 'pending' AND reclaimed_at = 0
			AND account = ?4`,
}
