package sqlite

import "github.com/causeway-pay/causeway/core/internal/store/columns"

var paymentSQL = map[string]string{
	"insertUnconfirmed": `INSERT INTO transactions
		(id, merchant_id, live, status, auto_capture, amount, currency, payment_method, details, created_at,
			updated_at, attempt,
			partial, api_key_id, client_address)
		VALUES (?, ?, ?, 'requires_confirmation', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	// Payments that would wait too long for a confirmation, because a clock was ahead when they were
	// written. For a test merchant, its test clock is the time.
	"correctUnconfirmed": `UPDATE transactions SET expires_at = ?2 + CASE live WHEN 0 THEN COALESCE((SELECT offset_ms
		FROM test_clocks c WHERE c.merchant_id = transactions.merchant_id), 0) ELSE 0 END WHERE id = ?3
			AND status = 'requires_confirmation' AND expires_at > ?1 AND expires_at > ?1 + CASE live WHEN 0
				THEN COALESCE((SELECT offset_ms FROM test_clocks c WHERE c.merchant_id = transactions.merchant_id), 0)
					ELSE 0 END`,
	"lapseTransaction": `UPDATE transactions SET status = 'canceled', result = ?, version = version + 1,
		updated_at = ?
		WHERE id = ? AND merchant_id = ? AND live = ? AND status = 'requires_confirmation'`,
	"countRefusedConfirmation": `UPDATE transactions SET refused_confirmations = refused_confirmations + 1
		WHERE id = ? AND merchant_id = ? AND live = ?`,
	"beginConfirmation": `UPDATE transactions SET status = 'processing', waiting_method = payment_method,
		waiting_details = details,
			payment_method = ?, details = ?, claim = ?, core_id = ?, reclaimed_at = 0, updated_at = ?,
			confirm_api_key_id = ?, confirm_client_address = ?, account = ?, tag = ?, void_tag = ''
		WHERE id = ? AND merchant_id = ? AND live = ? AND status = 'requires_confirmation' AND attempt = ?
			AND version = ?`,
	"unlinkConfirmation": `DELETE FROM transaction_terms WHERE transaction_id = ?1 AND kind = ?3
		AND (merchant, is_live, term) = (SELECT merchant_id, live, details ->> '$.customer' FROM transactions
			WHERE id = ?1 AND attempt = ?2 AND status = 'processing'
				AND details ->> '$.customer' IS NOT waiting_details ->> '$.customer')`,
	"withdrawConfirmation": `UPDATE transactions SET status = 'requires_confirmation', payment_method = waiting_method,
		details = waiting_details,
			waiting_method = NULL, waiting_details = NULL, attempt = attempt + 1, claim = 0, account = 0, tag = '',
			updated_at = ?
		WHERE id = ? AND attempt = ? AND attempt > 0 AND status = 'processing'`,
	"declineConfirmation": `UPDATE transactions SET status = 'requires_confirmation', payment_method = waiting_method,
		details = waiting_details,
			waiting_method = NULL, waiting_details = NULL, attempt = attempt + 1, claim = 0, account = 0, tag = '',
			declined_confirmations = declined_confirmations + 1, result = ?, version = version + 1, updated_at = ?
		WHERE id = ? AND attempt = ? AND attempt > 0 AND status = 'processing'`,
	"cancelTransaction": `UPDATE transactions SET status = 'canceled', version = version + 1, updated_at = ?,
			void_api_key_id = ?, void_client_address = ?
		WHERE id = ? AND merchant_id = ? AND live = ? AND status = 'requires_confirmation' AND version = COALESCE(?,
			version)`,
	"clearExpiry": `UPDATE transactions SET expires_at = 0 WHERE id = ?`,
	"setExpiry": `UPDATE transactions SET expires_at = ?1
			+ CASE ?2 WHEN 0 THEN COALESCE((SELECT offset_ms FROM test_clocks WHERE merchant_id = ?3), 0) ELSE 0 END
		WHERE id = ?4`,
	"expireTransaction": `UPDATE transactions SET status = CASE WHEN amount_captured > 0 THEN 'captured'
		ELSE 'expired' END,
			version = version + 1, updated_at = ?
		WHERE id = ? AND merchant_id = ? AND live = ? AND operation = '' AND status IN ('authorized',
			'partially_captured')`,
	"advanceTestClock": `INSERT INTO test_clocks (merchant_id, offset_ms) VALUES (?1, ?2)
		ON CONFLICT (merchant_id) DO UPDATE SET offset_ms = test_clocks.offset_ms + excluded.offset_ms
			WHERE test_clocks.offset_ms + excluded.offset_ms <= ?3 RETURNING offset_ms`,
	"selectTestClock": `SELECT COALESCE((SELECT offset_ms FROM test_clocks WHERE merchant_id = ?), 0)`,
	"insertTerm": `INSERT INTO transaction_terms (merchant, is_live, kind, term, transaction_id)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`,
	"insertTransaction": `INSERT INTO transactions
		(id, merchant_id, live, status, auto_capture, amount, currency, payment_method, details, claim, created_at,
			updated_at,
			partial, core_id, api_key_id, client_address, account, tag)
		VALUES (?, ?, ?, 'processing', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	"resolveTransaction": `UPDATE transactions
		SET status = ?, amount_authorized = ?, amount_captured = ?, result = ?, version = version + 1, claim = 0,
			updated_at = ?
		WHERE id = ? AND attempt = ? AND version + 1 = ? AND status IN ('processing', 'unknown')`,
	"updateTransaction": `UPDATE transactions SET amount = ?, details = ?, amount_changed = ?, version = version + 1,
			updated_at = ?
		WHERE id = ? AND merchant_id = ? AND live = ? AND version + 1 = ? AND status <> 'processing'
		RETURNING erased_at`,
	"unlinkReference": `DELETE FROM transaction_terms WHERE transaction_id = ?1 AND kind = ?2
		AND (merchant, is_live, term) = (SELECT merchant_id, live, details ->> '$.reference' FROM transactions
			WHERE id = ?1)`,
	"loseTransaction": `UPDATE transactions SET status = 'unknown', updated_at = ?
		WHERE id = ? AND attempt = ? AND status = 'processing'`,
	"settleTransaction": `UPDATE transactions SET amount_settled = amount_captured, version = version + 1,
		updated_at = ?
		WHERE id = ? AND merchant_id = ? AND live = ? AND operation = ''
			AND status IN ('captured', 'partially_captured') AND amount_settled < amount_captured
		RETURNING currency, ` + sourceOf("transactions"),
	"beginVoid": `UPDATE transactions SET operation = 'void', operation_id = ?, claim = ?, core_id = ?,
		reclaimed_at = 0,
			updated_at = ?, void_api_key_id = ?, void_client_address = CASE WHEN erased_at > 0 THEN '' ELSE ? END,
			void_tag = ?
		WHERE id = ? AND merchant_id = ? AND live = ? AND operation = ''
			AND status IN ('authorized', 'partially_captured', 'captured')
			AND amount_settled = 0 AND amount_refunded = 0 AND amount_refund_pending = 0 AND version = COALESCE(?,
				version) AND account = ?`,
	"refuseVoid": `UPDATE transactions SET operation = '', operation_id = 0, claim = 0, updated_at = ?
		WHERE id = ? AND operation = 'void' AND operation_id = ?`,
	"endVoid": `UPDATE transactions SET status = 'voided', amount_captured = 0, operation = '',
		operation_id = 0, claim = 0,
			version = version + 1, updated_at = ?
		WHERE id = ? AND operation = 'void' AND operation_id = ?`,
	"selectTransaction": `SELECT ` + columns.Transaction + ` FROM transactions
		WHERE id = ? AND merchant_id = ? AND live = ?`,
	"lockTransaction": `SELECT ` + columns.Transaction + ` FROM transactions
		WHERE id = ? AND merchant_id = ? AND live = ?`,
	"listTransactions": `SELECT ` + columns.Transaction + ` FROM transactions WHERE merchant_id = ? AND live = ?
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listTransactionsBefore": `SELECT ` + columns.Transaction + ` FROM transactions WHERE merchant_id = ? AND live = ?
			AND id > ? ORDER BY id LIMIT ?`,
	"selectTransactionDetails": `SELECT details FROM transactions WHERE id = ?`,
	"selectOpenTransactions": `SELECT ` + columns.OpenTransaction + `, ` + columns.LastAttempt + `, FALSE
			FROM transactions INDEXED BY transactions_open
			LEFT JOIN step_attempts ON kind = CASE operation WHEN 'void' THEN 'void' ELSE 'authorize' END
				AND object_id = id AND number = CASE operation WHEN 'void' THEN operation_id ELSE attempt END
			WHERE (status IN ('processing', 'unknown') OR operation = 'void') AND updated_at NOT BETWEEN ?7 AND ?8` + ofStepPage,
	"moveTransaction": `UPDATE transactions SET account = ?, tag = ?, void_tag = ?
		WHERE id = ? AND attempt = ? AND account = ? AND status = 'processing'`,
	"insertAttempt": `INSERT INTO attempts (transaction_id, number, account, tag, class)
		VALUES (?1, (SELECT COALESCE(MAX(number), 0) + 1 FROM attempts WHERE transaction_id = ?1), ?2, ?3, ?4)`,
	"deleteAttempts": `DELETE FROM attempts WHERE transaction_id = ?`,
	"tagRelease": `UPDATE transactions SET void_tag = ? WHERE id = ? AND attempt = ?
		AND void_tag = '' AND status IN ('processing', 'unknown')`,
	"deleteTransaction": `DELETE FROM transactions WHERE id = ? AND status = 'processing' AND attempt = 0`,
	"listNamedTransactions": `SELECT ` + columns.Transaction + ` FROM transaction_terms CROSS JOIN transactions
		ON id = transaction_id
			WHERE merchant = ?1 AND is_live = ?2 AND kind = ?15 AND term = ?16 AND transaction_id BETWEEN ?3 AND ?4
				AND merchant_id = ?1 AND live = ?2 AND created_at > ?5 AND created_at < ?6
			AND ` + oneOf("?7", "status") + ` AND (?8 = '' OR currency = ?8) AND (?9 < 0 OR amount = ?9)
			AND (?10 = '' OR details ->> '$.customer' = ?10) AND (?11 = '' OR details ->> '$.reference' = ?11)
			AND (?12 = '' OR details ->> '$.card.fingerprint' = ?12) AND ` + metadataHas("?13") + `
			AND ` + oneOf("?14", transactionSettlement) + `
			AND transaction_id < ? ORDER BY transaction_id DESC LIMIT ?`,
	"listNamedTransactionsBefore": `SELECT ` + columns.Transaction + ` FROM transaction_terms CROSS JOIN transactions
		ON id = transaction_id
			WHERE merchant = ?1 AND is_live = ?2 AND kind = ?15 AND term = ?16 AND transaction_id BETWEEN ?3 AND ?4
				AND merchant_id = ?1 AND live = ?2 AND created_at > ?5 AND created_at < ?6
			AND ` + oneOf("?7", "status") + ` AND (?8 = '' OR currency = ?8) AND (?9 < 0 OR amount = ?9)
			AND (?10 = '' OR details ->> '$.customer' = ?10) AND (?11 = '' OR details ->> '$.reference' = ?11)
			AND (?12 = '' OR details ->> '$.card.fingerprint' = ?12) AND ` + metadataHas("?13") + `
			AND ` + oneOf("?14", transactionSettlement) + `
			AND transaction_id > ? ORDER BY transaction_id LIMIT ?`,
	// The conditions of all filters are in one text, so that few statements are prepared.
	// Customers and references are found by their terms: an index for each other filter would
	// cost every payment.
	"listFilteredTransactions": `SELECT ` + columns.Transaction + `
		FROM transactions INDEXED BY transactions_by_tenant
			WHERE merchant_id = ?1 AND live = ?2 AND id BETWEEN ?3 AND ?4 AND created_at > ?5 AND created_at < ?6
			AND ` + oneOf("?7", "status") + ` AND (?8 = '' OR currency = ?8) AND (?9 < 0 OR amount = ?9)
			AND (?10 = '' OR details ->> '$.customer' = ?10) AND (?11 = '' OR details ->> '$.reference' = ?11)
			AND (?12 = '' OR details ->> '$.card.fingerprint' = ?12) AND ` + metadataHas("?13") + `
			AND ` + oneOf("?14", transactionSettlement) + `
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listFilteredTransactionsBefore": `SELECT ` + columns.Transaction + `
		FROM transactions INDEXED BY transactions_by_tenant
			WHERE merchant_id = ?1 AND live = ?2 AND id BETWEEN ?3 AND ?4 AND created_at > ?5 AND created_at < ?6
			AND ` + oneOf("?7", "status") + ` AND (?8 = '' OR currency = ?8) AND (?9 < 0 OR amount = ?9)
			AND (?10 = '' OR details ->> '$.customer' = ?10) AND (?11 = '' OR details ->> '$.reference' = ?11)
			AND (?12 = '' OR details ->> '$.card.fingerprint' = ?12) AND ` + metadataHas("?13") + `
			AND ` + oneOf("?14", transactionSettlement) + `
			AND id > ? ORDER BY id LIMIT ?`,
	"listTransactionsOfDay": `SELECT ` + columns.Transaction + ` FROM transactions NOT INDEXED
			WHERE ` + inDay + ` AND id BETWEEN ?3 AND ?4 AND created_at > ?5 AND created_at < ?6
			AND ` + oneOf("?7", "status") + ` AND (?8 = '' OR currency = ?8) AND (?9 < 0 OR amount = ?9)
			AND (?10 = '' OR details ->> '$.customer' = ?10) AND (?11 = '' OR details ->> '$.reference' = ?11)
			AND (?12 = '' OR details ->> '$.card.fingerprint' = ?12) AND ` + metadataHas("?13") + `
			AND ` + oneOf("?14", transactionSettlement) + `
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listTransactionsOfDayBefore": `SELECT ` + columns.Transaction + ` FROM transactions NOT INDEXED
			WHERE ` + inDay + ` AND id BETWEEN ?3 AND ?4 AND created_at > ?5 AND created_at < ?6
			AND ` + oneOf("?7", "status") + ` AND (?8 = '' OR currency = ?8) AND (?9 < 0 OR amount = ?9)
			AND (?10 = '' OR details ->> '$.customer' = ?10) AND (?11 = '' OR details ->> '$.reference' = ?11)
			AND (?12 = '' OR details ->> '$.card.fingerprint' = ?12) AND ` + metadataHas("?13") + `
			AND ` + oneOf("?14", transactionSettlement) + `
			AND id > ? ORDER BY id LIMIT ?`,
	// The tenants with a row of the next two statements up to ?1, or with a wait that ends after
	// ?2.
	"selectExpiring": `WITH tenants AS MATERIALIZED (SELECT m.id, mode.live, ` + ahead + `,
			EXISTS (SELECT 1 FROM transactions INDEXED BY transactions_expiring
				WHERE merchant_id = m.id AND live = mode.live AND ` + authorized + `
				AND expires_at <= ?1 + ` + ahead + `) AS lapsed,
			EXISTS (SELECT 1 FROM transactions INDEXED BY transactions_waiting
				WHERE merchant_id = m.id AND live = mode.live AND status = 'requires_confirmation'
				AND expires_at <= ?1 + ` + ahead + `) AS unconfirmed,
			EXISTS (SELECT 1 FROM transactions INDEXED BY transactions_waiting
				WHERE merchant_id = m.id AND live = mode.live AND status = 'requires_confirmation'
				AND expires_at > ?2 + ` + ahead + `) AS too_long` + ofEachTenant + `)
		SELECT * FROM tenants WHERE lapsed OR unconfirmed OR too_long`,
	"selectLapsed": `SELECT expires_at, id FROM transactions INDEXED BY transactions_expiring
		WHERE merchant_id = ?1 AND live = ?2 AND ` + authorized + ` AND ` + expiresAfter,
	"selectUnconfirmed": `SELECT expires_at, id FROM transactions INDEXED BY transactions_waiting
		WHERE merchant_id = ?1 AND live = ?2 AND status = 'requires_confirmation' AND ` + expiresAfter,
}

// authorized is the condition that an authorization can end by its time.
const authorized = `expires_at > 0 AND status IN ('authorized', 'partially_captured') AND operation = ''`

// expiresAfter selects a page of rows that end up to ?3, after the row with a time and an id.
const expiresAfter = `expires_at <= ?3 AND expires_at >= ?4 AND (expires_at > ?4 OR id > ?5)
	ORDER BY expires_at, id LIMIT ?6`
