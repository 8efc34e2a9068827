package postgres

import (
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/store/columns"
)

// listing is a list without the conditions that all lists share: see position.go.
type listing struct {
	columns string
	from    string
	where   string // its parameters are the first ones
	params  int    // the number of its parameters
	table   string // of the cursor
	// position and id are the columns of the order.
	position, id string
}

// The conditions of all filters are in one text, so that few statements are prepared. Customers and
// references are found by their terms: an index for each other filter would cost every payment.
const transactionFilter = `created_at > $5::bigint AND created_at < $6::bigint
	AND ($7::text = '' OR status = ANY (string_to_array($7::text, ','))) AND ($8::text = '' OR currency = $8::text)
	AND ($9::bigint < 0 OR amount = $9::bigint)
	AND ($10::text = '' OR (details::jsonb #>> '{customer}') = $10::text)
	AND ($11::text = '' OR (details::jsonb #>> '{reference}') = $11::text)
	AND ($12::text = '' OR (details::jsonb #>> '{card,fingerprint}') = $12::text)
	AND ($14::text = '' OR ` + transactionSettlement + ` = ANY (string_to_array($14::text, ',')))
	AND `

// metadataHas returns the condition that the metadata of a row has all entries of a parameter, a
// JSON object.
func metadataHas(parameter string) string {
	return `(` + parameter + `::text = '{}' OR (details::jsonb -> 'metadata') @> ` + parameter + `::text::jsonb)`
}

// The conditions of the filters of captures and refunds.
var (
	captureFilter = metadataHas("$3") + ` AND ($4::text = '' OR $4::text = ` + captureSettlement + `)`
	refundFilter  = metadataHas("$3") + ` AND ($4::text = '' OR $4::text = ` + refundSettlement + `)`
)

// oldestPending is the position at which the tenant's refunds begin that have the state of
// settlement of a parameter.
func oldestPending(parameter string) string {
	return `CASE ` + parameter + `::text WHEN 'pending' THEN COALESCE((SELECT MIN(position) FROM refunds
		WHERE ` + ofTenant + ` AND settlement_day = 0 AND state <> 'failed'), 9223372036854775807) ELSE 0 END`
}

// ofTenant is the condition of the rows of a tenant.
const ofTenant = `merchant_id = $1::bigint AND live = $2::bigint`

var listSQL = pagesOf(map[string]listing{
	"listMerchants": {columns: columns.Merchant, from: "merchants", where: `id > 0`},
	"listKeys":      {columns: columns.Key, from: "api_keys", where: ofTenant, params: 2},
	"listMerchantKeys": {
		columns: columns.Key, from: "api_keys", where: `merchant_id = $1::bigint AND live IN (0, 1)`, params: 1,
	},
	"listTransactions": {columns: columns.Transaction, from: "transactions", where: ofTenant, params: 2},
	"listFilteredTransactions": {
		columns: columns.Transaction, from: "transactions",
		where: ofTenant + positionsOf("transactions", "position", "$3", "$4") + ` AND ` +
			transactionFilter + metadataHas("$13"),
		params: 14,
	},
	"listNamedTransactions": {
		columns: columns.Transaction, from: "transaction_terms JOIN transactions ON id = transaction_id",
		where: `merchant = $1::bigint AND is_live = $2::bigint AND kind = $15::bigint AND term = $16::text
			AND ` + ofTenant + positionsOf("transactions", "term_position", "$3", "$4") + ` AND ` +
			transactionFilter + metadataHas("$13"),
		params: 16, table: "transactions", position: "term_position", id: "transaction_id",
	},
	"listTransactionsOfDay": {
		columns: columns.Transaction, from: "transactions",
		where: ofTenant + ` AND id IN (SELECT transaction_id FROM captures
			WHERE ` + ofTenant + ` AND settlement_day = $15::bigint AND settlement_day > 0)
			AND id BETWEEN $3::bigint AND $4::bigint AND ` + transactionFilter + metadataHas("$13"),
		params: 15,
	},
	"listCaptures": {columns: columns.Capture, from: "captures", where: ofTenant, params: 2},
	"listFilteredCaptures": {
		columns: columns.Capture, from: "captures", where: ofTenant + ` AND ` + captureFilter, params: 4,
	},
	"listCapturesOfTransaction": {
		columns: columns.Capture, from: "captures",
		where: ofTenant + ` AND ` + captureFilter + `
			AND transaction_id = $5::bigint AND $6::bigint IN (0, settlement_day)`,
		params: 6,
	},
	"listCapturesOfDay": {
		columns: columns.Capture, from: "captures",
		where: ofTenant + ` AND ` + captureFilter + ` AND settlement_day = $5::bigint AND settlement_day > 0`, params: 5,
	},
	"listRefunds": {columns: columns.Refund, from: "refunds", where: ofTenant, params: 2},
	"listFilteredRefunds": {
		columns: columns.Refund, from: "refunds",
		where: ofTenant + ` AND ` + refundFilter + ` AND position >= ` + oldestPending("$4"), params: 4,
	},
	"listRefundsOfTransaction": {
		columns: columns.Refund, from: "refunds",
		where: ofTenant + ` AND ` + refundFilter + ` AND transaction_id = $5::bigint
			AND $6::bigint IN (0, settlement_day) AND $7::text IN ('', customer)`,
		params: 7,
	},
	"listRefundsOfDay": {
		columns: columns.Refund, from: "refunds",
		where: ofTenant + ` AND ` + refundFilter + ` AND settlement_day = $5::bigint AND settlement_day > 0
			AND $6::text IN ('', customer)`,
		params: 6,
	},
	"listRefundsOfCustomer": {
		columns: columns.Refund, from: "refunds",
		where: ofTenant + ` AND ` + refundFilter + ` AND customer = $5::text AND customer <> ''`, params: 5,
	},
	"listCustomers": {
		columns: columns.Customer, from: "customers", where: ofTenant + ` AND deleted_at = 0`, params: 2,
	},
	"listCustomersByMetadata": {
		columns: columns.Customer, from: "customers",
		where:  ofTenant + ` AND deleted_at = 0 AND ` + metadataHas("$3"),
		params: 3,
	},
	"listCustomersByReference": {
		columns: columns.Customer, from: "customers",
		where: ofTenant + ` AND deleted_at = 0 AND (details::jsonb #>> '{reference}') = $3::text AND ` +
			metadataHas("$4"),
		params: 4,
	},
	"listCustomersByEmail": {
		columns: columns.Customer, from: "customers",
		where: ofTenant + ` AND deleted_at = 0 AND (details::jsonb #>> '{email}') = $3::text AND ` +
			metadataHas("$4"),
		params: 4,
	},
	"listCustomersByReferenceAndEmail": {
		columns: columns.Customer, from: "customers",
		where: ofTenant + ` AND deleted_at = 0 AND (details::jsonb #>> '{reference}') = $3::text
			AND (details::jsonb #>> '{email}') = $4::text AND ` + metadataHas("$5"),
		params: 5,
	},
	"listMethods": {
		columns: columns.Method, from: "payment_methods",
		where: `customer_id = $1::bigint AND detached_at = 0 AND merchant_id = $2::bigint AND live = $3::bigint
			AND $4::text IN ('', fingerprint) AND ` + metadataHas("$5"),
		params: 5,
	},
	// An id bounds the positions, with a day of slack for clocks.
	"listEvents": {
		columns: columns.ShownEvent, from: "events",
		where: ofTenant + ` AND position >= ` + positionAt("events", "$3::bigint - 1") +
			positionsOf("events", "position", "($4::bigint - 181193932800000)", "$5") + `
			AND created_at > $6::bigint AND created_at < $7::bigint AND ($8::text = '' OR type = $8::text)
			AND ($9::bigint = 0 OR object_id = $9::bigint
				AND substr(type, 1, CAST($10::bigint AS INTEGER)) = $11::text)`,
		params: 11,
	},
	"listEndpoints": {
		columns: columns.Endpoint, from: "webhook_endpoints",
		where:  ofTenant + ` AND status <> 'deleted' AND ` + metadataHas("$3"),
		params: 3,
	},
	"listDeliveries": {
		columns: columns.Delivery, from: "webhook_deliveries", where: `endpoint_id = $1::bigint`, params: 1,
	},
})

// pagesOf returns the two statements of each list. They read the rows on either side of a cursor,
// nearest first.
func pagesOf(lists map[string]listing) map[string]string {
	out := map[string]string{}
	for name, l := range lists {
		if l.table == "" {
			l.table, l.position, l.id = l.from, "position", "id"
		}
		cursor, limit, until := l.params+1, l.params+2, l.params+3
		begin := fmt.Sprintf(`SELECT %s, CASE WHEN %s < %s THEN 0 ELSE 1 END FROM %s WHERE %s
			AND %s < GREATEST($%d::bigint, %s)`,
			l.columns, l.position, settledMark, l.from, l.where, l.position, until, settledMark)
		of := positionOf(l.table, fmt.Sprintf("$%d::bigint", cursor))
		out[name] = begin + fmt.Sprintf(`
			AND (%[1]s, %[2]s) < (CASE WHEN $%[3]d::bigint = 9223372036854775807 THEN 9223372036854775807 ELSE %[4]s END,
				$%[3]d::bigint)
			ORDER BY %[1]s DESC, %[2]s DESC LIMIT $%[5]d::bigint`, l.position, l.id, cursor, of, limit)
		out[name+"Before"] = begin + fmt.Sprintf(`
			AND (%[1]s, %[2]s) > (%[4]s, $%[3]d::bigint)
			ORDER BY %[1]s, %[2]s LIMIT $%[5]d::bigint`, l.position, l.id, cursor, of, limit)
	}
	return out
}

// positionOf is an expression for the commit position of the row of an id. The row may have been
// removed: see removed_positions in the schema. Rows of other tables are removed oldest first. The
// position of such a row is that of the row before it, or 0: all rows that are left are newer.
func positionOf(table, id string) string {
	if table != "transactions" && table != "webhook_endpoints" {
		return positionAt(table, id)
	}
	return `COALESCE((SELECT position FROM removed_positions WHERE source = '` + table + `' AND id = ` + id + `),
		` + positionAt(table, id) + `)`
}

// positionAt is an expression for the commit position of the row of an id, or of the row before it.
func positionAt(table, id string) string {
	return `COALESCE((SELECT position FROM ` + table + ` WHERE id <= ` + id + ` ORDER BY id DESC LIMIT 1), 0)`
}

// positionsOf bounds a column of commit positions by the rows before one id and after another.
func positionsOf(table, column, first, last string) string {
	return ` AND ` + column + ` >= COALESCE((SELECT position FROM ` + table + ` WHERE id < ` + first + `::bigint
			ORDER BY id DESC LIMIT 1), 0)
		AND ` + column + ` <= COALESCE((SELECT position FROM ` + table + ` WHERE id > ` + last + `::bigint
			ORDER BY id LIMIT 1), 9223372036854775807)`
}
