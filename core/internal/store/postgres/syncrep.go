package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errUnreplicated reports a commit that the standby did not confirm. It is durable on the primary
// only: do not acknowledge it until a later commit is replicated.
var errUnreplicated = errors.New("postgres: the standby did not confirm the commit")

// warningKey is the key of the server's last warning in the CustomData of a connection.
const warningKey = "warning"

// keepWarning stores a warning in the CustomData of its connection. PostgreSQL warns about a commit
// for one reason only: the wait for the standby was cancelled, usually by an operator. The commit
// then returns no error.
func keepWarning(conn *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		conn.CustomData()[warningKey] = n
	}
}

// runReplicated calls a function that commits on a connection. It returns errUnreplicated if the
// standby did not confirm the commit.
func runReplicated(ctx context.Context, conn *pgx.Conn, commit func(context.Context) error) error {
	delete(conn.PgConn().CustomData(), warningKey) // of an earlier statement
	if err := commit(ctx); err != nil {
		return err
	}
	if n, ok := conn.PgConn().CustomData()[warningKey].(*pgconn.Notice); ok {
		return fmt.Errorf("%w: %s", errUnreplicated, n.Message)
	}
	return nil
}

// Confirm implements store.Engine. Callers share a commit that begins after their calls: many reads
// of one merchant hold one connection.
func (e *engine) Confirm(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), e.patience, errTooLate)
	defer cancel()
	return e.confirms.Do(ctx, struct{}{})
}

// confirm commits a transaction that writes to the write-ahead log. That commit waits for the
// standby, and the standby then has all earlier commits, too.
func (e *engine) confirm([]struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), e.patience)
	defer cancel()
	conn, err := e.write.Acquire(ctx)
	if err != nil {
		return explain(fmt.Errorf("connect: %w", asFault(err)))
	}
	defer conn.Release()
	err = runReplicated(ctx, conn.Conn(), func(ctx context.Context) error {
		_, err := conn.Exec(ctx, "SELECT pg_logical_emit_message(true, 'causeway', '')")
		return err
	})
	if err != nil {
		return explain(fmt.Errorf("confirm: %w", asFault(err)))
	}
	return nil
}
