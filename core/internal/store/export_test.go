package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing/synctest"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// OpenOn opens a store whose file is on a VFS of SQLite.
func OpenOn(ctx context.Context, path, vfs string, c clock.Clock) (*DB, error) {
	return open(ctx, path, vfs, c)
}

// MaxQueue is how many may.
const MaxQueue = maxQueue

// Closing reports whether the store takes no more commands.
func (db *DB) Closing() bool {
	e := db.engine.(*sqliteEngine)
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.closed
}

// Exec runs any statement as part of the command.
func (tx *Tx) Exec(text string, args ...any) error { return tx.exec(text, args...) }

// Plan is how SQLite carries out the list that fn asks for, a step a line.
func (db *DB) Plan(ctx context.Context, fn func() error) (string, error) {
	var errs []error
	e := db.engine.(*sqliteEngine)
	e.stmts.Range(func(text, s any) bool {
		errs = append(errs, s.(statement).prepared.Close())
		e.stmts.Delete(text)
		return true
	})
	var lists []string
	errs = append(errs, fn())
	e.stmts.Range(func(text, _ any) bool {
		if strings.Contains(text.(string), " ORDER BY ") {
			lists = append(lists, text.(string))
		}
		return true
	})
	if err := errors.Join(errs...); err != nil || len(lists) != 1 {
		return "", fmt.Errorf("%d lists: %w", len(lists), err)
	}
	s, err := db.query(ctx, "EXPLAIN QUERY PLAN "+lists[0])
	if err != nil {
		return "", err
	}
	var steps []string
	err = s.Each(ctx, func(row Scanner) error {
		var id, parent, unused int
		var step string
		err := row.Scan(&id, &parent, &unused, &step)
		steps = append(steps, step)
		return err
	}, make([]any, parameters(lists[0]))...)
	return strings.Join(steps, "\n"), err
}

// parameters is how many values a statement takes, whose parameters are ?, ?N or both.
func parameters(text string) int {
	most := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '?' {
			continue
		}
		n := 0
		for ; i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9'; i++ {
			n = n*10 + int(text[i+1]-'0')
		}
		if n == 0 {
			n = most + 1
		}
		most = max(most, n)
	}
	return most
}

// counting counts the statements without rows of a session.
type counting struct {
	Session
	n *int
}

func (c counting) Exec(text string, args ...any) (int64, error) {
	*c.n++
	return c.Session.Exec(text, args...)
}

func (c counting) Insert(text string, args ...any) error {
	*c.n++
	return c.Session.Insert(text, args...)
}

func (c counting) InsertNumbered(text string, args ...any) (int64, error) {
	*c.n++
	return c.Session.InsertNumbered(text, args...)
}

// CountStatements counts into n the statements without rows that the command runs from now on.
func (tx *Tx) CountStatements(n *int) { tx.s = counting{tx.s, n} }

// ProbeFor sets how long a probe of PingWriter may take: a busy machine says nothing about the writer.
func (db *DB) ProbeFor(d time.Duration) { db.health.patience.Store(int64(d)) }

// EndedProbe starts a probe, waits until its goroutine is done, and returns the function that waits for it.
func (db *DB) EndedProbe(ctx context.Context) func(context.Context) error {
	p := db.startProbe(ctx)
	synctest.Wait()
	return p.result
}
