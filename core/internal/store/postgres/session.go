package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// session is the transaction of a command. Its context has a deadline: a server that does not
// respond must not hold a command forever.
type session struct {
	ctx context.Context //nolint:containedctx // a command has no context: nothing but its deadline ends it
	tx  pgx.Tx
	sql map[*store.Statement]string
	// failed is the first failure of a statement. PostgreSQL then rolls back the transaction, even if
	// the command ignores the error.
	failed error
}

// Exec implements store.Session.
func (s *session) Exec(q *store.Statement, args ...any) (int64, error) {
	return s.exec(s.sql[q], args...)
}

// exec is Exec for the text of a statement.
func (s *session) exec(text string, args ...any) (int64, error) {
	values, err := arguments(args)
	if err != nil {
		return 0, err
	}
	tag, err := s.tx.Exec(s.ctx, text, values...)
	if err != nil {
		return 0, s.fail("exec", err)
	}
	return tag.RowsAffected(), nil
}

// ExecEach implements store.Session.
func (s *session) ExecEach(q *store.Statement, args [][]any) ([]int64, error) {
	batch := &pgx.Batch{}
	for _, a := range args {
		values, err := arguments(a)
		if err != nil {
			return nil, err
		}
		batch.Queue(s.sql[q], values...)
	}
	results := s.tx.SendBatch(s.ctx, batch)
	counts := make([]int64, len(args))
	for i := range counts {
		tag, err := results.Exec()
		if err != nil {
			_ = results.Close() // it returns the same failure
			return nil, s.fail("exec", err)
		}
		counts[i] = tag.RowsAffected()
	}
	if err := results.Close(); err != nil {
		return nil, s.fail("exec", err)
	}
	return counts, nil
}

// Overwrite implements store.Session: an update writes a new version of the row.
func (s *session) Overwrite(*store.Statement, ...any) error { return nil }

// Insert implements store.Session. The statement does nothing on a conflict: an error would end the
// transaction.
func (s *session) Insert(q *store.Statement, args ...any) error {
	n, err := s.Exec(q, args...)
	if err == nil && n == 0 {
		return store.ErrDuplicate
	}
	return err
}

// InsertNumbered implements store.Session. The statement returns the number.
func (s *session) InsertNumbered(q *store.Statement, args ...any) (n int64, err error) {
	row, err := s.Row(q, args...)
	if err != nil {
		return 0, err
	}
	if err := row.Scan(&n); errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("insert: %w", err)
	}
	return n, nil
}

// Row implements store.Session.
func (s *session) Row(q *store.Statement, args ...any) (store.Scanner, error) {
	values, err := arguments(args)
	if err != nil {
		return nil, err
	}
	return scanner{s.tx.QueryRow(s.ctx, s.sql[q], values...), s}, nil
}

// Each implements store.Session.
func (s *session) Each(q *store.Statement, scan func(store.Scanner) error, args ...any) error {
	values, err := arguments(args)
	if err != nil {
		return err
	}
	rows, err := s.tx.Query(s.ctx, s.sql[q], values...)
	return each(rows, err, s, scan)
}

// LockRow implements store.Session. The query locks the row and returns a number.
func (s *session) LockRow(q *store.Statement, args ...any) error {
	row, err := s.Row(q, args...)
	if err != nil {
		return err
	}
	var n int64
	return row.Scan(&n)
}

// fail wraps the error of a statement, and records it if it is the first one of the command.
func (s *session) fail(what string, err error) error {
	err = fmt.Errorf("%s: %w", what, asFault(err))
	if s.failed == nil {
		s.failed = err
	}
	return err
}

// each calls scan for every row of a query. rows and err are the results of the query.
func each(rows pgx.Rows, err error, f failer, scan func(store.Scanner) error) error {
	if err != nil {
		return f.fail("query", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(scanner{rows, f}); errors.Is(err, store.ErrEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return f.fail("query", err)
	}
	return nil
}

// Savepoint implements store.Session.
func (s *session) Savepoint(fn func() error) error {
	if _, err := s.tx.Exec(s.ctx, "SAVEPOINT part"); err != nil {
		return s.fail("savepoint", err)
	}
	err := fn()
	if err == nil {
		if _, err := s.tx.Exec(s.ctx, "RELEASE SAVEPOINT part"); err != nil {
			return s.fail("savepoint", err)
		}
		return nil
	}
	if _, failed := s.tx.Exec(s.ctx, "ROLLBACK TO SAVEPOINT part"); failed != nil {
		return errors.Join(err, s.fail("savepoint", failed))
	}
	s.failed = nil
	return err
}

// Exclude implements store.Session.
func (s *session) Exclude(table string) error {
	if _, err := s.tx.Exec(s.ctx, "LOCK TABLE "+table+" IN ACCESS EXCLUSIVE MODE NOWAIT"); err != nil {
		return s.fail("lock", err)
	}
	return nil
}

// Empty implements store.Session: the table gets a new file, and the old one is removed.
func (s *session) Empty(table string) error {
	if _, err := s.tx.Exec(s.ctx, "TRUNCATE "+table); err != nil {
		return s.fail("truncate", err)
	}
	return nil
}

// Lock implements store.Session.
func (s *session) Lock(thing string, shared bool) error {
	text := "SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))"
	if shared {
		text = "SELECT pg_advisory_xact_lock_shared(hashtextextended($1::text, 0))"
	}
	if _, err := s.tx.Exec(s.ctx, text, thing); err != nil {
		return s.fail("lock", err)
	}
	return nil
}
