package store

import (
	"context"
	"slices"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// list runs query, which ends in a WHERE clause, for one page.
func list[T any](ctx context.Context, db *DB, query string, p payment.Page, scan func(Scanner) (T, error), args ...any) (payment.List[T], error) {
	return listBy(ctx, db, "id", query, p, scan, args...)
}

// listBy is list for a query that finds its rows by another column that holds their ids.
func listBy[T any](ctx context.Context, db *DB, id, query string, p payment.Page, scan func(Scanner) (T, error), args ...any) (payment.List[T], error) {
	switch {
	case p.Before != 0:
		query += ` AND ` + id + ` > ? ORDER BY ` + id + ` LIMIT ?`
		args = append(args, p.Before)
	case p.After != 0:
		query += ` AND ` + id + ` < ? ORDER BY ` + id + ` DESC LIMIT ?`
		args = append(args, p.After)
	default:
		query += ` ORDER BY ` + id + ` DESC LIMIT ?`
	}
	rows, err := collect(ctx, db, query, scan, append(args, p.Limit+1)...)
	if err != nil {
		return payment.List[T]{}, err
	}
	l := payment.List[T]{Rows: rows, More: len(rows) > p.Limit}
	if l.More {
		l.Rows = rows[:p.Limit]
	}
	if p.Before != 0 {
		slices.Reverse(l.Rows)
	}
	return l, nil
}

func collect[T any](ctx context.Context, db *DB, query string, scan func(Scanner) (T, error), args ...any) ([]T, error) {
	s, err := db.query(ctx, query)
	if err != nil {
		return nil, err
	}
	var out []T
	err = s.Each(ctx, func(row Scanner) error {
		v, err := scan(row)
		out = append(out, v)
		return err
	}, args...)
	if err != nil {
		return nil, err
	}
	return out, nil
}
