package postgres

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A server that waits for a standby to have a commit has it in its own log already. When it is told to stop waiting, by a cancel request or a timeout of
// its own, it commits all the same: everybody sees then what would be lost with this server. So a COMMIT is never cancelled. Who asked for it hears in
// time that nobody knows, and the connection is kept until the server has answered, at most for lingering; then it is dropped without a word, which a server
// that waits does not notice. Its own timeouts are for locks and reads.

// lingering is how long a connection is kept for a COMMIT that nobody waits for any more: as long as that takes, it is one of few.
const lingering = 8 * time.Second

// commit commits, and gives up waiting when ctx ends. release gives the connection back, now or when the server has answered.
func commit(ctx context.Context, conn *pgxpool.Conn, tx pgx.Tx, release func()) error {
	return came(quietly(ctx, conn, tx.Commit, release))
}

// quietly runs on a connection what ends with a commit, and gives up waiting for it when ctx ends. What it writes to is not to be looked at then.
func quietly(ctx context.Context, conn *pgxpool.Conn, run func(context.Context) error, release func()) error {
	l := lineOf(conn)
	l.quiet.Store(true)
	var err error
	done := make(chan struct{})
	go func() { err = sure(context.WithoutCancel(ctx), conn.Conn(), run); close(done) }()
	select {
	case <-done:
		l.quiet.Store(false)
		release()
		return err
	case <-ctx.Done():
	}
	go func() {
		over := time.AfterFunc(lingering, func() { _ = l.Close() })
		<-done
		over.Stop()
		l.quiet.Store(false)
		release()
	}()
	return fmt.Errorf("not answered in time: %w", ctx.Err())
}

// line is a connection to the server that can be kept from being called off: the driver sends a cancel request to where a connection leads when that
// breaks, and a quiet one leads nowhere.
type line struct {
	net.Conn
	quiet atomic.Bool
}

// RemoteAddr implements net.Conn.
func (l *line) RemoteAddr() net.Addr {
	if l.quiet.Load() {
		return nowhere{}
	}
	return l.Conn.RemoteAddr()
}

// nowhere is an address that cannot be dialed.
type nowhere struct{}

// Network implements net.Addr.
func (nowhere) Network() string { return "nowhere" }

// String implements net.Addr.
func (nowhere) String() string { return "nowhere" }

// lined has connections be lines.
func lined(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &line{Conn: c}, nil
	}
}

// lineOf is the line of a connection, which may be encrypted.
func lineOf(conn *pgxpool.Conn) *line {
	c := conn.Conn().PgConn().Conn()
	if encrypted, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = encrypted.NetConn()
	}
	l, ok := c.(*line)
	if !ok {
		return &line{Conn: c} // of no dialer of ours: it is as good as it was
	}
	return l
}
