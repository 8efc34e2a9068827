package move

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// parsed is the column whose texts PostgreSQL reads as JSON, and so refuses the escape of U+0000 in too.
const parsed = "customers.details"

// escape matches each escape of a JSON text.
var escape = regexp.MustCompile(`\\(u0000|.)`)

// unfit is a text that PostgreSQL does not keep.
type unfit struct {
	of    *table
	place int // in its columns
	key   []any
	text  string
}

// name is for people.
func (u *unfit) name() string { return u.of.name + "." + u.of.columns[u.place].name }

// fitting is the text as it is kept.
func (u *unfit) fitting() string {
	out := strings.ReplaceAll(u.text, "\x00", "\ufffd")
	if u.name() != parsed {
		return out
	}
	return escape.ReplaceAllStringFunc(out, func(found string) string {
		if found == `\u0000` {
			return `\ufffd`
		}
		return found
	})
}

// clean has U+FFFD stand at the source where U+0000 does: services took that once, and PostgreSQL keeps it in no text. It is done at the source and
// not on the way, since such a text may be a part of a key, by whose order rows are moved.
func (m *Move) clean(ctx context.Context, within func(fn func() error) error) error {
	for _, t := range m.tables {
		found, err := m.source.unfit(ctx, t)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			continue
		}
		if err := within(func() error { return m.source.refit(ctx, found) }); err != nil {
			return err
		}
		m.cfg.Tell("%s: %d texts had U+0000, which PostgreSQL does not keep: it is U+FFFD now, at the source too", t.name, len(found))
	}
	return nil
}

// unfit looks through a table.
func (s *source) unfit(ctx context.Context, t *table) (out []*unfit, err error) {
	var conditions []string
	for _, c := range t.columns {
		if c.kind == text {
			conditions = append(conditions, "instr(CAST("+quoted(c.name)+" AS BLOB), x'00') > 0")
		}
		if t.name+"."+c.name == parsed {
			conditions = append(conditions, "instr("+quoted(c.name)+`, '\u0000') > 0`)
		}
	}
	if conditions == nil {
		return nil, nil
	}
	query := fmt.Sprintf("SELECT %s FROM %s WHERE %s", t.list(t.all(), "@", ", "), quoted(t.name), strings.Join(conditions, " OR "))
	err = s.each(ctx, func(scan func(...any) error) error {
		row, to := make([]any, len(t.columns)), make([]any, len(t.columns))
		for i := range row {
			to[i] = &row[i]
		}
		if err := scan(to...); err != nil {
			return fmt.Errorf("read the source: %w", err)
		}
		for i, c := range t.columns {
			value, _ := row[i].(string)
			u := &unfit{of: t, place: i, key: t.keyOf(row), text: value}
			if c.kind == text && u.fitting() != value {
				out = append(out, u)
			}
		}
		return nil
	}, query)
	return out, err
}

// refit writes texts as they are kept, but for one that has changed or gone meanwhile: the last pass, which is alone, finds that again.
func (s *source) refit(ctx context.Context, found []*unfit) error {
	var errs []error
	for _, u := range found {
		query := strings.NewReplacer("@t", quoted(u.of.name), "@c", quoted(u.of.columns[u.place].name), "@key", u.of.list(u.of.key, "@ = ?", " AND ")).
			Replace("UPDATE @t SET @c = ? WHERE @c = ? AND @key")
		if _, err := s.conn.ExecContext(ctx, query, append([]any{u.fitting(), u.text}, u.key...)...); err != nil {
			errs = append(errs, fmt.Errorf("%s of the row %v has U+0000, which PostgreSQL does not keep; change it: %w", u.name(), u.key, err))
		}
	}
	return errors.Join(errs...)
}
