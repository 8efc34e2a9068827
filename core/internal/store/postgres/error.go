package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/pgurl"
)

// SQLSTATEs, of PostgreSQL's appendix A.
const (
	checkViolation       = "23514"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	readOnly             = "25006"
	lockNotAvailable     = "55P03"
	queryCanceled        = "57014"
	notSupported         = "0A000"
	batchRefused         = "CW001" // by refuse_batch: a member of the batch must be written by its command
	raised               = "P0001" // by the one trigger that raises anything: it has a store that is being moved to take nothing
)

// replanned is what PostgreSQL calls the place where it finds that a statement it has prepared would now give columns of other types.
const replanned = "RevalidateCachedQuery"

// rolledBack reports whether PostgreSQL rolled a command back because of other commands, so that it may run again.
func rolledBack(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == serializationFailure || e.Code == deadlockDetected || repartitioned(e)) || outdated(err)
}

// outdated reports whether a statement was refused that was prepared before a migration. It can be run again on a
// connection that has not prepared it.
func outdated(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == notSupported && e.Routine == replanned
}

// gaveWay reports whether a migration gave way to somebody who has a lock.
func gaveWay(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == lockNotAvailable || e.Code == deadlockDetected)
}

// repartitioned reports whether a row was on its way into a part that it does not belong to any more, as one was made for it meanwhile. A CHECK of
// ours has a name.
func repartitioned(e *pgconn.PgError) bool { return e.Code == checkViolation && e.ConstraintName == "" }

// demoted reports whether the server takes no writes any more: another one may.
func demoted(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == readOnly
}

// explain says of an error what the store's callers go by.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrChanged):
		return fmt.Errorf("%w: %w", store.ErrBusy, err) // again and again
	case unavailable(err) && stalled(err):
		return fmt.Errorf("%w: %w: %w", store.ErrUnavailable, store.ErrStalled, err)
	case unavailable(err):
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	if pgurl.Duplicate(err) {
		return fmt.Errorf("%w: %w", store.ErrDuplicate, err)
	}
	return err
}

// unavailable reports whether err is of the server or the way to it: out of reach, shutting down,
// standing by, without room, of another password, closed by a move, or ended by a timeout, as each
// session in a transaction is when the server's clock jumps ahead.
func unavailable(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return pgurl.Unavailable(e) || e.Code == raised || rolledBack(err)
	}
	var scan pgx.ScanArgError
	var of *fault
	return errors.As(err, &of) && !errors.As(err, &scan) && !errors.Is(err, pgx.ErrTxCommitRollback)
}

// errLate reports a command whose time ended in its transaction, before the commit.
var errLate = errors.New("the time of the command is over")

// stalled reports whether a command that had its transaction did not end in time, or because of the
// locks of others. Other commands may succeed meanwhile.
func stalled(err error) bool {
	var e *pgconn.PgError
	return errors.Is(err, errLate) || rolledBack(err) ||
		errors.As(err, &e) && (e.Code == lockNotAvailable || e.Code == queryCanceled)
}

// fault is what came of a statement or a connection. What it wraps is either the server's word, or of the way there.
type fault struct{ err error }

// Error implements error.
func (f *fault) Error() string { return f.err.Error() }

// Unwrap gives the cause to package errors.
func (f *fault) Unwrap() error { return f.err }

// came marks an error of a statement or a connection.
func came(err error) error {
	if err == nil {
		return nil
	}
	return &fault{err}
}
