package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/causeway-pay/causeway/shared/pgurl"
)

// A COMMIT is never cancelled: see pgurl.Line. The caller gets an error in time, without the outcome. The connection is kept until the server responds,
// at most for lingering, and is then dropped. The server's own timeouts are for locks and reads.

// lingering is how long a connection is kept for a COMMIT that nobody waits for any more: as long as that takes, it is one of few.
const lingering = 8 * time.Second

// commit commits, and gives up waiting when ctx ends. release gives the connection back, now or when the server has answered.
func commit(ctx context.Context, conn *pgxpool.Conn, tx pgx.Tx, release func()) error {
	return came(quietly(ctx, conn, tx.Commit, release))
}

// quietly runs on a connection what ends with a commit, and gives up waiting for it when ctx ends. What it writes to is not to be looked at then.
func quietly(ctx context.Context, conn *pgxpool.Conn, run func(context.Context) error, release func()) error {
	l := pgurl.LineOf(conn.Conn().PgConn())
	l.Guard(true)
	var err error
	done := make(chan struct{})
	go func() { err = sure(context.WithoutCancel(ctx), conn.Conn(), run); close(done) }()
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
	return fmt.Errorf("not answered in time: %w", ctx.Err())
}
