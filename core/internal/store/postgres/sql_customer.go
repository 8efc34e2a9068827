package postgres

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
		VALUES ($1::bigint, $2::bigint, $3::bigint, $4::text, $5::bigint, $6::bigint, $7::bigint, $8::bigint,
			$9::text) ON CONFLICT DO NOTHING`,
	"updateCustomer": `UPDATE customers SET details = $1::text, default_method_id = $2::bigint,
		version = $3::bigint, updated_at = $4::bigint
		WHERE id = $5::bigint AND merchant_id = $6::bigint AND live = $7::bigint AND deleted_at = 0`,
	"deleteCustomer": `UPDATE customers SET details = '{}', client_address = '', deleted_at = $1::bigint,
		default_method_id = 0,
			version = $2::bigint, updated_at = $1::bigint
		WHERE id = $3::bigint AND merchant_id = $4::bigint AND live = $5::bigint AND deleted_at = 0
			AND version = $2::bigint - 1`,
	// A deleted customer does not exist.
	"selectCustomer": `SELECT ` + columns.Customer + ` FROM customers
		WHERE id = $1::bigint AND merchant_id = $2::bigint AND live = $3::bigint AND deleted_at = 0`,
	"lockCustomer": `SELECT ` + columns.Customer + ` FROM customers
		WHERE id = $1::bigint AND merchant_id = $2::bigint AND live = $3::bigint AND deleted_at = 0 FOR UPDATE`,
	"selectDeletedCustomer": `SELECT ` + columns.Customer + ` FROM customers
		WHERE id = $1::bigint AND deleted_at > 0`,
	"selectCustomerAges": `SELECT id, CASE WHEN updated_at < $4::bigint THEN 1 ELSE 0 END FROM customers
		WHERE merchant_id = $1::bigint AND live = $2::bigint AND deleted_at = 0 AND id > $3::bigint
			AND id < $5::bigint ORDER BY id LIMIT $6::bigint`,
	"selectActiveCustomer": `SELECT CASE WHEN EXISTS (SELECT 1 FROM customers WHERE id = $1::bigint
		AND (updated_at >= $2::bigint OR last_paid_at >= $2::bigint))
				OR EXISTS (SELECT 1 FROM payment_methods WHERE customer_id = $1::bigint AND (created_at >= $2::bigint
					OR detached_at >= $2::bigint))
				OR EXISTS (SELECT 1 FROM transaction_terms WHERE merchant = $3::bigint AND is_live = $4::bigint
					AND kind = $5::bigint AND term = $6::text
					AND transaction_id >= $7::bigint)
				OR EXISTS (SELECT 1 FROM transaction_terms JOIN transactions ON id = transaction_id
		WHERE merchant = $3::bigint AND is_live = $4::bigint AND kind = $5::bigint AND term = $6::text
			AND ` + unfinishedPayment + `)
				OR EXISTS (SELECT 1 FROM transaction_terms JOIN transactions ON id = transaction_id
		WHERE merchant = $3::bigint AND is_live = $4::bigint AND kind = $5::bigint AND term = $6::text
			AND EXISTS (SELECT 1 FROM refunds WHERE refunds.transaction_id = transactions.id
				AND refunds.id >= $7::bigint))
			THEN 1 ELSE 0 END`,
	"insertMethod": `INSERT INTO payment_methods
			(id, merchant_id, live, customer_id, kind, fingerprint, details, vault_key, number, created_at,
				api_key_id, client_address)
		SELECT $1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::text, $6::text, $7::text, $8::bigint, $9::bytea,
			$10::bigint, $12::bigint, $13::text
		WHERE (SELECT COUNT(*) FROM payment_methods WHERE customer_id = $4::bigint AND detached_at = 0) < $11::bigint`,
	"updateMethod": `UPDATE payment_methods SET details = $1::text
		WHERE id = $2::bigint AND merchant_id = $3::bigint AND live = $4::bigint AND detached_at = 0`,
	"replaceMethod": `UPDATE payment_methods SET kind = $1::text, fingerprint = $2::text, details = $3::text,
			vault_key = $4::bigint, number = $5::bytea
		WHERE id = $6::bigint AND merchant_id = $7::bigint AND live = $8::bigint AND detached_at = 0`,
	// Empty: an update writes a new version of the row, so it overwrites no bytes.
	"overwriteMethod": "",
	"detachMethod": `UPDATE payment_methods SET detached_at = $1::bigint, ` + emptyMethod + `
		WHERE id = $2::bigint AND merchant_id = $3::bigint AND live = $4::bigint AND detached_at = 0`,
	"overwriteMethods": "", // like overwriteMethod
	"detachMethods": `UPDATE payment_methods SET detached_at = $1::bigint, ` + emptyMethod + `
		WHERE customer_id = $2::bigint AND detached_at = 0`,
	"selectMethod": `SELECT ` + columns.Method + ` FROM payment_methods
		WHERE id = $1::bigint AND merchant_id = $2::bigint AND live = $3::bigint`,
	"lockMethod": `SELECT ` + columns.Method + ` FROM payment_methods
		WHERE id = $1::bigint AND merchant_id = $2::bigint AND live = $3::bigint FOR UPDATE`,
	// The condition on the type is, word for word, the condition of the index. The subquery is no
	// join, so it reads the index once for each payment method.
	"selectUnannouncedMethods": `SELECT ` + columns.Method + ` FROM payment_methods AS m
		WHERE customer_id = $1::bigint AND detached_at = $2::bigint AND (
			SELECT 1 FROM events WHERE object_id = m.id
				AND (substr(type, 1, 9) = 'customer.' OR substr(type, 1, 15) = 'payment_method.')
				AND type = 'payment_method.detached' LIMIT 1) IS NULL
		ORDER BY m.id LIMIT $3::bigint`,
}
