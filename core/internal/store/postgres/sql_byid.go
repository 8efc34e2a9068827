package postgres

import "github.com/causeway-pay/causeway/core/internal/store/columns"

var byIDSQL = map[string]string{
	"selectTransactions": byID(columns.Transaction, "transactions", "id", ""),
	"selectCaptures":     byID(columns.Capture, "captures", "id", ""),
	"selectCustomers":    byID(columns.Customer, "customers", "id", " AND deleted_at = 0"),
	"selectMethods":      byID(columns.Method, "payment_methods", "id", " AND detached_at = 0"),
	"selectTokens": byID(columns.Token+", NULL::bytea, 0::bigint, 0::bigint, 0::bigint, NULL::bytea", "tokens t", "t.id",
		""),
}

// byID returns a query for the rows of ids, in their order.
func byID(columns, table, id, condition string) string {
	return `SELECT ` + columns + ` FROM jsonb_array_elements_text($1::text::jsonb) WITH ORDINALITY AS ids(wanted, place)
		JOIN ` + table + ` ON ` + id + ` = wanted::bigint
		WHERE merchant_id = $2::bigint AND live = $3::bigint` + condition + ` ORDER BY place`
}
