package sqlite

import "github.com/causeway-pay/causeway/core/internal/store/columns"

// unfinishedPayment is the condition of a transaction that has a step without an outcome or a
// pending reversal, or that a payer can still confirm.
const unfinishedPayment = `(status IN ('processing', 'unknown', 'requires_confirmation', 'requires_action',
	'pending_review') OR operation <> ''
	OR amount_capture_pending > 0 OR amount_refund_pending > 0
	OR EXISTS (SELECT 1 FROM reversals WHERE reversals.transaction_id = transactions.id))`

// emptyMethod removes the number and the personal data of a payment method.
const emptyMethod = `number = NULL, details = '{}', fingerprint = '', client_address = ''`

var customerSQL = map[string]string{
	"insertCustomer": `INSERT INTO customers
		(id, merchant_id, live, details, version, created_at, updated_at, api_key_id, client_address)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	"updateCustomer": `UPDATE customers SET details = ?, default_method_id = ?, version = ?, updated_at = ?
		WHERE id = ? AND merchant_id = ? AND live = ? AND deleted_at = 0`,
	"deleteCustomer": `UPDATE customers SET details = '{}', client_address = '', deleted_at = ?1,
		default_method_id = 0,
			version = ?2, updated_at = ?1
		WHERE id = ?3 AND merchant_id = ?4 AND live = ?5 AND deleted_at = 0 AND version = ?2 - 1`,
	// A deleted customer does not exist.
	"selectCustomer": `SELECT ` + columns.Customer + ` FROM customers
		WHERE id = ? AND merchant_id = ? AND live = ? AND deleted_at = 0`,
	"lockCustomer": `SELECT ` + columns.Customer + ` FROM customers
		WHERE id = ? AND merchant_id = ? AND live = ? AND deleted_at = 0`,
	"selectDeletedCustomer": `SELECT ` + columns.Customer + ` FROM customers WHERE id = ? AND deleted_at > 0`,
	"selectCustomerAges": `SELECT id, CASE WHEN updated_at < ?4 THEN 1 ELSE 0 END FROM customers
		WHERE merchant_id = ?1 AND live = ?2 AND deleted_at = 0 AND id > ?3 AND id < ?5 ORDER BY id LIMIT ?6`,
	"selectActiveCustomer": `SELECT CASE WHEN EXISTS (SELECT 1 FROM customers WHERE id = ?1 AND (updated_at >= ?2
		OR last_paid_at >= ?2))
				OR EXISTS (SELECT 1 FROM payment_methods WHERE customer_id = ?1 AND (created_at >= ?2 OR detached_at >= ?2))
				OR EXISTS (SELECT 1 FROM transaction_terms WHERE merchant = ?3 AND is_live = ?4 AND kind = ?5 AND term = ?6
					AND transaction_id >= ?7)
				OR EXISTS (SELECT 1 FROM transaction_terms CROSS JOIN transactions ON id = transaction_id
		WHERE merchant = ?3 AND is_live = ?4 AND kind = ?5 AND term = ?6 AND ` + unfinishedPayment + `)
				OR EXISTS (SELECT 1 FROM transaction_terms CROSS JOIN transactions ON id = transaction_id
		WHERE merchant = ?3 AND is_live = ?4 AND kind = ?5 AND term = ?6 AND EXISTS (SELECT 1 FROM refunds
			WHERE refunds.transaction_id = transactions.id AND refunds.id >= ?7))
			THEN 1 ELSE 0 END`,
	"insertMethod": `INSERT INTO payment_methods
			(id, merchant_id, live, customer_id, kind, fingerprint, details, vault_key, number, created_at,
				api_key_id, client_address)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?12, ?13
		WHERE (SELECT COUNT(*) FROM payment_methods WHERE customer_id = ?4 AND detached_at = 0) < ?11`,
	"updateMethod": `UPDATE payment_methods SET details = ?
		WHERE id = ? AND merchant_id = ? AND live = ? AND detached_at = 0`,
	"replaceMethod": `UPDATE payment_methods SET kind = ?, fingerprint = ?, details = ?, vault_key = ?, number = ?
		WHERE id = ? AND merchant_id = ? AND live = ? AND detached_at = 0`,
	"overwriteMethod": `UPDATE payment_methods SET number = zeroblob(length(number))
		WHERE id = ? AND merchant_id = ? AND live = ? AND detached_at = 0`,
	"detachMethod": `UPDATE payment_methods SET detached_at = ?, ` + emptyMethod + `
		WHERE id = ? AND merchant_id = ? AND live = ? AND detached_at = 0`,
	"overwriteMethods": `UPDATE payment_methods SET number = zeroblob(length(number))
		WHERE customer_id = ? AND detached_at = 0`,
	"detachMethods": `UPDATE payment_methods SET detached_at = ?, ` + emptyMethod + `
		WHERE customer_id = ? AND detached_at = 0`,
	"selectMethod": `SELECT ` + columns.Method + ` FROM payment_methods
		WHERE id = ? AND merchant_id = ? AND live = ?`,
	"lockMethod": `SELECT ` + columns.Method + ` FROM payment_methods
		WHERE id = ? AND merchant_id = ? AND live = ?`,
	// The condition on the type is, word for word, the condition of the index.
	"selectUnannouncedMethods": `SELECT ` + columns.Method + ` FROM payment_methods AS m
		WHERE customer_id = ? AND detached_at = ? AND NOT EXISTS (
			SELECT 1 FROM events INDEXED BY events_of_customers WHERE object_id = m.id
				AND (substr(type, 1, 9) = 'customer.' OR substr(type, 1, 15) = 'payment_method.')
				AND type = 'payment_method.detached')
		ORDER BY m.id LIMIT ?`,
	"listMethods": `SELECT ` + columns.Method + ` FROM payment_methods
		WHERE customer_id = ?1 AND detached_at = 0 AND merchant_id = ?2 AND live = ?3 AND ?4 IN ('', fingerprint)
		AND ` + metadataHas("?5") + ` AND id < ? ORDER BY id DESC LIMIT ?`,
	"listMethodsBefore": `SELECT ` + columns.Method + ` FROM payment_methods
		WHERE customer_id = ?1 AND detached_at = 0 AND merchant_id = ?2 AND live = ?3 AND ?4 IN ('', fingerprint)
		AND ` + metadataHas("?5") + ` AND id > ? ORDER BY id LIMIT ?`,
	"listCustomers": `SELECT ` + columns.Customer + ` FROM customers
		WHERE merchant_id = ? AND live = ? AND deleted_at = 0
		AND id < ? ORDER BY id DESC LIMIT ?`,
	"listCustomersBefore": `SELECT ` + columns.Customer + ` FROM customers
		WHERE merchant_id = ? AND live = ? AND deleted_at = 0
		AND id > ? ORDER BY id LIMIT ?`,
	"listCustomersByMetadata": `SELECT ` + columns.Customer + ` FROM customers INDEXED BY customers_by_tenant
		WHERE merchant_id = ?1 AND live = ?2 AND deleted_at = 0 AND ` + metadataHas("?3") + `
		AND id < ? ORDER BY id DESC LIMIT ?`,
	"listCustomersByMetadataBefore": `SELECT ` + columns.Customer + ` FROM customers INDEXED BY customers_by_tenant
		WHERE merchant_id = ?1 AND live = ?2 AND deleted_at = 0 AND ` + metadataHas("?3") + `
		AND id > ? ORDER BY id LIMIT ?`,
	"listCustomersByReference": `SELECT ` + columns.Customer + ` FROM customers
		WHERE merchant_id = ?1 AND live = ?2 AND deleted_at = 0 AND details ->> '$.reference' = ?3
		AND ` + metadataHas("?4") + ` AND id < ? ORDER BY id DESC LIMIT ?`,
	"listCustomersByReferenceBefore": `SELECT ` + columns.Customer + ` FROM customers
		WHERE merchant_id = ?1 AND live = ?2 AND deleted_at = 0 AND details ->> '$.reference' = ?3
		AND ` + metadataHas("?4") + ` AND id > ? ORDER BY id LIMIT ?`,
	"listCustomersByEmail": `SELECT ` + columns.Customer + ` FROM customers
		WHERE merchant_id = ?1 AND live = ?2 AND deleted_at = 0 AND details ->> '$.email' = ?3
		AND ` + metadataHas("?4") + ` AND id < ? ORDER BY id DESC LIMIT ?`,
	"listCustomersByEmailBefore": `SELECT ` + columns.Customer + ` FROM customers
		WHERE merchant_id = ?1 AND live = ?2 AND deleted_at = 0 AND details ->> '$.email' = ?3
		AND ` + metadataHas("?4") + ` AND id > ? ORDER BY id LIMIT ?`,
	"listCustomersByReferenceAndEmail": `SELECT ` + columns.Customer + ` FROM customers
		WHERE merchant_id = ?1 AND live = ?2 AND deleted_at = 0 AND details ->> '$.reference' = ?3
			AND details ->> '$.email' = ?4 AND ` + metadataHas("?5") + `
		AND id < ? ORDER BY id DESC LIMIT ?`,
	"listCustomersByReferenceAndEmailBefore": `SELECT ` + columns.Customer + ` FROM customers
		WHERE merchant_id = ?1 AND live = ?2 AND deleted_at = 0 AND details ->> '$.reference' = ?3
			AND details ->> '$.email' = ?4 AND ` + metadataHas("?5") + `
		AND id > ? ORDER BY id LIMIT ?`,
}
