package bare

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"modernc.org/sqlite" // the driver core uses, in the same version
)

// The pragmas of the writing connection in core/internal/store/sqlite/open.go.
var pragmas = [...]string{
	"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-7000)",
	"wal_autocheckpoint(4000)",
}

// Loop writes payments into its own database file. It is not safe for concurrent use. It uses the
// driver without database/sql, which would cost it time.
type Loop struct {
	conn                   driver.Conn
	begin, commit          []statement
	intent, outcome, final []statement
	n                      int64 // payments written
}

// Open makes a new database file at path with the template's schema.
func Open(ctx context.Context, path string, t *Template) (*Loop, error) {
	if err := create(ctx, path, t.schema); err != nil {
		return nil, err
	}
	var d sqlite.Driver
	conn, err := d.Open(DSN(path, pragmas[:]...))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	l := &Loop{
		conn: conn, begin: []statement{{text: "BEGIN IMMEDIATE"}}, commit: []statement{{text: "COMMIT"}},
		intent: slices.Clone(t.intent), outcome: slices.Clone(t.outcome), final: slices.Clone(t.final),
	}
	for _, some := range l.statements() {
		for i := range some {
			s := &some[i]
			s.args = slices.Clone(s.args)
			if s.ready, err = conn.Prepare(s.text); err != nil {
				return nil, errors.Join(fmt.Errorf("prepare %s: %w", s.text, err), l.Close())
			}
		}
	}
	return l, nil
}

func (l *Loop) statements() [][]statement {
	return [][]statement{l.begin, l.commit, l.intent, l.outcome, l.final}
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
	for _, some := range l.statements() {
		for _, s := range some {
			if s.ready != nil {
				errs = append(errs, s.ready.Close())
			}
		}
	}
	return errors.Join(append(errs, l.conn.Close())...)
}

// Group writes n payments like the best group commit of the service: all intents in one commit,
// then all outcomes in a second one.
func (l *Loop) Group(n int) error {
	if err := l.write(l.intent, n); err != nil {
		return err
	}
	if err := l.write(l.outcome, n); err != nil {
		return err
	}
	l.n += int64(n)
	return nil
}

// Single writes the final rows of one payment in one commit.
func (l *Loop) Single() error {
	if err := l.write(l.final, 1); err != nil {
		return err
	}
	l.n++
	return nil
}

// write runs statements for each of the next n payments, in one commit. After an error the file is
// abandoned.
func (l *Loop) write(statements []statement, n int) error {
	if err := exec(l.begin, 0); err != nil {
		return err
	}
	for i := range int64(n) {
		if err := exec(statements, l.n+i); err != nil {
			return err
		}
	}
	return exec(l.commit, 0)
}

// exec runs statements with the values of the n-th payment. A statement that writes must meet
// exactly one row, as in the service.
func exec(statements []statement, n int64) error {
	for i := range statements {
		s := &statements[i]
		for _, v := range s.vary {
			s.args[v.arg].Value = v.nth(n)
		}
		// A context that can end would cost a goroutine a statement.
		r, err := s.ready.(driver.StmtExecContext).ExecContext(context.Background(), s.args)
		if err != nil {
			return fmt.Errorf("bare loop: %w", err)
		}
		if len(s.args) == 0 {
			continue
		}
		if met, err := r.RowsAffected(); err != nil || met != 1 {
			return fmt.Errorf("bare loop: a statement met %d rows instead of one: %s (%w)", met, s.text, err)
		}
	}
	return nil
}
