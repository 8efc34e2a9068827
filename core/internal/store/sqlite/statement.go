package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// statement is a prepared statement. It lives as long as the connection or pool that prepared it.
type statement struct{ prepared *sql.Stmt }

// row is the only row of a query.
type row struct{ *sql.Row }

// Scan implements store.Scanner.
func (r row) Scan(dest ...any) error { return explained(r.Row.Scan(dest...)) }

// rows are the rows of a query.
type rows struct{ *sql.Rows }

// Scan implements store.Scanner.
func (r rows) Scan(dest ...any) error { return explained(r.Rows.Scan(dest...)) }

// row returns the first row.
func (s statement) row(ctx context.Context, args ...any) store.Scanner {
	return row{s.prepared.QueryRowContext(ctx, args...)}
}

// each calls scan for every row, until scan fails or ctx ends.
func (s statement) each(ctx context.Context, scan func(store.Scanner) error, args ...any) error {
	found, err := s.prepared.QueryContext(ctx, args...)
	if err != nil {
		return fmt.Errorf("query: %w", explained(err))
	}
	defer func() { _ = found.Close() }() // found.Err returns its failure
	for found.Next() {
		if err := scan(rows{found}); errors.Is(err, store.ErrEnough) {
			return nil
		} else if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil { // database/sql closes the rows a moment later
			return fmt.Errorf("query: %w", err)
		}
	}
	if err := found.Err(); err != nil {
		return fmt.Errorf("query: %w", explained(err))
	}
	return nil
}
