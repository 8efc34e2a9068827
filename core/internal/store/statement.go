package store

import (
	"context"
	"database/sql"
	"fmt"
)

// statement is a prepared statement that lives as long as the connection or pool it was prepared on, which closes it.
type statement struct{ prepared *sql.Stmt }

// Row implements Statement.
func (s statement) Row(ctx context.Context, args ...any) Scanner {
	return s.prepared.QueryRowContext(ctx, args...)
}

// Each implements Statement.
func (s statement) Each(ctx context.Context, scan func(Scanner) error, args ...any) error {
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
