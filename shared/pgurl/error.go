package pgurl

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATEs, of PostgreSQL's appendix A.
const (
	uniqueViolation   = "23505"
	readOnly          = "25006" // a standby
	idleInTransaction = "25P03"
	lockNotAvailable  = "55P03"
)

// Duplicate reports whether a row was refused because one with its primary or unique key exists.
func Duplicate(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == uniqueViolation
}

// Unavailable reports whether a later attempt may succeed. The error is then of the connection, a
// changed password, resources, an operator (including a timeout), the system, or another
// transaction. Or the server is a standby.
func Unavailable(e *pgconn.PgError) bool {
	switch e.Code[:2] {
	case "08", "28", "53", "57", "58", "40":
		return true
	}
	return e.Code == readOnly || e.Code == idleInTransaction || e.Code == lockNotAvailable
}
