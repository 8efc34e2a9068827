package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/causeway-pay/causeway/shared/pgurl"
)

// A COMMIT is never cancelled: see pgurl.Line. If the server does not respond in time, the caller
// gets an error, and it is unknown whether the commit took place. The connection goes on waiting
// for the server, and is closed after lingering. The server's own timeouts are for locks and reads.

// lingering is how long a connection waits for its COMMIT after the caller gave up. Meanwhile the
// pool, which has few connections, lacks this one.
const lingering = 8 * time.Second

// commit commits a transaction. It returns early, with an error, when ctx ends: the COMMIT goes on.
// release returns the connection to its pool, once the server has responded.
func commit(ctx context.Context, conn *pgxpool.Conn, tx pgx.Tx, release func()) error {
	return asFault(runUncancelled(ctx, conn, tx.Commit, release))
}

// runUncancelled calls run, which ends with a commit on a connection. It returns early, with an
// error, when ctx ends. run goes on then: the caller must not read the variables that run writes.
// release is called once run has returned.
func runUncancelled(
	ctx context.Context, conn *pgxpool.Conn, run func(context.Context) error, release func(),
) error {
	l := pgurl.LineOf(conn.Conn().PgConn())
	l.Guard(true)
	var err error
	done := make(chan struct{})
	go func() { err = runReplicated(context.WithoutCancel(ctx), conn.Conn(), run); close(done) }()
	select {
	case <-done:
		l.Guard(false)
		release()
		return err
	case <-ctx.Done():
	}
	go func() {
		over := time.AfterFunc(lingering, func() { _ = l.Close() })
		<-done
		over.Stop()
		l.Guard(false)
		release()
	}()
	return fmt.Errorf("no response in time: %w", ctx.Err())
}
