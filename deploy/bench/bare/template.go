package bare

import (
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Template is the schema of a server, and the statements of one payment.
type Template struct {
	schema []string // CREATE statements, tables first
	intent, outcome,
	final []statement // final writes the rows of both together
}

// statement is an INSERT or UPDATE with the values of the learned payment.
type statement struct {
	text  string
	args  []driver.NamedValue
	vary  []variation
	ready driver.Stmt // nil until it is prepared
}

// variation changes an argument from payment to payment.
type variation struct {
	arg int
	nth func(n int64) any
}

func newTemplate(schema []string, tables []*table) (*Template, error) {
	t := &Template{schema: schema}
	ids := map[any]bool{}
	for _, of := range tables {
		for _, r := range of.final {
			ids[r["id"]] = true
		}
	}
	for _, of := range tables {
		if len(of.final) < len(of.intent) {
			return nil, fmt.Errorf("%w: %s lost rows", ErrUnseen, of.name)
		}
		for i, r := range of.final {
			t.final = append(t.final, of.insert(r, ids))
			if i >= len(of.intent) {
				t.outcome = append(t.outcome, of.insert(r, ids))
				continue
			}
			t.intent = append(t.intent, of.insert(of.intent[i], ids))
			if changed := r.changes(of.intent[i]); len(changed) > 0 {
				t.outcome = append(t.outcome, of.update(r["id"], changed, ids))
			}
		}
	}
	if len(t.intent) == 0 || len(t.outcome) == 0 {
		return nil, ErrUnseen
	}
	return t, nil
}

// insert returns the statement that inserts a row. It omits the columns that have their default.
func (t *table) insert(r row, ids map[any]bool) statement {
	columns := slices.DeleteFunc(slices.Sorted(maps.Keys(r)), func(c string) bool {
		standard, ok := t.defaults[c]
		return r[c] == nil || ok && fmt.Sprint(r[c]) == standard
	})
	text := fmt.Sprintf(`INSERT INTO "%s" (%s) VALUES (%s)`,
		t.name, strings.Join(columns, ", "), strings.Repeat(", ?", len(columns))[2:])
	return newStatement(text, columns, r, ids)
}

// update returns the statement that changes columns of the row with an id.
func (t *table) update(id any, changed row, ids map[any]bool) statement {
	columns := slices.Sorted(maps.Keys(changed))
	text := fmt.Sprintf(`UPDATE "%s" SET %s = ? WHERE id = ?`, t.name, strings.Join(columns, " = ?, "))
	changed["id"] = id
	return newStatement(text, append(columns, "id"), changed, ids)
}

func newStatement(text string, columns []string, r row, ids map[any]bool) statement {
	s := statement{text: text}
	for i, c := range columns {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1, Value: r[c]})
		if nth := vary(c, r[c], ids); nth != nil {
			s.vary = append(s.vary, variation{i, nth})
		}
	}
	return s
}

// counted is a bound for ids that a table counts up from 1. The ids of v1 are above it.
const counted = 1 << 32

// vary returns the value of a column in the n-th payment, or nil if it is the same in all.
// Payment 0 has the values of the real one. Ids rise, as in the service. Keys are as long as the
// real one and, like the keys of clients, in no order.
func vary(column string, value any, ids map[any]bool) func(n int64) any {
	switch v := value.(type) {
	case int64:
		switch {
		case v > counted && ids[v]:
			return func(n int64) any { return v + n<<10 }
		case v != 0 && v <= counted && (column == "id" || column == "claim"): // a claim is the id of a key
			return func(n int64) any { return v + n }
		}
	case string:
		if column == "key" {
			return func(n int64) any {
				if n == 0 {
					return v
				}
				key := []byte(v)
				Scatter(key, ^uint64(n)) //nolint:gosec // n is not negative; far from real keys, which count up from 1
				return string(key)
			}
		}
	}
	return nil
}

// Mix spreads n over all numbers of 64 bits. No two n have the same result.
func Mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15 // each of these steps is invertible
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// Scatter fills b with hexadecimal digits of Mix. With at least 16 bytes they differ for every n.
func Scatter(b []byte, n uint64) {
	const digits = "0123456789abcdef"
	n = Mix(n)
	for i := range b {
		b[i] = digits[n>>(4*(uint(i)%16))&15]
	}
}
