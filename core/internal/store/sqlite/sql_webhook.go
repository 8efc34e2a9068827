package sqlite

import "github.com/causeway-pay/causeway/core/internal/store/columns"

// stepQueues begins a statement on the endpoints with pending deliveries. It steps from endpoint to
// endpoint through the index, so a long queue of one endpoint costs the others no time.
const stepQueues = `WITH RECURSIVE step (endpoint) AS (
	SELECT MIN(endpoint_id) FROM webhook_deliveries INDEXED BY webhook_deliveries_due WHERE status = 'pending'
	UNION ALL
	SELECT (SELECT MIN(endpoint_id) FROM webhook_deliveries INDEXED BY webhook_deliveries_due
		WHERE status = 'pending' AND endpoint_id > step.endpoint) FROM step WHERE step.endpoint IS NOT NULL)
	`

// emptyEndpoint limits endpoints to the deleted ones without deliveries.
const emptyEndpoint = `status = 'deleted'
	AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.endpoint_id = webhook_endpoints.id)`

var webhookSQL = map[string]string{
	"insertDelivery": `INSERT INTO webhook_deliveries (id, endpoint_id, event_id, due_at, created_at, updated_at)
		VALUES (?1, ?2, ?3, ?4, ?4, ?4) ON CONFLICT DO NOTHING`,
	"listDeliveries": `SELECT ` + columns.Delivery + ` FROM webhook_deliveries WHERE endpoint_id = ?
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listDeliveriesBefore": `SELECT ` + columns.Delivery + ` FROM webhook_deliveries WHERE endpoint_id = ?
			AND id > ? ORDER BY id LIMIT ?`,
	"selectDelivery": `SELECT ` + columns.Delivery + ` FROM webhook_deliveries WHERE id = ?`,
	"selectWaitingEndpoints": stepQueues + `
		SELECT ` + columns.Endpoint + `, (SELECT MIN(due_at) FROM webhook_deliveries INDEXED BY webhook_deliveries_due
				WHERE status = 'pending' AND endpoint_id = webhook_endpoints.id)
			FROM step JOIN webhook_endpoints ON id = step.endpoint WHERE status = 'enabled'`,
	"leaseDelivery": `UPDATE webhook_deliveries SET leased = 1, core_id = ?, due_at = ?,
		attempts = attempts + 1, updated_at = ? WHERE id = ? AND status = 'pending' AND due_at <= ?
			RETURNING id, event_id, attempts, created_at`,
	"selectDueDeliveries": `SELECT due_at, id FROM webhook_deliveries INDEXED BY webhook_deliveries_due
		WHERE endpoint_id = ? AND status = 'pending' AND due_at <= ?
		AND (due_at, id) > (?, ?) ORDER BY due_at, id LIMIT ?`,
	"selectQueuePage": `SELECT due_at, id, updated_at FROM webhook_deliveries INDEXED BY webhook_deliveries_due
		WHERE endpoint_id = ? AND status = 'pending' AND due_at <= ?
		AND (due_at, id) > (?, ?) ORDER BY due_at, id LIMIT ?`,
	"hastenDelivery": `UPDATE webhook_deliveries SET leased = 0, core_id = 0, due_at = ?2, updated_at = ?2
		WHERE id = ?3 AND status = 'pending' AND due_at > ?1 AND updated_at > ?1`,
	"endDeliveryAttempt": `UPDATE webhook_deliveries SET leased = 0, core_id = 0, status = ?, due_at = ?,
		response_status = ?, error = ?, duration_ms = ?,
			attempted_at = ?, updated_at = ?
		WHERE id = ? AND attempts = ? AND leased = 1 AND status = 'pending'`,
	"releaseDeliveryAttempt": `UPDATE webhook_deliveries SET leased = 0, core_id = 0, due_at = ?1,
		attempts = attempts - 1, updated_at = ?1
		WHERE id = ?2 AND attempts = ?3 AND leased = 1 AND status = 'pending'`,
	"dropLeases": `UPDATE webhook_deliveries SET leased = 0, due_at = ?1, updated_at = ?1
		WHERE status = 'pending' AND leased = 1`,
	"dropLeasesOf": `UPDATE webhook_deliveries SET leased = 0, core_id = 0, due_at = ?1, updated_at = ?1
		WHERE status = 'pending' AND leased = 1 AND core_id = ?2`,
	"markEndpointFailing":  `UPDATE webhook_endpoints SET failing_since = ? WHERE id = ? AND failing_since = 0`,
	"clearEndpointFailing": `UPDATE webhook_endpoints SET failing_since = 0 WHERE id = ? AND failing_since <> 0`,
	"countPendingDeliveries": `SELECT COUNT(*), COALESCE(MIN(id), 0)
		FROM webhook_deliveries INDEXED BY webhook_deliveries_due WHERE status = 'pending'`,
	"insertEndpoint": `INSERT INTO webhook_endpoints (` + columns.Endpoint + `)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	"updateEndpoint": `UPDATE webhook_endpoints SET url = ?, types = ?, details = ?, status = ?, reason = ?,
		generation = ?, overlap_until = ?,
			failing_since = ?, version = ?, updated_at = ?
		WHERE id = ? AND merchant_id = ? AND live = ? AND version = ? AND status <> 'deleted'`,
	"deleteEmptyEndpoint": `DELETE FROM webhook_endpoints WHERE id = ? AND ` + emptyEndpoint,
	"countEndpoints": `SELECT COUNT(CASE WHEN status <> 'deleted' THEN 1 END),
			COUNT(CASE WHEN status = 'deleted' THEN 1 END)
		FROM webhook_endpoints WHERE merchant_id = ? AND live = ?`,
	"lockEndpoint": `SELECT ` + columns.Endpoint + ` FROM webhook_endpoints
		WHERE id = ? AND merchant_id = ? AND live = ? AND status <> 'deleted'`,
	"selectEndpoint": `SELECT ` + columns.Endpoint + ` FROM webhook_endpoints
		WHERE id = ? AND merchant_id = ? AND live = ? AND status <> 'deleted'`,
	"listEndpoints": `SELECT ` + columns.Endpoint + ` FROM webhook_endpoints
		WHERE merchant_id = ?1 AND live = ?2 AND status <> 'deleted' AND ` + metadataHas("?3") + `
			AND id < ? ORDER BY id DESC LIMIT ?`,
	"listEndpointsBefore": `SELECT ` + columns.Endpoint + ` FROM webhook_endpoints
		WHERE merchant_id = ?1 AND live = ?2 AND status <> 'deleted' AND ` + metadataHas("?3") + `
			AND id > ? ORDER BY id LIMIT ?`,
	"selectDeletedEndpoints": `SELECT id FROM webhook_endpoints WHERE status = 'deleted' ORDER BY id`,
	"selectEmptyEndpoints": `SELECT id FROM webhook_endpoints
		WHERE ` + emptyEndpoint + ` AND id > ? ORDER BY id LIMIT ?`,
	"deleteEmptyEndpoints": `DELETE FROM webhook_endpoints WHERE id >= ? AND id <= ? AND ` + emptyEndpoint,
	"selectDeliveriesTo":   `SELECT id FROM webhook_deliveries WHERE endpoint_id = ? AND id > ? ORDER BY id LIMIT ?`,
	"deleteDeliveriesTo":   `DELETE FROM webhook_deliveries WHERE endpoint_id = ? AND id >= ? AND id <= ?`,
	"selectQueues": stepQueues + `
		SELECT step.endpoint, COALESCE((SELECT merchant_id FROM webhook_endpoints WHERE id = step.endpoint), 0)
		FROM step WHERE step.endpoint IS NOT NULL`,
	"countQueue": `SELECT COUNT(*) FROM (SELECT 1 FROM webhook_deliveries INDEXED BY webhook_deliveries_due
		WHERE endpoint_id = ? AND status = 'pending' LIMIT ?) AS queue`,
	"failDeliveries": `UPDATE webhook_deliveries SET status = 'failed', error = ?1, response_status = 0,
			duration_ms = 0, attempted_at = ?2, updated_at = ?2
		WHERE endpoint_id = ?3 AND id >= ?4 AND id <= ?5 AND status = 'pending' AND leased = 0`,
	"selectTargets": `SELECT id, types FROM webhook_endpoints
		WHERE merchant_id = ? AND live = ? AND status = 'enabled' ORDER BY id`,
	// Materialized: if the subquery ran once for each row, its LIMIT would not bound the rows.
	"leaseDeliveries": `WITH due AS MATERIALIZED (SELECT id
		FROM webhook_deliveries INDEXED BY webhook_deliveries_due
			WHERE endpoint_id = ? AND status = 'pending' AND due_at <= ?
		AND (due_at, id) > (?, ?) ORDER BY due_at, id LIMIT ?)
		UPDATE webhook_deliveries SET leased = 1, core_id = ?, due_at = ?, attempts = attempts + 1, updated_at = ?
			WHERE id IN (SELECT id FROM due) RETURNING id, event_id, attempts, created_at`,
	"deletePendingDeliveriesTo": `WITH gone AS MATERIALIZED (
			SELECT id FROM webhook_deliveries INDEXED BY webhook_deliveries_due
				WHERE endpoint_id = ? AND status = 'pending' LIMIT ?)
		DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM gone)`,
	"deleteOtherDeliveriesTo": `WITH gone AS MATERIALIZED (
			SELECT id FROM webhook_deliveries INDEXED BY webhook_deliveries_by_endpoint WHERE endpoint_id = ? LIMIT ?)
		DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM gone)`,
}
