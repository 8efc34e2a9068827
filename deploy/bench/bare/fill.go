package bare

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"time"
)

// fillBatch is how many payments one commit of a filling has.
const fillBatch = 20_000

// The pragmas of a filling. A file whose filling was interrupted is lost, so nothing is done for its durability before the end.
var fillPragmas = [...]string{"journal_mode(OFF)", "synchronous(OFF)", "locking_mode(EXCLUSIVE)", "cache_size(-600000)"}

// Filling says what a store is filled with: copies of the template's payment that differ where payments of a busy store do.
type Filling struct {
	Payments  int
	Merchants int           // the payments are spread over these; the template's is one of them
	Span      time.Duration // the payments are spread over this time, which ends a minute before the template's payment
	Progress  func(done int)
}

// Fill adds payments to the database file at path, which has the template's schema, holds the template's payment, and is used by
// nobody else. It does not use the loop's statements but fills any column, so it need not follow the schema.
//
// Everything captured is settled, and no idempotency key expires within a year: that keeps the service's housekeeping out of what is
// measured, and leaves the keys' index, the only one that rises in no order, as large as it can be.
func Fill(ctx context.Context, path string, t *Template, f Filling) error {
	p, err := newPayment(t)
	if err != nil {
		return err
	}
	l, err := openFilling(path, t)
	if err != nil {
		return err
	}
	if err := errors.Join(l.run(ctx, p, f), l.close()); err != nil {
		return fmt.Errorf("fill %s: %w", path, err)
	}
	return syncFile(path)
}

// filler is a file that is being filled.
type filler struct {
	conn   driver.Conn
	tables []*filled
}

// filled is the insert into one table.
type filled struct {
	stmt driver.Stmt
	args []driver.NamedValue
	vary []varied
}

// varied is an argument that differs from payment to payment.
type varied struct {
	at    int
	value func(*made) driver.Value
}

func openFilling(path string, t *Template) (*filler, error) {
	conn, err := connect(path, fillPragmas[:]...)
	if err != nil {
		return nil, err
	}
	l := &filler{conn: conn}
	for _, name := range []string{"transactions", "captures", "events", "idempotency_keys", terms} { // what others refer to first
		if name == terms && t.rows[name] == nil {
			continue
		}
		table, err := l.prepare(name, t.rows[name][0])
		if err != nil {
			return nil, errors.Join(err, l.close())
		}
		l.tables = append(l.tables, table)
	}
	return l, nil
}

func (l *filler) close() error {
	var errs []error
	for _, t := range l.tables {
		errs = append(errs, t.stmt.Close())
	}
	return errors.Join(append(errs, l.conn.Close())...)
}

// prepare makes the insert of rows like row.
func (l *filler) prepare(table string, row Row) (*filled, error) {
	columns := row.columns()
	f := &filled{args: row.pick(columns...)}
	for i, c := range columns {
		if value, ok := varying[table][c]; ok {
			f.vary = append(f.vary, varied{i, value})
		}
	}
	var err error
	if f.stmt, err = l.conn.Prepare(insertOf(table, columns)); err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	return f, nil
}

func (l *filler) run(ctx context.Context, p *payment, f Filling) error {
	whole := context.WithoutCancel(ctx) // one that can end would cost a goroutine a statement
	for from := 0; from < f.Payments; from += fillBatch {
		to := min(from+fillBatch, f.Payments)
		if err := l.exec(whole, begin); err != nil {
			return err
		}
		for n := from; n < to; n++ {
			if err := l.write(whole, p.make(n, f)); err != nil {
				return err
			}
		}
		if err := l.exec(whole, commit); err != nil {
			return err
		}
		if f.Progress != nil {
			f.Progress(to)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (l *filler) write(ctx context.Context, m *made) error {
	for _, t := range l.tables {
		for _, v := range t.vary {
			t.args[v.at].Value = v.value(m)
		}
		if _, err := t.stmt.(driver.StmtExecContext).ExecContext(ctx, t.args); err != nil {
			return err
		}
	}
	return nil
}

func (l *filler) exec(ctx context.Context, text string) error {
	_, err := l.conn.(driver.ExecerContext).ExecContext(ctx, text, nil)
	return err
}

// syncFile makes what was written durable.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return errors.Join(f.Sync(), f.Close())
}
