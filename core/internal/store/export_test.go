package store

import (
	"context"
	"testing/synctest"
	"time"
)

// counting is a session that counts its statements without rows.
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

// ProbeFor sets how long a probe of PingWriter may take. On a busy machine a slow probe does not
// prove that the writer is stuck.
func (db *DB) ProbeFor(d time.Duration) { db.health.patience.Store(int64(d)) }

// EndedProbe starts a probe, waits until its goroutine has ended, and returns the function that
// waits for the probe.
func (db *DB) EndedProbe(ctx context.Context) func(context.Context) error {
	p := db.startProbe(ctx)
	synctest.Wait()
	return p.result
}

// Wrap replaces the store's engine by the result of around.
func (db *DB) Wrap(around func(Engine) Engine) { db.engine = around(db.engine) }

// StoredPage is how many idempotency keys one statement of StoredBetween reads.
const StoredPage = storedPage

// ListBounds returns the bounds of lists.
var ListBounds = listBounds

// FindSlow finds a list slow, and returns whether lists of its kind are slow.
func FindSlow() (slow func() bool) {
	var s slowLists
	s.add(listKind{})
	return func() bool { return s.has(listKind{}) }
}

// WaitingLists returns how many lists wait for their turn.
func (db *DB) WaitingLists() int { return db.lists.Waiting() }

// WaitingReads returns how many reads of a purpose wait for their turn.
func (db *DB) WaitingReads(p Purpose) int {
	if p == Essential {
		return db.reads[p].Waiting() + db.unknownKeys.Waiting()
	}
	return db.reads[p].Waiting()
}

// WaitForTurns sets how long a read waits for its turn.
func (db *DB) WaitForTurns(d time.Duration) {
	for _, reads := range db.reads {
		reads.Wait = d
	}
	db.unknownKeys.Wait = d
}

// ReadShare returns how many reads by id one tenant can run at the same time.
func (db *DB) ReadShare() int { return db.reads[ByID].Share }

// RefuseReads refuses the turns of all reads by id that can be refused.
func (db *DB) RefuseReads() { db.reads[ByID].Queue = 0 }

// ReadBounds returns the bounds of reads by id.
var ReadBounds = readBounds

// UnknownKey is the caller of requests with an unknown API key.
var UnknownKey = unknownKey

// SweepPage is how many events one statement of a sweep reads.
const SweepPage = sweepPage
