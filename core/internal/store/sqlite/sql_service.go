package sqlite

import "github.com/causeway-pay/causeway/core/internal/store/columns"

var serviceSQL = map[string]string{
	"insertAuditRecord": `INSERT INTO audit_records (` + columns.Audit + `)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	"selectAuditHead": `SELECT sequence, mac FROM audit_records ORDER BY sequence DESC LIMIT 1`,
	"selectAuditRecords": `SELECT ` + columns.Audit + ` FROM audit_records
		WHERE sequence > ? ORDER BY sequence LIMIT ?`,
	"selectNewestAuditRecords": `SELECT ` + columns.Audit + ` FROM audit_records WHERE ?1 = 0 OR sequence < ?1
		ORDER BY sequence DESC LIMIT ?2`,
	"selectAuditHeadBefore": `SELECT sequence, mac FROM audit_records WHERE at < ? ORDER BY sequence DESC LIMIT 1`,
	"deleteAuditRecords":    `DELETE FROM audit_records WHERE sequence <= ?`,
	// A smaller step replaces a larger one only once the time of the larger one is over.
	"saveConfirmedClock": `INSERT INTO confirmed_clock (id, at, behind, step, lag, lag_until, low_until, step_until)
		VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)
		ON CONFLICT (id) DO UPDATE SET at = ?1, behind = ?2, lag = ?4, lag_until = ?5, low_until = ?6,
			step = CASE WHEN confirmed_clock.step > ?3 AND confirmed_clock.step_until > ?1 THEN confirmed_clock.step
				ELSE ?3 END,
			step_until = CASE WHEN confirmed_clock.step > ?3 AND confirmed_clock.step_until > ?1
				THEN confirmed_clock.step_until ELSE ?7 END`,
	"raiseStep": `UPDATE confirmed_clock SET step = CASE WHEN step > ?1 THEN step ELSE ?1 END,
		step_until = CASE WHEN step_until > ?2 THEN step_until ELSE ?2 END`,
	"insertMLERequirement":   `INSERT INTO mle_requirements (` + columns.MLERequirement + `) VALUES (?, ?, ?, ?, 0)`,
	"lockMLERequirement":     `SELECT ` + columns.MLERequirement + ` FROM mle_requirements WHERE id = ?`,
	"withdrawMLERequirement": `UPDATE mle_requirements SET withdrawn_at = ? WHERE id = ?`,
	"selectMLERequirements":  `SELECT ` + columns.MLERequirement + ` FROM mle_requirements ORDER BY id`,
	"selectConfirmedClock":   `SELECT at, behind, step, lag, lag_until, low_until FROM confirmed_clock WHERE id = 1`,
	"writeProbe": `INSERT INTO store_probes (id, filler) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE
		SET filler = ?1`,
	"selectPublic": `SELECT FALSE`, // a file has the permissions of its folder
	"countProbes":  `SELECT COUNT(*) FROM store_probes`,
	"selectHighestID": `SELECT MAX(id) FROM (SELECT 0 AS id
			UNION ALL SELECT MAX(id) FROM merchants WHERE id < ?1
			UNION ALL SELECT MAX(id) FROM api_keys WHERE id < ?1
			UNION ALL SELECT MAX(id) FROM transactions WHERE id < ?1
			UNION ALL SELECT MAX(id) FROM captures WHERE id < ?1
			UNION ALL SELECT MAX(id) FROM refunds WHERE id < ?1
			UNION ALL SELECT MAX(id) FROM customers WHERE id < ?1
			UNION ALL SELECT MAX(id) FROM payment_methods WHERE id < ?1
			UNION ALL SELECT MAX(id) FROM events WHERE id < ?1
			UNION ALL SELECT MAX(id) FROM webhook_endpoints WHERE id < ?1
			UNION ALL SELECT MAX(id) FROM webhook_deliveries WHERE id < ?1)`,
	"selectNewest": `SELECT name, id FROM (
			SELECT 'transactions' AS name, COALESCE((SELECT MAX(id) FROM transactions), 0) AS id
			UNION ALL SELECT 'captures', COALESCE((SELECT MAX(id) FROM captures), 0)
			UNION ALL SELECT 'refunds', COALESCE((SELECT MAX(id) FROM refunds), 0)
		) newest ORDER BY id DESC LIMIT 1`,
}
