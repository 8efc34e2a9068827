package postgres

import "github.com/causeway-pay/causeway/core/internal/store/columns"

var paymentSQL = map[string]string{
	"insertUnconfirmed": `INSERT INTO transactions
		(id, merchant_id, live, status, auto_capture, amount, currency, payment_method, details, created_at,
			updated_at, attempt,
			partial, api_key_id, client_address)
		VALUES ($1::bigint, $2::bigint, $3::bigint, 'requires_confirmation', $4::bigint, $5::bigint, $6::text,
			$7::text, $8::text, $9::bigint, $10::bigint, $11::bigint, $12::bigint, $13::bigint, $14::text) ON CONFLICT
				DO NOTHING`,
	// Payments that would wait too long for a confirmation, because a clock was ahead when they were
	// written. For a test merchant, its test clock is the time.
	"correctUnconfirmed": `UPDATE transactions SET expires_at = $2::bigint + CASE live WHEN 0
		THEN COALESCE((SELECT offset_ms FROM test_clocks c WHERE c.merchant_id = transactions.merchant_id), 0)
			ELSE 0 END WHERE id = $3::bigint AND status = 'requires_confirmation' AND expires_at > $1::bigint
				AND expires_at > $1::bigint + CASE live WHEN 0 THEN COALESCE((SELECT offset_ms FROM test_clocks c
					WHERE c.merchant_id = transactions.merchant_id), 0) ELSE 0 END`,
	"lapseTransaction": `UPDATE transactions SET status = 'canceled', result = $1::text, version = version + 1,
		updated_at = $2::bigint
		WHERE id = $3::bigint AND merchant_id = $4::bigint AND live = $5::bigint AND status = 'requires_confirmation'`,
	"countRefusedConfirmation": `UPDATE transactions SET refused_confirmations = refused_confirmations + 1
		WHERE id = $1::bigint AND merchant_id = $2::bigint AND live = $3::bigint`,
	"beginConfirmation": `UPDATE transactions SET status = 'processing', waiting_method = payment_method,
		waiting_details = details,
			payment_method = $1::text, details = $2::text, claim = $3::bigint, core_id = $4::bigint, reclaimed_at = 0,
				updated_at = $5::bigint,
			confirm_api_key_id = $6::bigint, confirm_client_address = $7::text, account = $8::bigint, tag = $9::text,
			void_tag = ''
		WHERE id = $10::bigint AND merchant_id = $11::bigint AND live = $12::bigint AND status = 'requires_confirmation'
			AND attempt = $13::bigint AND version = $14::bigint`,
	"unlinkConfirmation": `DELETE FROM transaction_terms WHERE transaction_id = $1::bigint AND kind = $3::bigint
		AND (merchant, is_live, term) = (SELECT merchant_id, live, details::jsonb #>> '{customer}' FROM transactions
			WHERE id = $1::bigint AND attempt = $2::bigint AND status = 'processing'
				AND details::jsonb #>> '{customer}' IS DISTINCT FROM waiting_details::jsonb #>> '{customer}')`,
	"withdrawConfirmation": `UPDATE transactions SET status = 'requires_confirmation', payment_method = waiting_method,
		details = waiting_details,
			waiting_method = NULL, waiting_details = NULL, attempt = attempt + 1, claim = 0, account = 0, tag = '',
			updated_at = $1::bigint
		WHERE id = $2::bigint AND attempt = $3::bigint AND attempt > 0 AND status = 'processing'`,
	"declineConfirmation": `UPDATE transactions SET status = 'requires_confirmation', payment_method = waiting_method,
		details = waiting_details,
			waiting_method = NULL, waiting_details = NULL, attempt = attempt + 1, claim = 0, account = 0, tag = '',
			declined_confirmations = declined_confirmations + 1, result = $1::text, version = version + 1,
			updated_at = $2::bigint
		WHERE id = $3::bigint AND attempt = $4::bigint AND attempt > 0 AND status = 'processing'`,
	"cancelTransaction": `UPDATE transactions SET status = 'canceled', version = version + 1,
		updated_at = $1::bigint,
			void_api_key_id = $2::bigint, void_client_address = $3::text
		WHERE id = $4::bigint AND merchant_id = $5::bigint AND live = $6::bigint AND status = 'requires_confirmation'
			AND version = COALESCE($7::bigint, version)`,
	"clearExpiry": `UPDATE transactions SET expires_at = 0 WHERE id = $1::bigint`,
	"setExpiry": `UPDATE transactions SET expires_at = $1::bigint
			+ CASE $2::bigint WHEN 0 THEN COALESCE((SELECT offset_ms FROM test_clocks WHERE merchant_id = $3::bigint), 0)
				ELSE 0 END
		WHERE id = $4::bigint`,
	"expireTransaction": `UPDATE transactions SET status = CASE WHEN amount_captured > 0 THEN 'captured'
		ELSE 'expired' END,
			version = version + 1, updated_at = $1::bigint
		WHERE id = $2::bigint AND merchant_id = $3::bigint AND live = $4::bigint AND operation = ''
			AND status IN ('authorized', 'partially_captured')`,
	"advanceTestClock": `INSERT INTO test_clocks (merchant_id, offset_ms) VALUES ($1::bigint, $2::bigint)
		ON CONFLICT (merchant_id) DO UPDATE SET offset_ms = test_clocks.offset_ms + excluded.offset_ms
			WHERE test_clocks.offset_ms + excluded.offset_ms <= $3::bigint RETURNING offset_ms`,
	"selectTestClock": `SELECT COALESCE((SELECT offset_ms FROM test_clocks WHERE merchant_id = $1::bigint), 0)`,
	"insertTerm": `INSERT INTO transaction_terms (merchant, is_live, kind, term, transaction_id, term_position)
		SELECT $1::bigint, $2::bigint, $3::bigint, $4::text, id, position FROM transactions WHERE id = $5::bigint
		ON CONFLICT DO NOTHING`,
	"insertTransaction": "", // BeginPayment writes transactions: see beginAll
	"resolveTransaction": `UPDATE transactions
		SET status = $1::text, amount_authorized = $2::bigint, amount_captured = $3::bigint, result = $4::text,
			version = version + 1, claim = 0, updated_at = $5::bigint
		WHERE id = $6::bigint AND attempt = $7::bigint AND version + 1 = $8::bigint
			AND status IN ('processing', 'unknown')`,
	"updateTransaction": `UPDATE transactions SET amount = $1::bigint, details = $2::text, amount_changed = $3::bigint,
			version = version + 1, updated_at = $4::bigint
		WHERE id = $5::bigint AND merchant_id = $6::bigint AND live = $7::bigint AND version + 1 = $8::bigint
			AND status <> 'processing'
		RETURNING erased_at`,
	"unlinkReference": `DELETE FROM transaction_terms WHERE transaction_id = $1::bigint AND kind = $2::bigint
		AND (merchant, is_live, term) = (SELECT merchant_id, live, details::jsonb #>> '{reference}' FROM transactions
			WHERE id = $1::bigint)`,
	"loseTransaction": `UPDATE transactions SET status = 'unknown', updated_at = $1::bigint
		WHERE id = $2::bigint AND attempt = $3::bigint AND status = 'processing'`,
	"settleTransaction": `UPDATE transactions SET amount_settled = amount_captured, version = version + 1,
		updated_at = $1::bigint
		WHERE id = $2::bigint AND merchant_id = $3::bigint AND live = $4::bigint AND operation = ''
			AND status IN ('captured', 'partially_captured') AND amount_settled < amount_captured
		RETURNING currency, ` + sourceOf("transactions"),
	"beginVoid": `UPDATE transactions SET operation = 'void', operation_id = $1::bigint, claim = $2::bigint,
		core_id = $3::bigint, reclaimed_at = 0,
			updated_at = $4::bigint, void_api_key_id = $5::bigint, void_client_address = CASE WHEN erased_at > 0 THEN ''
				ELSE $6::text END, void_tag = $7::text
		WHERE id = $8::bigint AND merchant_id = $9::bigint AND live = $10::bigint AND operation = ''
			AND status IN ('authorized', 'partially_captured', 'captured')
			AND amount_settled = 0 AND amount_refunded = 0 AND amount_refund_pending = 0
				AND version = COALESCE($11::bigint, version) AND account = $12::bigint`,
	"refuseVoid": `UPDATE transactions SET operation = '', operation_id = 0, claim = 0,
		updated_at = $1::bigint
		WHERE id = $2::bigint AND operation = 'void' AND operation_id = $3::bigint`,
	"endVoid": `UPDATE transactions SET status = 'voided', amount_captured = 0, operation = '',
		operation_id = 0, claim = 0,
			version = version + 1, updated_at = $1::bigint
		WHERE id = $2::bigint AND operation = 'void' AND operation_id = $3::bigint`,
	"selectTransaction": `SELECT ` + columns.Transaction + ` FROM transactions
		WHERE id = $1::bigint AND merchant_id = $2::bigint AND live = $3::bigint`,
	"lockTransaction": `SELECT ` + columns.Transaction + ` FROM transactions
		WHERE id = $1::bigint AND merchant_id = $2::bigint AND live = $3::bigint FOR UPDATE`,
	"selectTransactionDetails": `SELECT details FROM transactions WHERE id = $1`,
	"selectOpenTransactions": `SELECT ` + columns.OpenTransaction + `, ` + columns.LastAttempt + `, FALSE FROM transactions
			LEFT JOIN step_attempts ON kind = CASE operation WHEN 'void' THEN 'void' ELSE 'authorize' END
				AND object_id = id AND number = CASE operation WHEN 'void' THEN operation_id ELSE attempt END
			WHERE (status IN ('processing', 'unknown') OR operation = 'void')
				AND updated_at NOT BETWEEN $7::bigint AND $8::bigint` + ofStepPage,
	"moveTransaction": `UPDATE transactions SET account = $1::bigint, tag = $2::text,
		void_tag = $3::text WHERE id = $4::bigint AND attempt = $5::bigint AND account = $6::bigint
		AND status = 'processing'`,
	"insertAttempt": `INSERT INTO attempts (transaction_id, number, account, tag, class)
		VALUES ($1::bigint, (SELECT COALESCE(MAX(number), 0) + 1 FROM attempts WHERE transaction_id = $1::bigint),
			$2::bigint, $3::text, $4::text)`,
	"deleteAttempts": `DELETE FROM attempts WHERE transaction_id = $1::bigint`,
	"tagRelease": `UPDATE transactions SET void_tag = $1::text WHERE id = $2::bigint AND attempt = $3::bigint
		AND void_tag = '' AND status IN ('processing', 'unknown')`,
	"deleteTransaction": `DELETE FROM transactions WHERE id = $1::bigint AND status = 'processing' AND attempt = 0`,
	// The tenants with a row of the next two statements up to $1, or with a wait that ends after
	// $2.
	"selectExpiring": `WITH tenants AS MATERIALIZED (SELECT m.id, mode.live, ` + ahead + `,
			EXISTS (SELECT 1 FROM transactions WHERE merchant_id = m.id AND live = mode.live
				AND ` + authorized + ` AND expires_at <= $1::bigint + ` + ahead + `) AS lapsed,
			EXISTS (SELECT 1 FROM transactions WHERE merchant_id = m.id AND live = mode.live
				AND status = 'requires_confirmation' AND expires_at <= $1::bigint + ` + ahead + `) AS unconfirmed,
			EXISTS (SELECT 1 FROM transactions WHERE merchant_id = m.id AND live = mode.live
				AND status = 'requires_confirmation' AND expires_at > $2::bigint + ` + ahead + `) AS too_long` +
		ofEachTenant + `)
		SELECT * FROM tenants WHERE lapsed OR unconfirmed OR too_long`,
	"selectLapsed": `SELECT expires_at, id FROM transactions
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND ` + authorized + ` AND ` + expiresAfter,
	"selectUnconfirmed": `SELECT expires_at, id FROM transactions
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND status = 'requires_confirmation' AND ` + expiresAfter,
}

// authorized is the condition that an authorization can end by its time.
const authorized = `expires_at > 0 AND status IN ('authorized', 'partially_captured') AND operation = ''`

// expiresAfter selects a page of rows that end up to $3, after the row with a time and an id.
const expiresAfter = `expires_at <= $3::bigint AND expires_at >= $4::bigint
	AND (expires_at > $4::bigint OR id > $5::bigint) ORDER BY expires_at, id LIMIT $6::bigint`
