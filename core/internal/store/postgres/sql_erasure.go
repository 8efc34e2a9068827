package postgres

var erasureSQL = map[string]string{
	// The condition on the type is, word for word, the condition of the index.
	"selectCustomerEvents": `SELECT id FROM events
		WHERE (substr(type, 1, 9) = 'customer.' OR substr(type, 1, 15) = 'payment_method.')
			AND object_id IN (SELECT $3::bigint UNION ALL SELECT id FROM payment_methods WHERE customer_id = $3::bigint)
			AND merchant_id = $1::bigint AND live = $2::bigint AND id > $4::bigint
		ORDER BY id LIMIT $5::bigint`,
	// It reads the events of one object after the other, and no more than it returns.
	"selectSomeCustomerEvents": `SELECT e.id
		FROM (SELECT $3::bigint AS id UNION ALL SELECT id FROM payment_methods WHERE customer_id = $3::bigint) AS o
		CROSS JOIN LATERAL (SELECT id FROM events
			WHERE (substr(type, 1, 9) = 'customer.' OR substr(type, 1, 15) = 'payment_method.')
				AND object_id = o.id AND merchant_id = $1::bigint AND live = $2::bigint LIMIT $4::bigint) AS e
		LIMIT $4::bigint`,
	"insertCustomerErasure": `INSERT INTO customer_erasures (customer_id, merchant_id, live, deleted_at, due_at,
		events_due_at, unannounced)
		VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint, $4::bigint, $5::bigint, 1)`,
	"lockUnannouncedDeletion": `SELECT customer_id FROM customer_erasures
		WHERE customer_id = $1::bigint AND unannounced = 1 FOR UPDATE`,
	"endUnannouncedDeletion": `UPDATE customer_erasures SET unannounced = 0 WHERE customer_id = $1::bigint`,
	"selectUnannouncedDeletions": `SELECT customer_id, merchant_id, live, deleted_at, due_at FROM customer_erasures
		WHERE unannounced = 1 AND customer_id > $1::bigint ORDER BY customer_id LIMIT $2::bigint`,
	"postponeCustomerEvents": `UPDATE customer_erasures SET events_due_at = $1::bigint WHERE customer_id = $2::bigint`,
	"selectPeriods": `SELECT DISTINCT keep_personal FROM merchants WHERE keep_personal IS NOT NULL
		ORDER BY keep_personal`,
	"selectErasure": `SELECT through FROM erasures WHERE name = $1::text AND days = $2::bigint`,
	"saveErasure": `INSERT INTO erasures (name, days, through) VALUES ($1::text, $2::bigint, $3::bigint)
		ON CONFLICT (name, days) DO UPDATE SET through = $3::bigint`,
	"lockErasure": `SELECT through FROM erasures WHERE name = $1::text AND days = $2::bigint FOR UPDATE`,
	"selectPaymentsOfCustomer": `SELECT transaction_id FROM transaction_terms
		WHERE merchant = $1::bigint AND is_live = $2::bigint AND kind = $3::bigint AND term = $4::text
			AND transaction_id > $5::bigint AND transaction_id < $6::bigint
		ORDER BY transaction_id LIMIT $7::bigint`,
	"deleteCustomerTerm": `DELETE FROM transaction_terms WHERE merchant = $1::bigint AND is_live = $2::bigint
		AND kind = $3::bigint AND term = $4::text AND transaction_id = $5::bigint`,
	"deleteCustomerErasure": `DELETE FROM customer_erasures
		WHERE customer_id = $1::bigint AND events_due_at = 0 AND unannounced = 0`,
	"postponeCustomerErasure": `UPDATE customer_erasures SET due_at = $1::bigint, deleted_at = LEAST(deleted_at,
		$2::bigint) WHERE customer_id = $3::bigint`,
	"selectErasedObjects": `SELECT merchant_id, live, MIN(object_id)
		FROM erased_objects GROUP BY merchant_id, live ORDER BY 1, 2`,
	"deleteErasedObjects": `DELETE FROM erased_objects WHERE merchant_id = $1::bigint AND live = $2::bigint
		AND object_id IN (
		SELECT object_id FROM erased_objects
			WHERE merchant_id = $1::bigint AND live = $2::bigint AND erased_at NOT BETWEEN $3::bigint AND $4::bigint
		ORDER BY object_id LIMIT $5::bigint)`,
	"queueParts": `INSERT INTO delayed_erasures (name, id, merchant_id, live, due_at, through)
		VALUES ($1::text, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bigint)
		ON CONFLICT (name, id) DO UPDATE SET due_at = excluded.due_at, through = excluded.through`,
	"lockErasedTransaction": `SELECT merchant_id, live, erased_at FROM transactions WHERE id = $1::bigint FOR UPDATE`,
	"lockParts":             `SELECT through FROM delayed_erasures WHERE name = $1::text AND id = $2::bigint FOR UPDATE`,
	"advanceParts":          `UPDATE delayed_erasures SET through = $1::bigint WHERE name = $2::text AND id = $3::bigint`,
	"endParts":              `DELETE FROM delayed_erasures WHERE name = $1::text AND id = $2::bigint`,
	"insertErasedParts": `INSERT INTO erased_objects (merchant_id, live, object_id, erased_at)
		SELECT $1::bigint, $2::bigint, id, $4::bigint FROM captures
			WHERE transaction_id = $3::bigint AND id > $5::bigint AND id <= $6::bigint
		UNION ALL SELECT $1::bigint, $2::bigint, id, $4::bigint FROM refunds
			WHERE transaction_id = $3::bigint AND id > $5::bigint AND id <= $6::bigint
				ON CONFLICT (merchant_id, live, object_id) DO UPDATE SET erased_at = excluded.erased_at`,
	// A transaction is open if it is unfinished, or a refund is younger than the second
	// parameter.
	"lockPaymentErasure": `SELECT merchant_id, live, payment_method,
			CASE WHEN (details::jsonb #>> '{bank_account}') IS NULL THEN 'card' ELSE 'bank_account' END,
			COALESCE((details::jsonb #>> '{customer}'), ''), COALESCE((waiting_details::jsonb #>> '{customer}'), ''),
			CASE WHEN ` + unfinishedPayment + `
				OR EXISTS (SELECT 1 FROM refunds WHERE refunds.transaction_id = transactions.id
					AND refunds.id >= $2::bigint)
			THEN 1 ELSE 0 END,
			CASE WHEN updated_at > created_at + $3::bigint THEN 1 ELSE 0 END,
			GREATEST(created_at, COALESCE((SELECT refunds.created_at FROM refunds
				WHERE refunds.transaction_id = transactions.id ORDER BY refunds.id DESC LIMIT 1), 0))
		FROM transactions WHERE id = $1::bigint FOR UPDATE`,
	"eraseTransaction": `UPDATE transactions SET erased_at = $1::bigint, payment_method = $2::text,
		waiting_method = NULL, waiting_details = NULL WHERE id = $3::bigint`,
	"setLastPaid": `UPDATE customers SET last_paid_at = $1::bigint
		WHERE id = $2::bigint AND merchant_id = $3::bigint AND live = $4::bigint AND deleted_at = 0
			AND last_paid_at < $1::bigint`,
	"deleteCustomerTerms": `DELETE FROM transaction_terms WHERE merchant = $1::bigint AND is_live = $2::bigint
		AND kind = $3::bigint AND term IN ($4::text, $5::text) AND transaction_id = $6::bigint`,
	"endDelay": `DELETE FROM delayed_erasures WHERE name = $1::text AND id = $2::bigint
		AND (due_at <= $3::bigint OR due_at > $4::bigint)`,
	"postponeErasure": `UPDATE delayed_erasures SET due_at = $1::bigint WHERE name = $2::text AND id = $3::bigint`,
	// A page of the due rows of a name, after the row with a due time and an id.
	"selectDelayedErasures": `SELECT due_at, id FROM delayed_erasures WHERE name = $4::text
		AND due_at <= $1::bigint AND due_at >= $2::bigint AND (due_at > $2::bigint OR id > $3::bigint)
			ORDER BY due_at, id LIMIT $5::bigint`,
	"insertErasedTransaction": `INSERT INTO erased_objects (merchant_id, live, object_id, erased_at)
		SELECT $1::bigint, $2::bigint, id, $4::bigint FROM transactions WHERE id = $3::bigint
			ON CONFLICT (merchant_id, live, object_id) DO UPDATE SET erased_at = excluded.erased_at`,
	// The tenants with a deleted customer that is due up to $1, or after $2.
	"selectErasing": `SELECT m.id, mode.live` + ofEachTenant + `
		WHERE (SELECT due_at FROM customer_erasures
				WHERE merchant_id = m.id AND live = mode.live AND due_at > 0
				ORDER BY due_at LIMIT 1) <= $1::bigint
			OR (SELECT due_at FROM customer_erasures
				WHERE merchant_id = m.id AND live = mode.live AND due_at > 0
				ORDER BY due_at DESC LIMIT 1) > $2::bigint`,
	"selectErasingByEvents": `SELECT m.id, mode.live` + ofEachTenant + `
		WHERE (SELECT events_due_at FROM customer_erasures
				WHERE merchant_id = m.id AND live = mode.live AND events_due_at > 0
				ORDER BY events_due_at LIMIT 1) <= $1::bigint
			OR (SELECT events_due_at FROM customer_erasures
				WHERE merchant_id = m.id AND live = mode.live AND events_due_at > 0
				ORDER BY events_due_at DESC LIMIT 1) > $2::bigint`,
	"selectDeletedCustomers": `SELECT customer_id, merchant_id, live, deleted_at, due_at FROM customer_erasures
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND due_at > 0 AND due_at <= $3::bigint
			AND due_at >= $4::bigint AND (due_at > $4::bigint OR customer_id > $5::bigint)
		ORDER BY due_at, customer_id LIMIT $6::bigint`,
	"selectDeletedCustomersByEvents": `SELECT customer_id, merchant_id, live, deleted_at, events_due_at
		FROM customer_erasures
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND events_due_at > 0 AND events_due_at <= $3::bigint
			AND events_due_at >= $4::bigint AND (events_due_at > $4::bigint OR customer_id > $5::bigint)
		ORDER BY events_due_at, customer_id LIMIT $6::bigint`,
	"lockPersonalTransactions": `SELECT id, 'transaction' AS kind, COALESCE(details, '') AS data, CASE
		WHEN client_address || confirm_client_address || void_client_address <> '' THEN 1 ELSE 0 END AS addressed
			FROM transactions WHERE id = $1::bigint FOR UPDATE`,
	"erasePersonalTransactions": `UPDATE transactions SET details = $1::text, client_address = '',
		confirm_client_address = '', void_client_address = '' WHERE id = $2::bigint`,
	"selectAgedTransactions": `SELECT id FROM transactions WHERE id > $1::bigint AND id < $2::bigint
		ORDER BY id LIMIT $3::bigint`,
	// The rows between two ids of the merchants with one period. Merchants without their own have
	// the period of the service.
	"selectDueTransactions": `SELECT id FROM transactions WHERE id > $1::bigint AND id <= $2::bigint
		AND (SELECT COALESCE(keep_personal, $3::bigint) FROM merchants
			WHERE merchants.id = transactions.merchant_id) = $4::bigint ORDER BY id`,
	"selectErasableTransactions": `SELECT id, merchant_id, live, 1 FROM transactions
		WHERE id > $1::bigint AND id < $2::bigint ORDER BY id LIMIT $3::bigint`,
	"delayTransactions": `INSERT INTO delayed_erasures (name, id, merchant_id, live, due_at)
		SELECT $1::text, id, merchant_id, live, $3::bigint FROM transactions WHERE id = $2::bigint
			ON CONFLICT (name, id) DO NOTHING`,
	"lockPersonalRefunds": `SELECT id, 'refund' AS kind, COALESCE(details, '') AS data, CASE WHEN client_address <> ''
		THEN 1 ELSE 0 END AS addressed FROM refunds WHERE id = $1::bigint AND transaction_id IS NULL FOR UPDATE`,
	"erasePersonalRefunds": `UPDATE refunds SET details = $1::text, client_address = '', customer = ''
		WHERE id = $2::bigint`,
	"selectAgedRefunds": `SELECT id FROM refunds WHERE id > $1::bigint AND id < $2::bigint
		ORDER BY id LIMIT $3::bigint`,
	"selectDueRefunds": `SELECT id FROM refunds WHERE id > $1::bigint AND id <= $2::bigint
		AND (SELECT COALESCE(keep_personal, $3::bigint) FROM merchants
			WHERE merchants.id = refunds.merchant_id) = $4::bigint ORDER BY id`,
	"selectErasableRefunds": `SELECT id, merchant_id, live, CASE WHEN transaction_id IS NULL THEN 1 ELSE 0 END
		FROM refunds WHERE id > $1::bigint AND id < $2::bigint ORDER BY id LIMIT $3::bigint`,
	"delayRefunds": `INSERT INTO delayed_erasures (name, id, merchant_id, live, due_at)
		SELECT $1::text, id, merchant_id, live, $3::bigint FROM refunds WHERE id = $2::bigint
			ON CONFLICT (name, id) DO NOTHING`,
	"lockPersonalEvents": `SELECT id, type AS kind, COALESCE(data, '') AS data, 0 AS addressed FROM events
		WHERE id = $1::bigint FOR UPDATE`,
	"erasePersonalEvents": `UPDATE events SET data = $1::text WHERE id = $2::bigint`,
	"selectAgedEvents": `SELECT id FROM events WHERE id > $1::bigint AND id < $2::bigint
		ORDER BY id LIMIT $3::bigint`,
	"selectDueEvents": `SELECT id FROM events WHERE id > $1::bigint AND id <= $2::bigint
		AND (SELECT COALESCE(keep_personal, $3::bigint) FROM merchants
			WHERE merchants.id = events.merchant_id) = $4::bigint ORDER BY id`,
	"selectErasableEvents": `SELECT id, merchant_id, live, 1 FROM events
		WHERE id > $1::bigint AND id < $2::bigint ORDER BY id LIMIT $3::bigint`,
	"delayEvents": `INSERT INTO delayed_erasures (name, id, merchant_id, live, due_at)
		SELECT $1::text, id, merchant_id, live, $3::bigint FROM events WHERE id = $2::bigint
			ON CONFLICT (name, id) DO NOTHING`,
	"lockPersonalCustomers": `SELECT id, '' AS kind, '' AS data, CASE WHEN client_address <> '' THEN 1
		ELSE 0 END AS addressed FROM customers WHERE id = $1::bigint FOR UPDATE`,
	"erasePersonalCustomers": `UPDATE customers SET client_address = '' WHERE id = $1::bigint`,
	"selectAgedCustomers": `SELECT id FROM customers WHERE id > $1::bigint AND id < $2::bigint
		ORDER BY id LIMIT $3::bigint`,
	"selectDueCustomers": `SELECT id FROM customers WHERE id > $1::bigint AND id <= $2::bigint
		AND (SELECT COALESCE(keep_personal, $3::bigint) FROM merchants
			WHERE merchants.id = customers.merchant_id) = $4::bigint ORDER BY id`,
	"selectErasableCustomers": `SELECT id, merchant_id, live, 1 FROM customers
		WHERE id > $1::bigint AND id < $2::bigint ORDER BY id LIMIT $3::bigint`,
	"delayCustomers": `INSERT INTO delayed_erasures (name, id, merchant_id, live, due_at)
		SELECT $1::text, id, merchant_id, live, $3::bigint FROM customers WHERE id = $2::bigint
			ON CONFLICT (name, id) DO NOTHING`,
	"lockPersonalMethods": `SELECT id, '' AS kind, '' AS data, CASE WHEN client_address <> '' THEN 1
		ELSE 0 END AS addressed FROM payment_methods WHERE id = $1::bigint FOR UPDATE`,
	"erasePersonalMethods": `UPDATE payment_methods SET client_address = '' WHERE id = $1::bigint`,
	"selectAgedMethods": `SELECT id FROM payment_methods WHERE id > $1::bigint AND id < $2::bigint
		ORDER BY id LIMIT $3::bigint`,
	"selectDueMethods": `SELECT id FROM payment_methods WHERE id > $1::bigint AND id <= $2::bigint
		AND (SELECT COALESCE(keep_personal, $3::bigint) FROM merchants
			WHERE merchants.id = payment_methods.merchant_id) = $4::bigint ORDER BY id`,
	"selectErasableMethods": `SELECT id, merchant_id, live, 1 FROM payment_methods
		WHERE id > $1::bigint AND id < $2::bigint ORDER BY id LIMIT $3::bigint`,
	"delayMethods": `INSERT INTO delayed_erasures (name, id, merchant_id, live, due_at)
		SELECT $1::text, id, merchant_id, live, $3::bigint FROM payment_methods WHERE id = $2::bigint
			ON CONFLICT (name, id) DO NOTHING`,
	"erasePersonalCaptures": `UPDATE captures SET details = $1::text, client_address = '' WHERE id = $2::bigint`,
	"countDelayedErasures": `SELECT id, merchant_id, live, CASE WHEN due_at <= $4::bigint OR due_at > $5::bigint THEN 1
		ELSE 0 END
		FROM delayed_erasures WHERE name = $6::text AND id > $1::bigint AND id < $2::bigint
			ORDER BY id LIMIT $3::bigint`,
	"countCustomerErasures": `SELECT customer_id, merchant_id, live,
			CASE WHEN due_at <= $4::bigint OR due_at > $5::bigint OR events_due_at BETWEEN 1 AND $4::bigint
				OR events_due_at > $6::bigint THEN 1 ELSE 0 END
		FROM customer_erasures WHERE customer_id > $1::bigint AND customer_id < $2::bigint
			ORDER BY customer_id LIMIT $3::bigint`,
	// The captures and refunds of a transaction after an id, created up to a time.
	"selectParts": `SELECT * FROM (SELECT id, 'capture' AS kind, COALESCE(details, '') AS data, CASE
		WHEN client_address <> '' THEN 1 ELSE 0 END AS addressed FROM captures
			WHERE transaction_id = $1::bigint AND id > $2::bigint AND created_at <= $3::bigint
				ORDER BY id LIMIT $4::bigint) AS of_captures
		UNION ALL SELECT * FROM (SELECT id, 'refund' AS kind, COALESCE(details, '') AS data, CASE
			WHEN client_address || customer <> '' THEN 1 ELSE 0 END AS addressed FROM refunds
			WHERE transaction_id = $1::bigint AND id > $2::bigint AND created_at <= $3::bigint
				ORDER BY id LIMIT $4::bigint) AS of_refunds ORDER BY id LIMIT $4::bigint`,
	// It reads events in the order of commit positions.
	"sweepEvents": `SELECT position, id, CASE WHEN EXISTS (SELECT 1 FROM erased_objects o
			WHERE o.merchant_id = events.merchant_id AND o.live = events.live AND o.object_id = events.object_id) THEN 1
				ELSE 0 END
		FROM events WHERE merchant_id = $1::bigint AND live = $2::bigint AND position >= COALESCE((SELECT position
			FROM events WHERE id < $3::bigint ORDER BY id DESC LIMIT 1), $4::bigint)
				ORDER BY position, id LIMIT $5::bigint`,
	"sweepEventsAfter": `SELECT position, id, CASE WHEN EXISTS (SELECT 1 FROM erased_objects o
			WHERE o.merchant_id = events.merchant_id AND o.live = events.live AND o.object_id = events.object_id) THEN 1
				ELSE 0 END
		FROM events WHERE merchant_id = $1::bigint AND live = $2::bigint AND (position, id) > ($4::bigint, $3::bigint)
			ORDER BY position, id LIMIT $5::bigint`,
}
