package postgres

import "github.com/causeway-pay/causeway/core/internal/store/columns"

var serviceSQL = map[string]string{
	"insertAuditRecord": `INSERT INTO audit_records (` + columns.Audit + `)
		VALUES ($1::bigint, $2::bigint, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text,
			$10::text, $11::bytea, $12::bytea) ON CONFLICT DO NOTHING`,
	"selectAuditHead": `SELECT sequence, mac FROM audit_records ORDER BY sequence DESC LIMIT 1`,
	"selectAuditRecords": `SELECT ` + columns.Audit + ` FROM audit_records WHERE sequence > $1::bigint
		ORDER BY sequence LIMIT $2::bigint`,
	"selectNewestAuditRecords": `SELECT ` + columns.Audit + ` FROM audit_records
		WHERE $1::bigint = 0 OR sequence < $1::bigint ORDER BY sequence DESC LIMIT $2::bigint`,
	"selectAuditHeadBefore": `SELECT sequence, mac FROM audit_records WHERE at < $1::bigint
		ORDER BY sequence DESC LIMIT 1`,
	"deleteAuditRecords": `DELETE FROM audit_records WHERE sequence <= $1::bigint`,
	// A smaller step replaces a larger one only once the time of the larger one is over.
	"saveConfirmedClock": `INSERT INTO confirmed_clock (id, at, behind, step, lag, lag_until, low_until, step_until)
		VALUES (1, $1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bigint, $7::bigint)
		ON CONFLICT (id) DO UPDATE SET at = $1::bigint, behind = $2::bigint, lag = $4::bigint, lag_until = $5::bigint,
			low_until = $6::bigint,
			step = CASE WHEN confirmed_clock.step > $3::bigint AND confirmed_clock.step_until > $1::bigint
				THEN confirmed_clock.step ELSE $3::bigint END,
			step_until = CASE WHEN confirmed_clock.step > $3::bigint AND confirmed_clock.step_until > $1::bigint
				THEN confirmed_clock.step_until ELSE $7::bigint END`,
	"raiseStep": `UPDATE confirmed_clock SET step = CASE WHEN step > $1::bigint THEN step
		ELSE $1::bigint END,
		step_until = CASE WHEN step_until > $2::bigint THEN step_until ELSE $2::bigint END`,
	"insertMLERequirement": `INSERT INTO mle_requirements (` + columns.MLERequirement + `)
		VALUES ($1::bigint, $2::text, $3::bigint, $4::bigint, 0) ON CONFLICT DO NOTHING`,
	"lockMLERequirement": `SELECT ` + columns.MLERequirement + ` FROM mle_requirements
		WHERE id = $1::bigint FOR UPDATE`,
	"withdrawMLERequirement": `UPDATE mle_requirements SET withdrawn_at = $1::bigint WHERE id = $2::bigint`,
	"selectMLERequirements":  `SELECT ` + columns.MLERequirement + ` FROM mle_requirements ORDER BY id`,
	"selectConfirmedClock":   `SELECT at, behind, step, lag, lag_until, low_until FROM confirmed_clock WHERE id = 1`,
	"writeProbe": `INSERT INTO store_probes (id, filler) VALUES (1, $1::bytea) ON CONFLICT (id) DO UPDATE
		SET filler = $1::bytea`,
	"selectPublic": `SELECT has_database_privilege('public', current_database(), 'CONNECT')`,
	"countProbes":  `SELECT COUNT(*) FROM store_probes`,
	// Empty: lists are in the order of commit positions, not of ids.
	"selectHighestID": "",
	"selectNewest": `SELECT name, id FROM (
			SELECT 'transactions' AS name, COALESCE((SELECT MAX(id) FROM transactions), 0) AS id
			UNION ALL SELECT 'captures', COALESCE((SELECT MAX(id) FROM captures), 0)
			UNION ALL SELECT 'refunds', COALESCE((SELECT MAX(id) FROM refunds), 0)
		) newest ORDER BY id DESC LIMIT 1`,
}
