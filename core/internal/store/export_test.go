package store

import (
	"context"
	"testing/synctest"
	"time"
)

// counting counts the statements without rows of a session.
type counting struct {
	Session
	n *int
}

func (c counting) Exec(s *Statement, args ...any) (int64, error) {
	*c.n++
	return c.Session.Exec(s, args...)
}

func (c counting) ExecEach(s *Statement, args [][]any) ([]int64, error) {
	*c.n += len(args)
	return c.Session.ExecEach(s, args)
}

func (c counting) Insert(s *Statement, args ...any) error {
	*c.n++
	return c.Session.Insert(s, args...)
}

func (c counting) InsertNumbered(s *Statement, args ...any) (int64, error) {
	*c.n++
	return c.Session.InsertNumbered(s, args...)
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

// Wrap puts an engine in front of the store's own.
func (db *DB) Wrap(around func(Engine) Engine) { db.engine = around(db.engine) }

// StoredPage is the page of StoredBetween.
const StoredPage = storedPage

// ListBounds are the bounds of lists.
var ListBounds = listBounds

// SlowFor is how long a tenant is slow.
const SlowFor = slowFor

// WaitingLists returns how many lists wait for their turn.
func (db *DB) WaitingLists() int {
	db.lists.mu.Lock()
	defer db.lists.mu.Unlock()
	return db.lists.waiting
}
