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
	batchRefused         = "CW001" // raised by refuse_batch: each payment must be written by its own command
)

// replanned is the routine in which PostgreSQL finds that a prepared statement would now return
// columns of other types.
const replanned = "RevalidateCachedQuery"

// rolledBack reports whether PostgreSQL rolled a command back because of other commands. It may run
// again.
func rolledBack(err error) bool {
	var e *pgconn.PgError
	return outdated(err) || errors.As(err, &e) &&
		(e.Code == serializationFailure || e.Code == deadlockDetected || repartitioned(e))
}

// outdated reports whether PostgreSQL rejected a statement that was prepared before a migration. It
// can run again on a connection that has not prepared it.
func outdated(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == notSupported && e.Routine == replanned
}

// lockRefused reports whether a migration failed because another session holds a lock.
func lockRefused(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == lockNotAvailable || e.Code == deadlockDetected)
}

// repartitioned reports whether a row went to a partition that no longer covers it, because a new
// partition does. Such an error names no constraint: all CHECK constraints of the schema have
// names.
func repartitioned(e *pgconn.PgError) bool { return e.Code == checkViolation && e.ConstraintName == "" }

// demoted reports whether the server no longer accepts writes. Another server may.
func demoted(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == readOnly
}

// explain wraps an error in the store's error for it.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrChanged):
		return fmt.Errorf("%w: %w", store.ErrBusy, err) // at each attempt
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

// unavailable reports whether the server or the connection caused err. The server is out of reach,
// shuts down, is a standby, has no room or rejects the password. Or a timeout ended the session: if
// the server's clock jumps ahead, it ends each session in a transaction.
func unavailable(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return pgurl.Unavailable(e) || rolledBack(err)
	}
	var scan pgx.ScanArgError
	var of *fault
	return errors.As(err, &of) && !errors.As(err, &scan) && !errors.Is(err, pgx.ErrTxCommitRollback)
}

// errLate reports a command whose patience ended in its transaction, before the commit.
var errLate = errors.New("the time of the command is over")

// stalled reports whether a command failed in its transaction because of its time limit or of a
// lock that another command holds. Other commands may succeed meanwhile.
func stalled(err error) bool {
	var e *pgconn.PgError
	return errors.Is(err, errLate) || rolledBack(err) ||
		errors.As(err, &e) && (e.Code == lockNotAvailable || e.Code == queryCanceled)
}

// fault is the error of a statement or a connection. It wraps an error of the server or of the
// network.
type fault struct{ err error }

// Error implements error.
func (f *fault) Error() string { return f.err.Error() }

// Unwrap returns the cause.
func (f *fault) Unwrap() error { return f.err }

// asFault marks an error of a statement or a connection. nil stays nil.
func asFault(err error) error {
	if err == nil {
		return nil
	}
	return &fault{err}
}
