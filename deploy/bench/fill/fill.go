package fill

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Copies describes the copies of the only payment of a store.
type Copies struct {
	Count     int
	Merchants int           // number of merchants, the merchant of the payment included
	Span      time.Duration // period of the copies, which ends a minute before the payment
}

// Statements runs SQL statements in one session, and returns the values of the only column of the
// result, one a line.
type Statements func(ctx context.Context, statements ...string) (string, error)

// engine is the part of SQL that differs between SQLite and PostgreSQL.
type engine struct {
	tables  []string // that have a row for each payment; a table follows the tables that it refers to
	columns string   // the query of the columns of the table %s, in their order
}

// The columns of copy n. The ids have core's form: the time in the high bits, a random number in
// the low bits. The rows after a transaction come a moment later. Both engines have the functions
// hashint8extended, which spreads a number by a seed, and md5.
const (
	made   = `({first} + n * {span} / {count})`
	drawn  = `((` + made + ` << 21) + (hashint8extended(n, 1) & 1048575))`
	after  = drawn + ` + 2097152`
	whose  = ` + (hashint8extended(n, 2) & 9223372036854775807) % {merchants}`
	amount = `100 + n % 50000`
	year   = ` + 31536000000`
)

// varying returns the values that differ, by table and column. All other values are the payment's.
// Each copy is captured and settled, and no key expires within a year. So core's housekeeping has
// no work, and the index of the keys, which grows in random order, has its full size.
var varying = map[string]map[string]string{
	"transactions": {
		"id": drawn, "merchant_id": `merchant_id` + whose, "amount": amount, "amount_authorized": amount,
		"amount_captured": amount,
		"amount_settled":  amount, "created_at": made, "updated_at": made,
	},
	"captures": {
		"id": after, "transaction_id": drawn, "merchant_id": `merchant_id` + whose, "amount": amount,
		"settled": `1`, "created_at": made,
		"updated_at": made, "captured_at": made,
	},
	"events": {
		"id": after + ` + 1`, "merchant_id": `merchant_id` + whose, "object_id": drawn, "place": `0`, "created_at": made,
	},
	"transaction_terms": {"merchant": `merchant` + whose, "term": `'order-' || n`, "transaction_id": drawn},
	"idempotency_keys": {
		"merchant_id": `merchant_id` + whose, "key": `md5('key' || n)`, "created_at": made, "expires_at": made + year,
	},
}

// deliveries are the columns of a delivery of a removed endpoint: core neither delivers nor purges
// it.
var deliveries = map[string]string{
	"id": after + ` + 2`, "endpoint_id": `1`, "event_id": after + ` + 1`, "status": `'succeeded'`,
	"attempts": `1`, "due_at": made,
	"response_status": `200`, "duration_ms": `20`, "attempted_at": made, "created_at": made, "updated_at": made,
}

// drawnByEngine is the only column that no copy sets: its number comes from the engine.
const drawnByEngine = "idempotency_keys.id"

// fill adds the copies to a store.
func (e engine) fill(ctx context.Context, run Statements, c Copies) error {
	now, err := run(ctx, "SELECT created_at FROM transactions")
	if err != nil {
		return err
	}
	var last int64
	if _, err := fmt.Sscan(now, &last); err != nil {
		return fmt.Errorf("the store must have one payment: %w", err)
	}
	end := time.UnixMilli(last).Add(-time.Minute)
	values := strings.NewReplacer(
		"{first}", fmt.Sprint(end.Add(-c.Span).UnixMilli()), "{span}", fmt.Sprint(c.Span.Milliseconds()),
		"{count}", fmt.Sprint(c.Count), "{merchants}", fmt.Sprint(c.Merchants),
	)
	for _, table := range e.tables {
		copies, err := e.copies(ctx, run, table)
		if err != nil {
			return err
		}
		only := "CREATE TEMPORARY TABLE first AS SELECT * FROM " + table // of webhook_deliveries it is empty
		if table == "events" {
			only += " ORDER BY id DESC LIMIT 1" // the others are events of the API key
		}
		_, err = run(ctx, only, values.Replace(copies), "DROP TABLE first")
		if err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
	}
	return nil
}

// copies returns the statement that inserts the copies into a table.
func (e engine) copies(ctx context.Context, run Statements, table string) (string, error) {
	if table == "webhook_deliveries" {
		var columns, values []string
		for c, value := range deliveries {
			columns, values = append(columns, c), append(values, value)
		}
		return insert(table, columns, values, "numbers"), nil
	}
	out, err := run(ctx, fmt.Sprintf(e.columns, table))
	if err != nil {
		return "", err
	}
	columns := slices.DeleteFunc(strings.Fields(out), func(c string) bool { return table+"."+c == drawnByEngine })
	values := slices.Clone(columns)
	for i, c := range columns {
		if other, ok := varying[table][c]; ok {
			values[i] = other
		}
	}
	return insert(table, columns, values, "first, numbers"), nil
}

// numbers is the table of the copies' numbers.
const numbers = `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})`

func insert(table string, columns, values []string, from string) string {
	return fmt.Sprintf(`INSERT INTO %s (%s) %s SELECT %s FROM %s`,
		table, strings.Join(columns, ", "), numbers, strings.Join(values, ", "), from)
}
