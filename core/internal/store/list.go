package store

import (
	"context"
	"fmt"
	"slices"
)

// Page is which part of a list is asked for. Lists are newest first; After and Before are ids, 0 for none, and exclude each other.
type Page struct {
	Limit  int
	After  int64 // the page begins after this id: older rows
	Before int64 // the page ends before this id: newer rows
}

// List is one page.
type List[T any] struct {
	Rows []T
	More bool // there are further rows in the direction asked for
}

// list runs query, which ends in a WHERE clause, for one page.
func list[T any](ctx context.Context, db *DB, query string, p Page, scan func(scanner) (T, error), args ...any) (List[T], error) {
	switch {
	case p.Before != 0:
		query += ` AND id > ? ORDER BY id LIMIT ?`
		args = append(args, p.Before)
	case p.After != 0:
		query += ` AND id < ? ORDER BY id DESC LIMIT ?`
		args = append(args, p.After)
	default:
		query += ` ORDER BY id DESC LIMIT ?`
	}
	rows, err := collect(ctx, db, query, scan, append(args, p.Limit+1)...)
	if err != nil {
		return List[T]{}, err
	}
	l := List[T]{Rows: rows, More: len(rows) > p.Limit}
	if l.More {
		l.Rows = rows[:p.Limit]
	}
	if p.Before != 0 {
		slices.Reverse(l.Rows)
	}
	return l, nil
}

func collect[T any](ctx context.Context, db *DB, query string, scan func(scanner) (T, error), args ...any) ([]T, error) {
	s, err := db.query(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err below tells what went wrong
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	return out, nil
}
