package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/shared/sqlitewal"
)

// connector prepares each connection before its first use.
type connector struct {
	sqlitewal.Connector
	prepare func(context.Context, driver.Conn) error
}

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.prepare(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// direct runs statements that return no rows on a connection without database/sql in between, which costs a payment's statements a
// fifteenth of their work. Who holds the writer holds both, so the two never meet on the connection.
type direct struct {
	conn  driver.Conn
	stmts map[string]driver.StmtExecContext
	args  []driver.NamedValue // of the statement that runs
}

func newDirect(conn driver.Conn) *direct {
	return &direct{conn: conn, stmts: map[string]driver.StmtExecContext{}}
}

// stmt returns the prepared statement of text. The texts are constants, so the map stays small.
func (d *direct) stmt(text string) (driver.StmtExecContext, error) {
	if s, ok := d.stmts[text]; ok {
		return s, nil
	}
	prepared, err := d.conn.Prepare(text)
	if err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	s, ok := prepared.(driver.StmtExecContext)
	if !ok {
		return nil, errors.Join(errors.New("store: the driver's statements know no context"), prepared.Close())
	}
	d.stmts[text] = s
	return s, nil
}

// exec runs a statement. Arguments are what database/sql takes.
func (d *direct) exec(text string, args ...any) (driver.Result, error) {
	s, err := d.stmt(text)
	if err != nil {
		return nil, err
	}
	d.args = d.args[:0]
	for i, a := range args {
		v, err := value(a)
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
		d.args = append(d.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	r, err := s.ExecContext(context.Background(), d.args) // one that can end costs the driver a goroutine
	clear(d.args)                                         // holds on to nothing that is big, or secret
	if err != nil {
		return nil, fmt.Errorf("exec: %w", err)
	}
	return r, nil
}

// value is the driver's form of an argument. The usual types need no look at what they are made of.
func value(a any) (driver.Value, error) {
	switch a.(type) {
	case nil, int64, string, []byte, bool:
		return a, nil
	}
	return driver.DefaultParameterConverter.ConvertValue(a)
}

// close lets go of the statements; the connection is database/sql's.
func (d *direct) close() error {
	var errs []error
	for _, s := range d.stmts {
		errs = append(errs, s.(driver.Stmt).Close())
	}
	return errors.Join(errs...)
}
