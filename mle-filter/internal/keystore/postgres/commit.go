package postgres

import (
	"context"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// A server that waits for a standby to confirm a commit has it in its own log already. A cancel
// request ends the wait, and the commit becomes visible, though it would be lost with this server.
// So nothing is cancelled. A caller that stops waiting drops the connection, which a waiting server
// does not notice. Statements end by statement_timeout, which is not for commits.

// uncalled has connections never be called off: the driver sends a cancel request to where a
// connection leads, and these lead nowhere.
func uncalled(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return line{c}, nil
	}
}

// line is a connection that does not reveal its address.
type line struct{ net.Conn }

// RemoteAddr implements net.Conn.
func (line) RemoteAddr() net.Addr { return nowhere{} }

// nowhere is an address that cannot be dialed.
type nowhere struct{}

// Network implements net.Addr.
func (nowhere) Network() string { return "nowhere" }

// String implements net.Addr.
func (nowhere) String() string { return "nowhere" }
