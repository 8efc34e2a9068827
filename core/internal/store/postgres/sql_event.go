package postgres

import "github.com/causeway-pay/causeway/core/internal/store/columns"

var eventSQL = map[string]string{
	"selectAnnouncement": `SELECT event_id FROM announcements
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND type = $3::text AND name = $4::text`,
	"countAnnouncements": `SELECT COUNT(*) FROM announcements
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND type = $3::text`,
	"insertAnnouncement": `INSERT INTO announcements (merchant_id, live, type, name, event_id)
		VALUES ($1::bigint, $2::bigint, $3::text, $4::text, $5::bigint) ON CONFLICT DO NOTHING`,
	"selectNewestMerchantID": `SELECT COALESCE(MAX(id), 0) FROM merchants`,
	"insertBroadcast": `INSERT INTO broadcasts (type, name, data, until, created_at)
		VALUES ($1::text, $2::text, $3::bytea, $4::bigint, $5::bigint) ON CONFLICT DO NOTHING`,
	"selectBroadcast": `SELECT ` + columns.Broadcast + ` FROM broadcasts WHERE type = $1::text AND name = $2::text`,
	"moveBroadcast": `UPDATE broadcasts SET place = $1::bigint, told = told + $2::bigint,
			finished_at = CASE WHEN $1::bigint >= until AND NOT EXISTS (SELECT 1 FROM broadcast_failures f
				WHERE f.type = broadcasts.type AND f.name = broadcasts.name) THEN $3::bigint ELSE 0 END
		WHERE type = $4::text AND name = $5::text AND place = $6::bigint AND finished_at = 0`,
	"saveBroadcastFailure": `INSERT INTO broadcast_failures (type, name, merchant_id, due_at)
		VALUES ($1::text, $2::text, $3::bigint, $4::bigint)
		ON CONFLICT (type, name, merchant_id) DO UPDATE SET due_at = excluded.due_at`,
	"deleteBroadcastFailure": `DELETE FROM broadcast_failures WHERE type = $1::text AND name = $2::text
		AND merchant_id = $3::bigint`,
	"selectFailedRecipients": `SELECT merchant_id FROM broadcast_failures WHERE type = $1::text AND name = $2::text
		AND due_at NOT BETWEEN $3::bigint AND $4::bigint ORDER BY due_at, merchant_id LIMIT $5::bigint`,
	"selectOpenBroadcasts": `SELECT ` + columns.Broadcast + ` FROM broadcasts
		WHERE finished_at = 0 ORDER BY created_at`,
	"selectRecipients": `SELECT id FROM merchants WHERE id > $1::bigint AND id <= $2::bigint
		ORDER BY id LIMIT $3::bigint`,
	"selectEvent": `SELECT ` + columns.ShownEvent + ` FROM events
		WHERE id = $1::bigint AND merchant_id = $2::bigint AND live = $3::bigint`,
	// The lock keeps other commands from changing the endpoints of the merchant. It needs no separate
	// statement.
	"insertEvent": `INSERT INTO events (` + columns.Event + `)
		SELECT $1::bigint, $2::bigint, $3::bigint, $4::text, $5::bigint, $6::bigint, $7::text, $8::bigint
		FROM (SELECT pg_advisory_xact_lock_shared(hashtextextended('endpoints' || $2::bigint, 0))) AS held
		ON CONFLICT DO NOTHING`,
	"selectOldEvents": `SELECT id, OCTET_LENGTH(data) FROM events WHERE id > $1::bigint AND id < $2::bigint
		ORDER BY id LIMIT $3::bigint`,
	"deleteOldEvents": `DELETE FROM events WHERE id >= $1::bigint AND id <= $2::bigint`,
	"selectOldDeliveries": `SELECT id, 0 FROM webhook_deliveries WHERE id > $1::bigint AND id < $2::bigint
		ORDER BY id LIMIT $3::bigint`,
	"deleteOldDeliveries": `DELETE FROM webhook_deliveries WHERE id >= $1::bigint AND id <= $2::bigint`,
}
