package bare

import (
	"database/sql/driver"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
)

// made is what is one payment's own in a filling.
type made struct {
	transaction, capture, event int64
	merchant                    int64
	amount                      int64
	created                     int64 // milliseconds
	key                         string
}

// chance spreads n over [0, below), the same for the same n.
func chance(n, below int64) int64 {
	var b [16]byte
	Scatter(b[:], uint64(n)<<1) //nolint:gosec // payments are counted from 0
	var v int64
	for _, c := range b[:15] {
		v = v<<4 | int64(strings.IndexByte("0123456789abcdef", c))
	}
	return v % below
}

// make is payment n of the filling.
func (p *payment) make(n int, f Filling) *made {
	end := time.UnixMilli(p.transaction["created_at"].(int64)).Add(-time.Minute)
	created := end.Add(-f.Span + time.Duration(float64(n)/float64(f.Payments)*float64(f.Span)))
	// As the service draws them: time above, chance below; a capture and an event some moments later.
	first := id.At(created) + chance(int64(n), 1<<20)
	return &made{
		transaction: first, capture: first + 1<<21, event: first + 1<<21 + 1,
		merchant: p.transaction["merchant_id"].(int64) + chance(int64(n)+1<<40, int64(f.Merchants)),
		amount:   100 + chance(int64(n)+1<<41, 50_000), created: created.UnixMilli(), key: p.keyOf(int64(n) + 1<<42).(string),
	}
}

// varying says what a filling puts into which columns; the others are the template's.
var varying = map[string]map[string]func(*made) driver.Value{
	"transactions": {
		"id": transactionOf, "merchant_id": merchantOf, "amount": amountOf, "amount_authorized": amountOf, "amount_captured": amountOf,
		"amount_settled": amountOf, "created_at": createdOf, "updated_at": createdOf,
	},
	"captures": {
		"id": func(m *made) driver.Value { return m.capture }, "transaction_id": transactionOf, "merchant_id": merchantOf,
		"amount": amountOf, "settled": func(*made) driver.Value { return int64(1) }, "created_at": createdOf, "updated_at": createdOf,
	},
	"events": {
		"id": func(m *made) driver.Value { return m.event }, "object_id": transactionOf, "merchant_id": merchantOf, "created_at": createdOf,
	},
	terms: {"merchant": merchantOf, "transaction_id": transactionOf},
	"idempotency_keys": {
		"id":  func(*made) driver.Value { return nil }, // the next one
		"key": func(m *made) driver.Value { return m.key }, "merchant_id": merchantOf, "created_at": createdOf,
		"expires_at": func(m *made) driver.Value { return time.UnixMilli(m.created).AddDate(1, 0, 0).UnixMilli() },
	},
}

func transactionOf(m *made) driver.Value { return m.transaction }
func merchantOf(m *made) driver.Value    { return m.merchant }
func amountOf(m *made) driver.Value      { return m.amount }
func createdOf(m *made) driver.Value     { return m.created }

// columns are the row's, in a fixed order.
func (r Row) columns() []string { return slices.Sorted(maps.Keys(r)) }

// insertOf is the statement that inserts a whole row. The names come from the schema and stand in quotes.
func insertOf(table string, columns []string) string {
	return `INSERT INTO "` + table + `" ("` + strings.Join(columns, `", "`) + `") VALUES (?` + strings.Repeat(", ?", len(columns)-1) + `)`
}
