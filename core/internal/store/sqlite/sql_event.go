package sqlite

import "github.com/causeway-pay/causeway/core/internal/store/columns"

var eventSQL = map[string]string{
	"selectAnnouncement": `SELECT event_id FROM announcements
		WHERE merchant_id = ? AND live = ? AND type = ? AND name = ?`,
	"countAnnouncements":     `SELECT COUNT(*) FROM announcements WHERE merchant_id = ? AND live = ? AND type = ?`,
	"insertAnnouncement":     `INSERT INTO announcements (merchant_id, live, type, name, event_id) VALUES (?, ?, ?, ?, ?)`,
	"selectNewestMerchantID": `SELECT COALESCE(MAX(id), 0) FROM merchants`,
	"insertBroadcast":        `INSERT INTO broadcasts (type, name, data, until, created_at) VALUES (?, ?, ?, ?, ?)`,
	"selectBroadcast":        `SELECT ` + columns.Broadcast + ` FROM broadcasts WHERE type = ? AND name = ?`,
	"moveBroadcast": `UPDATE broadcasts SET place = ?1, told = told + ?2,
			finished_at = CASE WHEN ?1 >= until AND NOT EXISTS (SELECT 1 FROM broadcast_failures f
				WHERE f.type = broadcasts.type AND f.name = broadcasts.name) THEN ?3 ELSE 0 END
		WHERE type = ?4 AND name = ?5 AND place = ?6 AND finished_at = 0`,
	"saveBroadcastFailure": `INSERT INTO broadcast_failures (type, name, merchant_id, due_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (type, name, merchant_id) DO UPDATE SET due_at = excluded.due_at`,
	"deleteBroadcastFailure": `DELETE FROM broadcast_failures WHERE type = ? AND name = ? AND merchant_id = ?`,
	"selectFailedRecipients": `SELECT merchant_id FROM broadcast_failures WHERE type = ? AND name = ?
		AND due_at NOT BETWEEN ? AND ? ORDER BY due_at, merchant_id LIMIT ?`,
	"selectOpenBroadcasts": `SELECT ` + columns.Broadcast + ` FROM broadcasts
		WHERE finished_at = 0 ORDER BY created_at`,
	"selectRecipients": `SELECT id FROM merchants WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`,
	"selectEvent":      `SELECT ` + columns.ShownEvent + ` FROM events WHERE id = ? AND merchant_id = ? AND live = ?`,
	"insertEvent":      `INSERT INTO events (` + columns.Event + `) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
	// One index, by tenant and id. Ids rise with time, and an event has a higher id than its
	// object. That bounds the rows that a list by time or by object reads.
	"listEvents": `SELECT ` + columns.ShownEvent + ` FROM events INDEXED BY events_by_tenant
		WHERE merchant_id = ?1 AND live = ?2 AND id >= MAX(?3 + 1, ?4) AND id < MIN(?5, ?12)
		AND created_at > ?6 AND created_at < ?7 AND (?8 = '' OR type = ?8)
		AND (?9 = 0 OR object_id = ?9 AND substr(type, 1, CAST(?10 AS INTEGER)) = ?11)
		ORDER BY id DESC LIMIT ?13`,
	"listEventsBefore": `SELECT ` + columns.ShownEvent + ` FROM events INDEXED BY events_by_tenant
		WHERE merchant_id = ?1 AND live = ?2 AND id > MAX(?3, ?4 - 1, ?12) AND id < ?5
		AND created_at > ?6 AND created_at < ?7 AND (?8 = '' OR type = ?8)
		AND (?9 = 0 OR object_id = ?9 AND substr(type, 1, CAST(?10 AS INTEGER)) = ?11)
		ORDER BY id LIMIT ?13`,
	"selectOldEvents":     `SELECT id, OCTET_LENGTH(data) FROM events WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
	"deleteOldEvents":     `DELETE FROM events WHERE id >= ? AND id <= ?`,
	"selectOldDeliveries": `SELECT id, 0 FROM webhook_deliveries WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
	"deleteOldDeliveries": `DELETE FROM webhook_deliveries WHERE id >= ? AND id <= ?`,
}
