package postgres

import "github.com/causeway-pay/causeway/core/internal/store/columns"

// stepQueues begins a statement on the endpoints with pending deliveries. It steps from endpoint to
// endpoint through the index, so a long queue of one endpoint costs the others no time.
const stepQueues = `WITH RECURSIVE step (endpoint) AS (
	SELECT MIN(endpoint_id) FROM webhook_deliveries WHERE status = 'pending'
	UNION ALL
	SELECT (SELECT MIN(endpoint_id) FROM webhook_deliveries
		WHERE status = 'pending' AND endpoint_id > step.endpoint) FROM step WHERE step.endpoint IS NOT NULL)
	`

// emptyEndpoint limits endpoints to the deleted ones without deliveries.
const emptyEndpoint = `status = 'deleted'
	AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.endpoint_id = webhook_endpoints.id)`

var webhookSQL = map[string]string{
	"insertDelivery": `INSERT INTO webhook_deliveries (id, endpoint_id, event_id, due_at, created_at, updated_at)
		VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint, $4::bigint, $4::bigint) ON CONFLICT DO NOTHING`,
	"selectDelivery": `SELECT ` + columns.Delivery + ` FROM webhook_deliveries WHERE id = $1::bigint`,
	"selectWaitingEndpoints": stepQueues + `
		SELECT ` + columns.Endpoint + `, (SELECT MIN(due_at) FROM webhook_deliveries
				WHERE status = 'pending' AND endpoint_id = webhook_endpoints.id)
			FROM step JOIN webhook_endpoints ON id = step.endpoint WHERE status = 'enabled'`,
	"leaseDelivery": `UPDATE webhook_deliveries SET leased = 1, core_id = $1::bigint, due_at = $2::bigint,
		attempts = attempts + 1, updated_at = $3::bigint
			WHERE id = $4::bigint AND status = 'pending' AND due_at <= $5::bigint
				RETURNING id, event_id, attempts, created_at`,
	"selectDueDeliveries": `SELECT due_at, id FROM webhook_deliveries
		WHERE endpoint_id = $1::bigint AND status = 'pending' AND due_at <= $2::bigint
		AND (due_at, id) > ($3::bigint, $4::bigint) ORDER BY due_at, id LIMIT $5::bigint`,
	"selectQueuePage": `SELECT due_at, id, updated_at FROM webhook_deliveries
		WHERE endpoint_id = $1::bigint AND status = 'pending' AND due_at <= $2::bigint
		AND (due_at, id) > ($3::bigint, $4::bigint) ORDER BY due_at, id LIMIT $5::bigint`,
	"hastenDelivery": `UPDATE webhook_deliveries SET leased = 0, core_id = 0, due_at = $2::bigint,
		updated_at = $2::bigint WHERE id = $3::bigint AND status = 'pending' AND due_at > $1::bigint
			AND updated_at > $1::bigint`,
	"endDeliveryAttempt": `UPDATE webhook_deliveries SET leased = 0, core_id = 0, status = $1::text,
		due_at = $2::bigint, response_status = $3::bigint, error = $4::text, duration_ms = $5::bigint,
			attempted_at = $6::bigint, updated_at = $7::bigint
		WHERE id = $8::bigint AND attempts = $9::bigint AND leased = 1 AND status = 'pending'`,
	"releaseDeliveryAttempt": `UPDATE webhook_deliveries SET leased = 0, core_id = 0, due_at = $1::bigint,
		attempts = attempts - 1, updated_at = $1::bigint
		WHERE id = $2::bigint AND attempts = $3::bigint AND leased = 1 AND status = 'pending'`,
	"dropLeases": `UPDATE webhook_deliveries SET leased = 0, due_at = $1::bigint, updated_at = $1::bigint
		WHERE status = 'pending' AND leased = 1`,
	"dropLeasesOf": `UPDATE webhook_deliveries SET leased = 0, core_id = 0, due_at = $1::bigint,
		updated_at = $1::bigint
		WHERE status = 'pending' AND leased = 1 AND core_id = $2::bigint`,
	"markEndpointFailing": `UPDATE webhook_endpoints SET failing_since = $1::bigint
		WHERE id = $2::bigint AND failing_since = 0`,
	"clearEndpointFailing": `UPDATE webhook_endpoints SET failing_since = 0
		WHERE id = $1::bigint AND failing_since <> 0`,
	"countPendingDeliveries": `SELECT COUNT(*), COALESCE(MIN(id), 0) FROM webhook_deliveries WHERE status = 'pending'`,
	"insertEndpoint": `INSERT INTO webhook_endpoints (` + columns.Endpoint + `)
		VALUES ($1::bigint, $2::bigint, $3::bigint, $4::text, $5::text, $6::text, $7::text, $8::text, $9::bigint,
			$10::bigint, $11::bigint, $12::bigint, $13::bigint, $14::bigint) ON CONFLICT DO NOTHING`,
	"updateEndpoint": `UPDATE webhook_endpoints SET url = $1::text, types = $2::text, details = $3::text,
		status = $4::text, reason = $5::text, generation = $6::bigint, overlap_until = $7::bigint,
			failing_since = $8::bigint, version = $9::bigint, updated_at = $10::bigint
		WHERE id = $11::bigint AND merchant_id = $12::bigint AND live = $13::bigint AND version = $14::bigint
			AND status <> 'deleted'`,
	"deleteEmptyEndpoint": `DELETE FROM webhook_endpoints WHERE id = $1::bigint AND ` + emptyEndpoint,
	"countEndpoints": `SELECT COUNT(CASE WHEN status <> 'deleted' THEN 1 END),
			COUNT(CASE WHEN status = 'deleted' THEN 1 END)
		FROM webhook_endpoints WHERE merchant_id = $1::bigint AND live = $2::bigint`,
	"lockEndpoint": `SELECT ` + columns.Endpoint + ` FROM webhook_endpoints
		WHERE id = $1::bigint AND merchant_id = $2::bigint AND live = $3::bigint AND status <> 'deleted' FOR UPDATE`,
	"selectEndpoint": `SELECT ` + columns.Endpoint + ` FROM webhook_endpoints
		WHERE id = $1::bigint AND merchant_id = $2::bigint AND live = $3::bigint AND status <> 'deleted'`,
	"selectDeletedEndpoints": `SELECT id FROM webhook_endpoints WHERE status = 'deleted' ORDER BY id`,
	"selectEmptyEndpoints": `SELECT id FROM webhook_endpoints WHERE ` + emptyEndpoint + ` AND id > $1::bigint
		ORDER BY id LIMIT $2::bigint`,
	"deleteEmptyEndpoints": `DELETE FROM webhook_endpoints WHERE id >= $1::bigint AND id <= $2::bigint
		AND ` + emptyEndpoint,
	"selectDeliveriesTo": `SELECT id FROM webhook_deliveries
		WHERE endpoint_id = $1::bigint AND id > $2::bigint ORDER BY id LIMIT $3::bigint`,
	"deleteDeliveriesTo": `DELETE FROM webhook_deliveries WHERE endpoint_id = $1::bigint AND id >= $2::bigint
		AND id <= $3::bigint`,
	"selectQueues": stepQueues + `
		SELECT step.endpoint, COALESCE((SELECT merchant_id FROM webhook_endpoints WHERE id = step.endpoint), 0)
		FROM step WHERE step.endpoint IS NOT NULL`,
	"countQueue": `SELECT COUNT(*) FROM (SELECT 1 FROM webhook_deliveries
		WHERE endpoint_id = $1::bigint AND status = 'pending' LIMIT $2::bigint) AS queue`,
	"failDeliveries": `UPDATE webhook_deliveries SET status = 'failed', error = $1::text, response_status = 0,
			duration_ms = 0, attempted_at = $2::bigint, updated_at = $2::bigint
		WHERE endpoint_id = $3::bigint AND id >= $4::bigint AND id <= $5::bigint AND status = 'pending' AND leased = 0`,
	"selectTargets": `SELECT id, types FROM webhook_endpoints
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND status = 'enabled' ORDER BY id`,
	// Materialized: if the subquery ran once for each row, its LIMIT would not bound the rows.
	"leaseDeliveries": `WITH due AS MATERIALIZED (SELECT id FROM webhook_deliveries WHERE endpoint_id = $1::bigint
		AND status = 'pending' AND due_at <= $2::bigint
		AND (due_at, id) > ($3::bigint, $4::bigint)
			ORDER BY due_at, id LIMIT $5::bigint FOR UPDATE SKIP LOCKED)
		UPDATE webhook_deliveries SET leased = 1, core_id = $6::bigint, due_at = $7::bigint, attempts = attempts + 1,
			updated_at = $8::bigint WHERE id IN (SELECT id FROM due) RETURNING id, event_id, attempts, created_at`,
	// It skips rows that another command has locked: that command locks the endpoint next, so waiting
	// would be a deadlock.
	"deletePendingDeliveriesTo": `WITH gone AS MATERIALIZED (
			SELECT id FROM webhook_deliveries
				WHERE endpoint_id = $1::bigint AND status = 'pending' LIMIT $2::bigint FOR UPDATE SKIP LOCKED)
		DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM gone)`,
	"deleteOtherDeliveriesTo": `WITH gone AS MATERIALIZED (
			SELECT id FROM webhook_deliveries WHERE endpoint_id = $1::bigint LIMIT $2::bigint FOR UPDATE SKIP LOCKED)
		DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM gone)`,
}
