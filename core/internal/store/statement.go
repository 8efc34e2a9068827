package store

import (
	"context"
	"database/sql"
	"fmt"
)

// statement is a prepared statement that lives as long as the connection or pool it was prepared on, which closes it.
type statement struct{ prepared *sql.Stmt }

func (s statement) row(ctx context.Context, args ...any) *sql.Row {
	return s.prepared.QueryRowContext(ctx, args...)
}

// each runs the query and hands every row to scan.
func (s statement) each(ctx context.Context, scan func(scanner) error, args ...any) error {
	rows, err := s.prepared.QueryContext(ctx, args...)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err below tells what went wrong
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("query: %w", err)
	}
	return nil
}
