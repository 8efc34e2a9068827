package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// query is a read outside of commands. It reads from the primary: decisions must not rest on old data.
type query struct {
	e    *engine
	text string
}

// fail implements failer.
func (q query) fail(what string, err error) error { return fmt.Errorf("%s: %w", what, came(err)) }

// Row implements store.Engine. Each connection prepares its statements itself.
func (e *engine) Row(ctx context.Context, s *store.Statement, args ...any) store.Scanner {
	return query{e, e.sql[s]}.row(ctx, args...)
}

// Each implements store.Engine.
func (e *engine) Each(
	ctx context.Context, s *store.Statement, scan func(store.Scanner) error, args ...any,
) error {
	values, err := arguments(args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.patience)
	defer cancel()
	q := query{e, e.sql[s]}
	rows, err := e.read.Query(ctx, q.text, values...)
	err = each(rows, err, q, scan)
	if e.prepareAnew(err) { // the error comes before the first row
		rows, err = e.read.Query(ctx, q.text, values...)
		err = each(rows, err, q, scan)
	}
	return explain(err)
}

// row returns the first row.
func (q query) row(ctx context.Context, args ...any) store.Scanner { return asked{q, ctx, args} }

// asked is a row that is read when it is scanned.
type asked struct {
	query
	ctx  context.Context //nolint:containedctx // it is the caller's, who scans at once
	args []any
}

// Scan implements store.Scanner.
func (a asked) Scan(dest ...any) error {
	values, err := arguments(a.args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), a.e.patience) // to give up halfway costs the connection
	defer cancel()
	err = columns{a.e.read.QueryRow(ctx, a.text, values...), a}.Scan(dest...)
	if a.e.prepareAnew(err) {
		err = columns{a.e.read.QueryRow(ctx, a.text, values...), a}.Scan(dest...)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return explain(err)
}

// prepareAnew reports whether a read was refused because it was prepared before a migration, and has nothing be left that was.
func (e *engine) prepareAnew(err error) bool {
	if outdated(err) {
		e.read.Reset()
		return true
	}
	return false
}
