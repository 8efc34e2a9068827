package sqlite

import "github.com/causeway-pay/causeway/core/internal/store/columns"

const openSteps = `SELECT CASE operation WHEN 'void' THEN 'void' ELSE 'authorize' END AS kind,
	id AS object_id,
		CASE operation WHEN 'void' THEN operation_id ELSE attempt END AS number,
		id AS transaction_id, merchant_id, live, CASE operation WHEN 'void' THEN amount_authorized
			ELSE amount END AS amount, 0 AS held, currency,
		0 AS refused, updated_at AS since, 0 AS due_at,
		CASE WHEN operation = 'void' THEN void_api_key_id WHEN attempt > 0 THEN confirm_api_key_id
			ELSE api_key_id END AS api_key_id,
		CASE WHEN operation = 'void' THEN void_client_address WHEN attempt > 0 THEN confirm_client_address
			ELSE client_address END
			AS client_address, '' AS of_kind, 0 AS of_step, 0 AS of_attempt, account
		FROM transactions INDEXED BY transactions_open
			WHERE status IN ('processing', 'unknown') OR operation = 'void'
	UNION ALL SELECT 'capture', id, 0, transaction_id, merchant_id, live, amount, 0, currency, 0, updated_at, 0,
		api_key_id, client_address, '', 0, 0, account FROM captures WHERE state = 'pending'
	UNION ALL SELECT 'refund', id, 0, COALESCE(transaction_id, 0), merchant_id, live, amount, 0, currency, 0,
		updated_at, 0,
		api_key_id, client_address, '', 0, 0, account FROM refunds WHERE state = 'pending'
	UNION ALL SELECT 'reversal', id, 0, transaction_id, merchant_id, live, amount, held, currency, refused, since,
		due_at,
		0, '', kind, step_id, attempt, account FROM reversals`

// ofStepPage selects a page of unfinished steps.
const ofStepPage = ` AND (merchant_id, live, id) > (?1, ?2, ?3) AND (merchant_id, live) < (?4, ?5)
		ORDER BY merchant_id, live, id LIMIT ?6`

// endedAttempt is the condition of a row of step_attempts whose step has ended.
const endedAttempt = `NOT EXISTS (
		SELECT 1 FROM transactions t WHERE step_attempts.kind = 'authorize' AND t.id = step_attempts.object_id
			AND t.attempt = step_attempts.number AND t.status IN ('processing', 'unknown')
		UNION ALL SELECT 1 FROM transactions t WHERE step_attempts.kind = 'void' AND t.id = step_attempts.object_id
			AND t.operation_id = step_attempts.number AND t.operation = 'void'
		UNION ALL SELECT 1 FROM captures c
			WHERE step_attempts.kind = 'capture' AND c.id = step_attempts.object_id AND c.state = 'pending'
		UNION ALL SELECT 1 FROM refunds r
			WHERE step_attempts.kind = 'refund' AND r.id = step_attempts.object_id AND r.state = 'pending'
		UNION ALL SELECT 1 FROM reversals r WHERE step_attempts.kind = 'reversal' AND r.id = step_attempts.object_id)`

var recoverySQL = map[string]string{
	"saveReversal": `INSERT INTO reversals
			(kind, transaction_id, step_id, attempt, merchant_id, live, amount, currency, captured, held, asked, since,
				due_at, claim, account, tag, acquirer_id, last4, requested)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (kind, step_id, transaction_id, attempt) DO UPDATE SET held = MAX(reversals.held, excluded.held),
			claim = MAX(reversals.claim, excluded.claim), version = reversals.version + 1, looks = 0,
				requested = MAX(reversals.requested, excluded.requested),
				since = excluded.since, due_at = MIN(reversals.due_at, excluded.due_at),
				acquirer_id = CASE excluded.acquirer_id WHEN '' THEN reversals.acquirer_id ELSE excluded.acquirer_id END`,
	"postponeReversal": `UPDATE reversals SET held = ?, requested = ?, asked = ?, refused = ?, looks = ?,
		since = ?, due_at = ?, acquirer_id = ?, release = ?, release_tag = ?, version = version + 1
		WHERE id = ? AND version = ?`,
	"lockReversal": `UPDATE reversals SET requested = requested
		WHERE kind = ? AND step_id = ? AND transaction_id = ? AND attempt = ? RETURNING requested`,
	"endReversal": `DELETE FROM reversals WHERE id = ? AND version = ?`,
	"removeReversal": `DELETE FROM reversals WHERE kind = ? AND step_id = ? AND transaction_id = ?
		AND attempt = ? RETURNING claim`,
	"selectPendingReversals": `SELECT ` + columns.Reversal + `, ` + columns.LastAttempt + `, FALSE
		FROM reversals INDEXED BY reversals_by_tenant
			LEFT JOIN step_attempts a ON a.kind = 'reversal' AND object_id = id AND number = 0 WHERE TRUE` + ofStepPage,
	"beginAttempt": `INSERT INTO step_attempts (` + columns.Attempt + `)
			VALUES (?1, ?2, ?3, 1, 1, ?4, ?4, '')
		ON CONFLICT (kind, object_id, number) DO UPDATE
			SET attempts = step_attempts.attempts + 1, running = 1, begun_at = ?4
			WHERE step_attempts.running = 0 OR step_attempts.begun_at NOT BETWEEN ?5 AND ?6
		RETURNING attempts`,
	"scheduleAttempt": `UPDATE step_attempts SET next_at = ? WHERE kind = ? AND object_id = ? AND number = ?`,
	"failAttempt": `UPDATE step_attempts SET running = 0, last_error = ?
		WHERE kind = ? AND object_id = ? AND number = ?`,
	"resetAttempts": `UPDATE step_attempts SET attempts = 1, running = 0, next_at = 0, last_error = ''
		WHERE kind = ? AND object_id = ? AND number = ?`,
	"countMissing": `INSERT INTO missing_operations (reference, missing, process, looked, at)
			VALUES (?1, COALESCE((SELECT MAX(missing) FROM missing_operations WHERE reference = ?1), 0), ?2, ?3, ?4)
		ON CONFLICT (reference, process) DO UPDATE
			SET missing = MAX(excluded.missing, missing + MAX(?3 - looked, 0)), looked = MAX(looked, ?3), at = ?4
		RETURNING missing`,
	"keepFound": `UPDATE missing_operations SET at = MAX(at, ?2) WHERE reference = ?1 AND process = 0`,
	"insertFound": `INSERT INTO missing_operations (reference, missing, process, looked, at) VALUES (?1, 0, 0, 0, ?2)
		ON CONFLICT (reference, process) DO UPDATE SET at = MAX(at, excluded.at)`,
	"deleteOldMissing": `DELETE FROM missing_operations WHERE (reference, process) IN (
		SELECT reference, process FROM missing_operations WHERE at <= ? ORDER BY at LIMIT ?)`,
	"removeAttempt": `DELETE FROM step_attempts WHERE kind = ? AND object_id = ? AND number = ?`,
	"selectEndedAttempts": `SELECT kind, object_id, number FROM step_attempts
		WHERE (kind, object_id, number) > (?, ?, ?) AND ` + endedAttempt + ` ORDER BY kind, object_id, number LIMIT ?`,
	"removeEndedAttempt": `DELETE FROM step_attempts
		WHERE kind = ? AND object_id = ? AND number = ? AND ` + endedAttempt,
	// The unfinished steps of all kinds, with the columns that only reversals have: due_at and
	// the step that they reverse.
	"selectUnfinishedSteps": `SELECT s.kind, s.object_id, s.number, COALESCE(a.attempts, 0), COALESCE(a.running, 0),
		COALESCE(a.begun_at, 0),
				COALESCE(a.next_at, 0), COALESCE(a.last_error, ''), s.transaction_id, s.merchant_id, s.live, s.amount,
					s.held, s.currency, s.refused,
				s.since, s.due_at, s.api_key_id, s.client_address, s.of_kind, s.of_step, s.of_attempt, s.account
			FROM (
		` + openSteps + `) s
			LEFT JOIN step_attempts a ON a.kind = s.kind AND a.object_id = s.object_id AND a.number = s.number
			WHERE (?1 = '' OR ?1 = CASE WHEN ?3 = 0 AND s.kind = 'refund' AND s.transaction_id = 0 THEN 'credit'
					ELSE s.kind END)
				AND (?2 = 0 OR s.merchant_id = ?2)
				AND (?3 = 0 OR s.object_id = ?3 AND ?8 = CASE WHEN s.kind = 'authorize' AND s.number = 0 THEN 1
					ELSE s.number END)
				AND (s.since > ?4 OR s.since = ?4 AND (s.object_id > ?5 OR s.object_id = ?5 AND s.kind > ?6))
			ORDER BY s.since, s.object_id, s.kind LIMIT ?7`,
	"holdStep": `INSERT INTO step_attempts (` + columns.Attempt + `)
		VALUES (?1, ?2, ?3, 0, 0, ?4, ?4, '') ON CONFLICT (kind, object_id, number) DO UPDATE
			SET attempts = step_attempts.attempts`,
	"countRunningAttempts": `SELECT COUNT(*) FROM step_attempts WHERE running = 1 AND begun_at BETWEEN ?1 AND ?2 AND (
		kind = ?3 AND object_id = ?4 AND number = ?5
		OR kind = 'reversal' AND object_id IN (SELECT id FROM reversals WHERE kind = ?3 AND step_id = ?4))`,
	"countAttemptsAfter": `SELECT COUNT(*) FROM step_attempts
		WHERE attempts > 0 AND begun_at > ?4 AND (kind = ?1 AND object_id = ?2 AND number = ?3
		OR kind = 'reversal' AND object_id IN (SELECT id FROM reversals WHERE kind = ?1 AND step_id = ?2))`,
	"selectReversal": `SELECT ` + columns.Reversal + ` FROM reversals WHERE id = ?`,
	"lockUnfinishedAuthorization": `SELECT id FROM transactions WHERE id = ?1 AND attempt = ?2 AND status IN ('processing',
		'unknown')`,
	"lockUnfinishedVoid":     `SELECT id FROM transactions WHERE id = ?1 AND operation_id = ?2 AND operation = 'void'`,
	"lockUnfinishedCapture":  `SELECT id FROM captures WHERE id = ?1 AND ?2 = 0 AND state = 'pending'`,
	"lockUnfinishedRefund":   `SELECT id FROM refunds WHERE id = ?1 AND ?2 = 0 AND state = 'pending'`,
	"lockUnfinishedReversal": `SELECT id FROM reversals WHERE id = ?1 AND ?2 = 0`,
}
