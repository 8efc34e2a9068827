package postgres

import (
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// batch runs the statement of a batch as part of a command.
func (s *session) batch(what string, q *pgx.QueuedQuery, scan func(pgx.Rows) error) error {
	rows, err := s.tx.Query(s.ctx, q.SQL, q.Arguments...)
	if err != nil {
		return s.fail(what, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return s.fail(what, err)
		}
	}
	if err := rows.Err(); err != nil {
		return s.fail(what, err)
	}
	return nil
}

// refused reports whether refuse_batch has failed a statement.
func refused(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == batchRefused
}
