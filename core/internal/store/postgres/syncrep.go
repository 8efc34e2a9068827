package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errUnsure is of a commit of which the server said that it did not wait for its standby to have it: it has taken place, and may be gone with the server.
// Nobody may be told of it before something behind it has been waited for.
var errUnsure = errors.New("postgres: the server no longer waited for its standby")

// warned is where a connection keeps that the server has warned.
const warned = "warned"

// keepWarning keeps warnings. Of a commit there is but one: that its wait for the standby was cancelled, by an operator as a rule, though the commit itself
// returns as if all were well.
func keepWarning(conn *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		conn.CustomData()[warned] = n
	}
}

// sure runs what commits on a connection. It fails when that may not outlive the server.
func sure(ctx context.Context, conn *pgx.Conn, commit func(context.Context) error) error {
	delete(conn.PgConn().CustomData(), warned) // of a statement
	if err := commit(ctx); err != nil {
		return err
	}
	if n, ok := conn.PgConn().CustomData()[warned].(*pgconn.Notice); ok {
		return fmt.Errorf("%w: %s", errUnsure, n.Message)
	}
	return nil
}

// Confirm implements store.Engine. What a transaction writes is waited for when it commits, and with it all that was committed before.
func (e *engine) Confirm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.patience)
	defer cancel()
	conn, err := e.write.Acquire(ctx)
	if err != nil {
		return explain(fmt.Errorf("connect: %w", came(err)))
	}
	defer conn.Release()
	err = sure(ctx, conn.Conn(), func(ctx context.Context) error {
		_, err := conn.Exec(ctx, "SELECT pg_logical_emit_message(true, 'causeway', '')")
		return err
	})
	if err != nil {
		return explain(fmt.Errorf("confirm: %w", came(err)))
	}
	return nil
}
