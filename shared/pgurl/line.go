package pgurl

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
)

// Line is a connection to PostgreSQL that can be guarded against cancel requests. The driver sends
// one to the address of a connection that breaks or whose context ends, and a guarded line reveals
// no address.
//
// A server that waits for a standby to confirm a commit has the commit in its own log already. A
// cancel request ends the wait, and the commit becomes visible, though it would be lost with this
// server. So no commit is cancelled. A caller that stops waiting drops the connection, which a
// waiting server does not notice.
type Line struct {
	net.Conn
	guarded atomic.Bool
}

// Guard guards the line, or ends that.
func (l *Line) Guard(on bool) { l.guarded.Store(on) }

// RemoteAddr implements net.Conn.
func (l *Line) RemoteAddr() net.Addr {
	if l.guarded.Load() {
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

// Lines returns a dialer whose connections are lines, guarded or not.
func Lines(dial pgconn.DialFunc, guarded bool) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		l := &Line{Conn: c}
		l.Guard(guarded)
		return l, nil
	}
}

// LineOf returns the line of a connection, which may be encrypted. A connection of another dialer
// has a line without effect.
func LineOf(conn *pgconn.PgConn) *Line {
	c := conn.Conn()
	if encrypted, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = encrypted.NetConn()
	}
	if l, ok := c.(*Line); ok {
		return l
	}
	return &Line{Conn: c}
}
