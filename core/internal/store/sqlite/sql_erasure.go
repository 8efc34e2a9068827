package sqlite

var erasureSQL = map[string]string{
	// The condition on the type is, word for word, the condition of the index.
	"selectCustomerEvents": `SELECT id FROM events INDEXED BY events_of_customers
		WHERE (substr(type, 1, 9) = 'customer.' OR substr(type, 1, 15) = 'payment_method.')
			AND object_id IN (SELECT ?3 UNION ALL SELECT id FROM payment_methods WHERE customer_id = ?3)
			AND merchant_id = ?1 AND live = ?2 AND id > ?4
		ORDER BY id LIMIT ?5`,
	// It reads the events of one object after the other, and no more than it returns.
	"selectSomeCustomerEvents": `SELECT e.id
		FROM (SELECT ?3 AS id UNION ALL SELECT id FROM payment_methods WHERE customer_id = ?3) AS o
		CROSS JOIN events AS e INDEXED BY events_of_customers
		WHERE (substr(e.type, 1, 9) = 'customer.' OR substr(e.type, 1, 15) = 'payment_method.')
			AND e.object_id = o.id AND e.merchant_id = ?1 AND e.live = ?2 LIMIT ?4`,
	"insertCustomerErasure": `INSERT INTO customer_erasures (customer_id, merchant_id, live, deleted_at, due_at,
		events_due_at, unannounced)
		VALUES (?1, ?2, ?3, ?4, ?4, ?5, 1)`,
	"lockUnannouncedDeletion": `SELECT customer_id FROM customer_erasures WHERE customer_id = ? AND unannounced = 1`,
	"endUnannouncedDeletion":  `UPDATE customer_erasures SET unannounced = 0 WHERE customer_id = ?`,
	"selectUnannouncedDeletions": `SELECT customer_id, merchant_id, live, deleted_at, due_at FROM customer_erasures
		WHERE unannounced = 1 AND customer_id > ? ORDER BY customer_id LIMIT ?`,
	"postponeCustomerEvents": `UPDATE customer_erasures SET events_due_at = ? WHERE customer_id = ?`,
	"selectPeriods": `SELECT DISTINCT keep_personal FROM merchants WHERE keep_personal IS NOT NULL
		ORDER BY keep_personal`,
	"selectErasure": `SELECT through FROM erasures WHERE name = ? AND days = ?`,
	"saveErasure": `INSERT INTO erasures (name, days, through) VALUES (?1, ?2, ?3)
		ON CONFLICT (name, days) DO UPDATE SET through = ?3`,
	"lockErasure": `SELECT through FROM erasures WHERE name = ? AND days = ?`,
	"selectPaymentsOfCustomer": `SELECT transaction_id FROM transaction_terms
		WHERE merchant = ? AND is_live = ? AND kind = ? AND term = ? AND transaction_id > ? AND transaction_id < ?
		ORDER BY transaction_id LIMIT ?`,
	"deleteCustomerTerm": `DELETE FROM transaction_terms WHERE merchant = ? AND is_live = ? AND kind = ? AND term = ?
		AND transaction_id = ?`,
	"deleteCustomerErasure": `DELETE FROM customer_erasures
		WHERE customer_id = ? AND events_due_at = 0 AND unannounced = 0`,
	"postponeCustomerErasure": `UPDATE customer_erasures SET due_at = ?1, deleted_at = MIN(deleted_at, ?2)
		WHERE customer_id = ?3`,
	"selectErasedObjects": `SELECT merchant_id, live, MIN(object_id)
		FROM erased_objects GROUP BY merchant_id, live ORDER BY 1, 2`,
	"deleteErasedObjects": `DELETE FROM erased_objects WHERE merchant_id = ?1 AND live = ?2 AND object_id IN (
		SELECT object_id FROM erased_objects WHERE merchant_id = ?1 AND live = ?2 AND erased_at NOT BETWEEN ?3 AND ?4
		ORDER BY object_id LIMIT ?5)`,
	"queueParts": `INSERT INTO delayed_erasures (name, id, merchant_id, live, due_at, through)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6)
		ON CONFLICT (name, id) DO UPDATE SET due_at = excluded.due_at, through = excluded.through`,
	"lockErasedTransaction": `SELECT merchant_id, live, erased_at FROM transactions WHERE id = ?`,
	"lockParts":             `SELECT through FROM delayed_erasures WHERE name = ? AND id = ?`,
	"advanceParts":          `UPDATE delayed_erasures SET through = ? WHERE name = ? AND id = ?`,
	"endParts":              `DELETE FROM delayed_erasures WHERE name = ? AND id = ?`,
	"insertErasedParts": `INSERT INTO erased_objects (merchant_id, live, object_id, erased_at)
		SELECT ?1, ?2, id, ?4 FROM captures WHERE transaction_id = ?3 AND id > ?5 AND id <= ?6
		UNION ALL SELECT ?1, ?2, id, ?4 FROM refunds WHERE transaction_id = ?3 AND id > ?5 AND id <= ?6
			ON CONFLICT (merchant_id, live, object_id) DO UPDATE SET erased_at = excluded.erased_at`,
	// A transaction is open if it is unfinished, or a refund is younger than the second
	// parameter.
	"lockPaymentErasure": `SELECT merchant_id, live, payment_method,
			CASE WHEN details ->> '$.bank_account' IS NULL THEN 'card' ELSE 'bank_account' END,
			COALESCE(details ->> '$.customer', ''), COALESCE(waiting_details ->> '$.customer', ''),
			CASE WHEN ` + unfinishedPayment + `
				OR EXISTS (SELECT 1 FROM refunds WHERE refunds.transaction_id = transactions.id AND refunds.id >= ?2)
			THEN 1 ELSE 0 END,
			CASE WHEN updated_at > created_at + ?3 THEN 1 ELSE 0 END,
			MAX(created_at, COALESCE((SELECT refunds.created_at FROM refunds
				WHERE refunds.transaction_id = transactions.id ORDER BY refunds.id DESC LIMIT 1), 0))
		FROM transactions WHERE id = ?1`,
	"eraseTransaction": `UPDATE transactions SET erased_at = ?, payment_method = ?, waiting_method = NULL,
		waiting_details = NULL WHERE id = ?`,
	"setLastPaid": `UPDATE customers SET last_paid_at = ?1
		WHERE id = ?2 AND merchant_id = ?3 AND live = ?4 AND deleted_at = 0 AND last_paid_at < ?1`,
	"deleteCustomerTerms": `DELETE FROM transaction_terms WHERE merchant = ? AND is_live = ? AND kind = ?
		AND term IN (?, ?) AND transaction_id = ?`,
	"endDelay":        `DELETE FROM delayed_erasures WHERE name = ? AND id = ? AND (due_at <= ? OR due_at > ?)`,
	"postponeErasure": `UPDATE delayed_erasures SET due_at = ? WHERE name = ? AND id = ?`,
	// A page of the due rows of a name, after the row with a due time and an id.
	"selectDelayedErasures": `SELECT due_at, id FROM delayed_erasures WHERE name = ?4
		AND due_at <= ?1 AND due_at >= ?2 AND (due_at > ?2 OR id > ?3) ORDER BY due_at, id LIMIT ?5`,
	"insertErasedTransaction": `INSERT INTO erased_objects (merchant_id, live, object_id, erased_at)
		SELECT ?1, ?2, id, ?4 FROM transactions WHERE id = ?3 ON CONFLICT (merchant_id, live, object_id) DO UPDATE
			SET erased_at = excluded.erased_at`,
	// The tenants with a deleted customer that is due up to ?1, or after ?2.
	"selectErasing": `SELECT m.id, mode.live` + ofEachTenant + `
		WHERE (SELECT due_at FROM customer_erasures INDEXED BY customer_erasures_due
				WHERE merchant_id = m.id AND live = mode.live AND due_at > 0
				ORDER BY due_at LIMIT 1) <= ?1
			OR (SELECT due_at FROM customer_erasures INDEXED BY customer_erasures_due
				WHERE merchant_id = m.id AND live = mode.live AND due_at > 0
				ORDER BY due_at DESC LIMIT 1) > ?2`,
	"selectErasingByEvents": `SELECT m.id, mode.live` + ofEachTenant + `
		WHERE (SELECT events_due_at FROM customer_erasures INDEXED BY customer_erasures_events_due
				WHERE merchant_id = m.id AND live = mode.live AND events_due_at > 0
				ORDER BY events_due_at LIMIT 1) <= ?1
			OR (SELECT events_due_at FROM customer_erasures INDEXED BY customer_erasures_events_due
				WHERE merchant_id = m.id AND live = mode.live AND events_due_at > 0
				ORDER BY events_due_at DESC LIMIT 1) > ?2`,
	"selectDeletedCustomers": `SELECT customer_id, merchant_id, live, deleted_at, due_at FROM customer_erasures
		WHERE merchant_id = ?1 AND live = ?2 AND due_at > 0 AND due_at <= ?3 AND due_at >= ?4
			AND (due_at > ?4 OR customer_id > ?5)
		ORDER BY due_at, customer_id LIMIT ?6`,
	"selectDeletedCustomersByEvents": `SELECT customer_id, merchant_id, live, deleted_at, events_due_at
		FROM customer_erasures
		WHERE merchant_id = ?1 AND live = ?2 AND events_due_at > 0 AND events_due_at <= ?3 AND events_due_at >= ?4
			AND (events_due_at > ?4 OR customer_id > ?5)
		ORDER BY events_due_at, customer_id LIMIT ?6`,
	"lockPersonalTransactions": `SELECT id, 'transaction' AS kind, COALESCE(details, '') AS data, CASE
		WHEN client_address || confirm_client_address || void_client_address <> '' THEN 1 ELSE 0 END AS addressed
			FROM transactions WHERE id = ?`,
	"erasePersonalTransactions": `UPDATE transactions SET details = ?, client_address = '', confirm_client_address = '',
		void_client_address = '' WHERE id = ?`,
	"selectAgedTransactions": `SELECT id FROM transactions WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
	// The rows between two ids of the merchants with one period. Merchants without their own have
	// the period of the service.
	"selectDueTransactions": `SELECT id FROM transactions WHERE id > ?1 AND id <= ?2
		AND (SELECT COALESCE(keep_personal, ?3) FROM merchants WHERE merchants.id = transactions.merchant_id) = ?4
			ORDER BY id`,
	"selectErasableTransactions": `SELECT id, merchant_id, live, 1 FROM transactions
		WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT ?3`,
	"delayTransactions": `INSERT INTO delayed_erasures (name, id, merchant_id, live, due_at)
		SELECT ?1, id, merchant_id, live, ?3 FROM transactions WHERE id = ?2 ON CONFLICT (name, id) DO NOTHING`,
	"lockPersonalRefunds": `SELECT id, 'refund' AS kind, COALESCE(details, '') AS data, CASE WHEN client_address <> ''
		THEN 1 ELSE 0 END AS addressed FROM refunds WHERE id = ? AND transaction_id IS NULL`,
	"erasePersonalRefunds": `UPDATE refunds SET details = ?, client_address = '', customer = '' WHERE id = ?`,
	"selectAgedRefunds":    `SELECT id FROM refunds WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
	"selectDueRefunds": `SELECT id FROM refunds WHERE id > ?1 AND id <= ?2
		AND (SELECT COALESCE(keep_personal, ?3) FROM merchants WHERE merchants.id = refunds.merchant_id) = ?4
			ORDER BY id`,
	"selectErasableRefunds": `SELECT id, merchant_id, live, CASE WHEN transaction_id IS NULL THEN 1 ELSE 0 END
		FROM refunds WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT ?3`,
	"delayRefunds": `INSERT INTO delayed_erasures (name, id, merchant_id, live, due_at)
		SELECT ?1, id, merchant_id, live, ?3 FROM refunds WHERE id = ?2 ON CONFLICT (name, id) DO NOTHING`,
	"lockPersonalEvents": `SELECT id, type AS kind, COALESCE(data, '') AS data, 0 AS addressed FROM events
		WHERE id = ?`,
	"erasePersonalEvents": `UPDATE events SET data = ? WHERE id = ?`,
	"selectAgedEvents":    `SELECT id FROM events WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
	"selectDueEvents": `SELECT id FROM events WHERE id > ?1 AND id <= ?2
		AND (SELECT COALESCE(keep_personal, ?3) FROM merchants WHERE merchants.id = events.merchant_id) = ?4
			ORDER BY id`,
	"selectErasableEvents": `SELECT id, merchant_id, live, 1 FROM events
		WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT ?3`,
	"delayEvents": `INSERT INTO delayed_erasures (name, id, merchant_id, live, due_at)
		SELECT ?1, id, merchant_id, live, ?3 FROM events WHERE id = ?2 ON CONFLICT (name, id) DO NOTHING`,
	"lockPersonalCustomers": `SELECT id, '' AS kind, '' AS data, CASE WHEN client_address <> '' THEN 1
		ELSE 0 END AS addressed FROM customers WHERE id = ?`,
	"erasePersonalCustomers": `UPDATE customers SET client_address = '' WHERE id = ?`,
	"selectAgedCustomers":    `SELECT id FROM customers WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
	"selectDueCustomers": `SELECT id FROM customers WHERE id > ?1 AND id <= ?2
		AND (SELECT COALESCE(keep_personal, ?3) FROM merchants WHERE merchants.id = customers.merchant_id) = ?4
			ORDER BY id`,
	"selectErasableCustomers": `SELECT id, merchant_id, live, 1 FROM customers
		WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT ?3`,
	"delayCustomers": `INSERT INTO delayed_erasures (name, id, merchant_id, live, due_at)
		SELECT ?1, id, merchant_id, live, ?3 FROM customers WHERE id = ?2 ON CONFLICT (name, id) DO NOTHING`,
	"lockPersonalMethods": `SELECT id, '' AS kind, '' AS data, CASE WHEN client_address <> '' THEN 1
		ELSE 0 END AS addressed FROM payment_methods WHERE id = ?`,
	"erasePersonalMethods": `UPDATE payment_methods SET client_address = '' WHERE id = ?`,
	"selectAgedMethods":    `SELECT id FROM payment_methods WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
	"selectDueMethods": `SELECT id FROM payment_methods WHERE id > ?1 AND id <= ?2
		AND (SELECT COALESCE(keep_personal, ?3) FROM merchants WHERE merchants.id = payment_methods.merchant_id) = ?4
			ORDER BY id`,
	"selectErasableMethods": `SELECT id, merchant_id, live, 1 FROM payment_methods
		WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT ?3`,
	"delayMethods": `INSERT INTO delayed_erasures (name, id, merchant_id, live, due_at)
		SELECT ?1, id, merchant_id, live, ?3 FROM payment_methods WHERE id = ?2 ON CONFLICT (name, id) DO NOTHING`,
	"erasePersonalCaptures": `UPDATE captures SET details = ?, client_address = '' WHERE id = ?`,
	"countDelayedErasures": `SELECT id, merchant_id, live, CASE WHEN due_at <= ?4 OR due_at > ?5 THEN 1 ELSE 0 END
		FROM delayed_erasures WHERE name = ?6 AND id > ?1 AND id < ?2 ORDER BY id LIMIT ?3`,
	"countCustomerErasures": `SELECT customer_id, merchant_id, live,
			CASE WHEN due_at <= ?4 OR due_at > ?5 OR events_due_at BETWEEN 1 AND ?4 OR events_due_at > ?6 THEN 1
				ELSE 0 END
		FROM customer_erasures WHERE customer_id > ?1 AND customer_id < ?2 ORDER BY customer_id LIMIT ?3`,
	// The captures and refunds of a transaction after an id, created up to a time.
	"selectParts": `SELECT * FROM (SELECT id, 'capture' AS kind, COALESCE(details, '') AS data, CASE
		WHEN client_address <> '' THEN 1 ELSE 0 END AS addressed FROM captures
			WHERE transaction_id = ?1 AND id > ?2 AND created_at <= ?3 ORDER BY id LIMIT ?4) AS of_captures
		UNION ALL SELECT * FROM (SELECT id, 'refund' AS kind, COALESCE(details, '') AS data, CASE
			WHEN client_address || customer <> '' THEN 1 ELSE 0 END AS addressed FROM refunds
			WHERE transaction_id = ?1 AND id > ?2 AND created_at <= ?3 ORDER BY id LIMIT ?4) AS of_refunds ORDER BY id
				LIMIT ?4`,
	"sweepEvents":      sweepEvents,
	"sweepEventsAfter": sweepEvents,
}

// sweepEvents serves the first page too: in a file the order of ids is the order of commits.
const sweepEvents = `SELECT 0, id, CASE WHEN EXISTS (SELECT 1 FROM erased_objects o
			WHERE o.merchant_id = events.merchant_id AND o.live = events.live AND o.object_id = events.object_id) THEN 1
				ELSE 0 END
		FROM events INDEXED BY events_by_tenant WHERE merchant_id = ?1 AND live = ?2 AND id > ?3 AND ?4 = ?4
			ORDER BY id LIMIT ?5`
