package move

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// kind is what a column holds.
type kind int

const (
	integer kind = iota
	text
	bytes
)

// casts are the kinds as PostgreSQL calls them.
var casts = map[kind]string{integer: "::bigint", text: "::text", bytes: "::bytea"}

// column is a column that both stores have.
type column struct {
	name string
	kind kind
}

// table is a table that both stores have.
type table struct {
	name    string
	columns []column
	key     []int    // the primary key, as places in columns
	refers  []string // the tables whose rows its rows need
	needed  bool     // some table's rows need its rows
	unique  [][]int  // what else no two rows have in common, as places in columns
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// list is the named columns, each put by format, with something between them.
func (t *table) list(places []int, format, between string) string {
	parts := make([]string, len(places))
	for i, p := range places {
		parts[i] = strings.ReplaceAll(format, "@", quoted(t.columns[p].name))
	}
	return strings.Join(parts, between)
}

func (t *table) all() []int {
	out := make([]int, len(t.columns))
	for i := range out {
		out[i] = i
	}
	return out
}

// rest is the columns that are not of the key.
func (t *table) rest() []int {
	return slices.DeleteFunc(t.all(), func(p int) bool { return slices.Contains(t.key, p) })
}

func (t *table) names() []string {
	out := make([]string, len(t.columns))
	for i, c := range t.columns {
		out[i] = c.name
	}
	return out
}

// keyOf is the key of a row.
func (t *table) keyOf(row []any) []any {
	out := make([]any, len(t.key))
	for i, p := range t.key {
		out[i] = row[p]
	}
	return out
}

// span is the rows behind one key, up to and with another; nil for no bound.
type span struct{ after, through []any }

// where is the condition of PostgreSQL's that a row of alias is in the span, and its arguments.
func (t *table) where(alias string, s span) (string, []any) {
	var conditions []string
	var args []any
	bound := func(op string, key []any) {
		if key == nil {
			return
		}
		values := make([]string, len(key))
		for i, v := range key {
			args = append(args, v)
			values[i] = fmt.Sprintf("$%d%s", len(args), casts[t.columns[t.key[i]].kind])
		}
		conditions = append(conditions, fmt.Sprintf("(%s) %s (%s)", t.list(t.key, alias+".@", ", "), op, strings.Join(values, ", ")))
	}
	bound(">", s.after)
	bound("<=", s.through)
	if conditions == nil {
		return "true", nil
	}
	return strings.Join(conditions, " AND "), args
}

// inOrder sorts tables so that each comes after those that it needs.
func inOrder(tables []*table) ([]*table, error) {
	var out []*table
	done := map[string]bool{}
	for len(out) < len(tables) {
		before := len(out)
		for _, t := range tables {
			if !done[t.name] && !slices.ContainsFunc(t.refers, func(r string) bool { return r != t.name && !done[r] }) {
				out, done[t.name] = append(out, t), true
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("the tables need each other in a circle, or one that is not there")
		}
	}
	return out, nil
}
