package sqlite

import "github.com/causeway-pay/causeway/core/internal/store/columns"

var byIDSQL = map[string]string{
	"selectTransactions": byID(columns.Transaction, "transactions", "id", ""),
	"selectCaptures":     byID(columns.Capture, "captures", "id", ""),
	"selectCustomers":    byID(columns.Customer, "customers", "id", " AND deleted_at = 0"),
	"selectMethods":      byID(columns.Method, "payment_methods", "id", " AND detached_at = 0"),
	"selectTokens":       byID(columns.Token+", NULL, 0, 0, 0, NULL", "tokens t", "t.id", ""),
}

// byID returns a query for the rows of ids. CROSS JOIN makes SQLite read them in the order of the
// ids, without a sort.
func byID(columns, table, id, condition string) string {
	return `SELECT ` + columns + ` FROM (SELECT value AS wanted FROM json_each(?1)) CROSS JOIN ` + table + `
		ON ` + id + ` = wanted WHERE merchant_id = ?2 AND live = ?3` + condition
}
