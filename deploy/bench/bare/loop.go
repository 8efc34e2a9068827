package bare

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"modernc.org/sqlite" // the driver core uses, in the same version
)

// The pragmas of the writing connection in core/internal/store/sqlite/open.go.
var pragmas = [...]string{
	"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-10000)",
	"wal_autocheckpoint(4000)",
}

// Loop writes payments into its own database file. It is not safe for concurrent use. It uses the
// driver without database/sql, which would cost it time.
type Loop struct {
	payment *payment
	conn    driver.Conn
	steps   []step
	n       int64 // payments written
	claims  []int64
}

// Open makes a new database file at path with the template's schema.
func Open(ctx context.Context, path string, t *Template) (*Loop, error) {
	p, err := newPayment(t)
	if err != nil {
		return nil, err
	}
	if err := create(ctx, path, t.schema); err != nil {
		return nil, err
	}
	conn, err := connect(path, pragmas[:]...)
	if err != nil {
		return nil, err
	}
	l := &Loop{payment: p, conn: conn, steps: p.steps()}
	for i := range l.steps {
		s := &l.steps[i]
		if s.stmt, err = conn.Prepare(s.text); err != nil {
			return nil, errors.Join(fmt.Errorf("%w: prepare: %w", ErrChanged, err), l.Close())
		}
	}
	return l, nil
}

// connect opens the file without database/sql.
func connect(path string, pragmas ...string) (driver.Conn, error) {
	var d sqlite.Driver
	conn, err := d.Open(dsn(path, pragmas...))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return conn, nil
}

// create makes the file with its schema.
func create(ctx context.Context, path string, schema []string) (err error) {
	db, err := open(path, pragmas[:]...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, s := range schema {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("copy schema: %w", err)
		}
	}
	return nil
}

// Close closes the file.
func (l *Loop) Close() error {
	var errs []error
	for _, s := range l.steps {
		if s.stmt != nil {
			errs = append(errs, s.stmt.Close())
		}
	}
	return errors.Join(append(errs, l.conn.Close())...)
}

// Group writes n payments like the best group commit of the service: all intents in one commit,
// then all outcomes in a second one.
func (l *Loop) Group(n int) error {
	err := l.commit(func() error {
		l.claims = l.claims[:0]
		for i := range n {
			claim, err := l.intent(l.n + int64(i))
			if err != nil {
				return err
			}
			l.claims = append(l.claims, claim)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = l.commit(func() error {
		for i, claim := range l.claims {
			if err := l.outcome(l.n+int64(i), claim); err != nil {
				return err
			}
		}
		return nil
	})
	l.n += int64(n)
	return err
}

// Single writes the final rows of one payment in one commit.
func (l *Loop) Single() error {
	err := l.commit(func() error { return l.final(l.n) })
	l.n++
	return err
}

func (l *Loop) commit(fn func() error) error {
	if _, err := l.exec(stepBegin); err != nil {
		return err
	}
	if err := fn(); err != nil {
		return err // the file is abandoned
	}
	_, err := l.exec(stepCommit)
	return err
}

// exec runs a step with the values that vary. A statement that writes must meet exactly one row, as
// in the service.
func (l *Loop) exec(which int, values ...driver.Value) (driver.Result, error) {
	s := &l.steps[which]
	for i, v := range values {
		s.args[s.vary[i]].Value = v
	}
	// A context that can end would cost a goroutine a statement.
	r, err := s.stmt.(driver.StmtExecContext).ExecContext(context.Background(), s.args)
	if err != nil {
		return nil, fmt.Errorf("bare loop: %w", err)
	}
	if len(s.args) == 0 {
		return r, nil
	}
	n, err := r.RowsAffected()
	if err == nil && n != 1 {
		err = fmt.Errorf("bare loop: a statement met %d rows instead of one: %s", n, s.text)
	}
	return r, err
}
