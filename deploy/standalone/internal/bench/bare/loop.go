package bare

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// The pragmas of the writing connection in core/internal/store/sqlite.go.
var pragmas = [...]string{
	"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-16000)", "wal_autocheckpoint(4000)",
}

// Loop writes payments into a database file of its own. It is not safe for concurrent use.
type Loop struct {
	payment *payment
	db      *sql.DB
	conn    *sql.Conn
	stmts   map[string]*sql.Stmt
	n       int64 // payments written
	claims  []int64
}

// Open makes a new database file at path with the template's schema.
func Open(ctx context.Context, path string, t *Template) (*Loop, error) {
	p, err := newPayment(t)
	if err != nil {
		return nil, err
	}
	db, err := open(path, pragmas[:]...)
	if err != nil {
		return nil, err
	}
	l := &Loop{payment: p, db: db, stmts: map[string]*sql.Stmt{}}
	if l.conn, err = db.Conn(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	if err := l.prepare(ctx, t.schema); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Loop) prepare(ctx context.Context, schema []string) error {
	for _, s := range schema {
		if _, err := l.conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("copy schema: %w", err)
		}
	}
	for _, text := range statements() {
		s, err := l.conn.PrepareContext(ctx, text)
		if err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
		l.stmts[text] = s
	}
	return nil
}

// Close closes the file.
func (l *Loop) Close() error {
	var errs []error
	for _, s := range l.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, l.conn.Close(), l.db.Close())...)
}

// Group writes n payments as the service's group commit can at best: the intents of all in one commit, then the outcomes of all in a
// second one.
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
	if _, err := l.exec(begin); err != nil {
		return err
	}
	if err := fn(); err != nil {
		return err // the file is abandoned
	}
	_, err := l.exec(commit)
	return err
}

// exec takes no context: a context that can end costs a goroutine a statement.
func (l *Loop) exec(text string, args ...any) (sql.Result, error) {
	r, err := l.stmts[text].ExecContext(context.Background(), args...)
	if err != nil {
		return nil, fmt.Errorf("bare loop: %w", err)
	}
	return r, nil
}

// one is exec for a statement that must meet exactly one row, as the service checks too.
func (l *Loop) one(text string, args ...any) error {
	r, err := l.exec(text, args...)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("bare loop: a statement met %d rows instead of one (%w)", n, err)
	}
	return nil
}
