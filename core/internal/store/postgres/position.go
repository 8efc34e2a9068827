package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

// Commands of several cores commit at the same time. They draw the ids of their rows before, by
// clocks that differ, so rows do not become visible in the order of their ids. A client that pages
// by the last id it has read would miss a row with a lower id that is committed later.
//
// Each listed row has a commit position: the number of its database transaction. Lists are in the
// order of positions and end at the low-water mark, below which every transaction has ended. So no
// row can become visible before a listed row. pagePatience is for commands that take long.
//
// The mark rests on two promises of PostgreSQL:
//
//   - A transaction with a number below the xmin of a snapshot is visible to it or rolled back. See
//     "Transaction ID and Snapshot Information Functions" in the manual. This mark costs nothing,
//     but every open transaction of the server holds it back, also one of another database.
//   - A lock of a transaction is released when the transaction ends, also if its process or the
//     server dies. A command shares one of two advisory locks before the server gives it a number.
//     If a page has rows above xmin, fence reads the position behind all ended transactions. Then
//     it acquires each of the two locks alone, one after the other. By then all commands that had a
//     number before have ended, so the position is a mark. New commands do not wait: they share the
//     other lock. Transactions of other programs have no such lock.
//
// Rejected alternatives: a sequencer that numbers committed rows writes each row twice. A counter
// of each tenant makes its commits wait for one another. With xmin alone a long transaction of
// another program stops all lists. The lock costs a command no round trip.
//
// A promoted standby continues to count, without the locks and transactions of the failed server.
// If it lacks the last commits, it gives their numbers out again, so no mark is kept between two
// lists.

// The low-water mark of a snapshot, and the commit position behind all transactions that had ended.
const (
	settledMark = `(SELECT commit_position(pg_snapshot_xmin(pg_current_snapshot())))`
	nextMark    = `commit_position(pg_snapshot_xmax(pg_current_snapshot()))`
)

// The locks of writers, and the lock of the fence. Only a process with the lock of the fence
// acquires a lock of writers alone, so at most one of the two is not shared.
const (
	writersA  = `hashtextextended(current_schema() || ' writers a', 0)`
	writersB  = `hashtextextended(current_schema() || ' writers b', 0)`
	fenceTurn = `hashtextextended(current_schema() || ' fence', 0)`
)

// shareWriters shares a lock of writers. It waits only while a fence changes from one lock to the
// other.
const shareWriters = `SELECT CASE WHEN pg_try_advisory_xact_lock_shared(` + writersA + `) THEN 1
	WHEN pg_try_advisory_xact_lock_shared(` + writersB + `) THEN 2
	ELSE (SELECT 3 FROM (SELECT pg_advisory_xact_lock_shared(` + writersA + `)) AS held) END`

// writingTx are the options of a transaction that writes rows: it shares a lock of writers in the
// round trip of its BEGIN.
var writingTx = pgx.TxOptions{BeginQuery: "BEGIN ISOLATION LEVEL READ COMMITTED; " + shareWriters}

// beginWrite is the first statement of a batch that writes rows.
func beginWrite() *pgx.QueuedQuery { return &pgx.QueuedQuery{SQL: shareWriters} }

// drainText returns a statement that waits until all transactions that share a lock of writers have
// ended. The statement returns the position behind the transactions that had ended when it began.
func drainText(writers string) string {
	return `WITH bound AS MATERIALIZED (SELECT set_config('lock_timeout', $1::text, true)),
		turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(` + fenceTurn + `) FROM bound)
	SELECT ` + nextMark + ` FROM (SELECT pg_advisory_xact_lock(` + writers + `) FROM turn) AS drained`
}

var drainA, drainB = drainText(writersA), drainText(writersB)

// pagePatience is how long a page waits for running commands. After that, a page of the rows that
// are newer than a cursor ends at the position of the slow command. A client that polls reads the
// other rows later. Every other page has all visible rows. A client that polls on from its last row
// can miss rows of the slow command.
const pagePatience = time.Second

// fences runs one fence at a time for all pages of a process.
type fences struct {
	turn  chan struct{} // has one element while a fence runs
	begun atomic.Int64  // how many have begun
	late  atomic.Int64  // when the last one ended without a mark, on the monotonic clock; 0 for never
	// guarded by turn: the last fence that ended with a mark, and its mark
	last, mark int64
}

// recentlyLate reports whether a fence ended without a mark within the last pagePatience. Pages do
// not wait then: otherwise each would wait for the same slow command, one page after the other.
func (f *fences) recentlyLate() bool {
	late := time.Duration(f.late.Load())
	return late != 0 && clock.Monotonic()-late < pagePatience
}

// Page implements store.Engine. The last column of each statement of listSQL reports whether a row
// is above the mark of the snapshot. The last parameter is a mark: rows below it are listed in any
// case.
func (e *engine) Page(
	ctx context.Context, s *store.Statement, newer bool, begin func(), scan func(store.Scanner) error, args ...any,
) error {
	read := func(until int64) (settled bool, err error) {
		var last page
		err = e.Each(ctx, store.Listing, s, begin, func(row store.Scanner) error {
			last.row = row
			err := scan(&last)
			last.unsettled = last.unsettled || last.above
			return err
		}, append(args[:len(args):len(args)], until)...)
		return !last.unsettled, err
	}
	settled, err := read(math.MaxInt64)
	if settled || err != nil {
		return err
	}
	var mark int64
	if !e.fences.recentlyLate() {
		mark, err = e.fence(store.WholeTime(ctx), store.Listing)
	}
	if err != nil || mark == 0 && !newer {
		return err // the page has all visible rows: a client may act on a missing payment
	}
	_, err = read(mark)
	return err
}

// page scans the rows of a page.
type page struct {
	row              store.Scanner
	above, unsettled bool
}

// Scan implements store.Scanner.
func (p *page) Scan(dest ...any) error { return p.row.Scan(append(dest, &p.above)...) }

// fence returns a mark above all rows that are visible when it is called. It returns 0 if a command
// of any process still runs after pagePatience. It waits on a connection of a purpose.
func (e *engine) fence(ctx context.Context, p store.Purpose) (mark int64, err error) {
	began, begun := clock.Monotonic(), e.fences.begun.Load()
	over := time.NewTimer(pagePatience)
	defer over.Stop()
	select {
	case e.fences.turn <- struct{}{}:
	case <-over.C:
		return 0, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-e.fences.turn }()
	if e.fences.last > begun {
		return e.fences.mark, nil // the last fence began after this call
	}
	n := e.fences.begun.Add(1)
	mark, err = e.drain(ctx, p, began+pagePatience)
	switch {
	case err != nil:
		return 0, err
	case mark == 0:
		e.fences.late.Store(int64(clock.Monotonic()))
	default:
		e.fences.last, e.fences.mark = n, mark
	}
	return mark, nil
}

// drain waits for the running commands, until a time of the monotonic clock. It returns the
// position behind all transactions that had ended before, or 0 if a command still runs.
func (e *engine) drain(ctx context.Context, p store.Purpose, until time.Duration) (mark int64, err error) {
	for _, text := range []string{drainA, drainB} {
		left := (until - clock.Monotonic()) / time.Millisecond
		if left <= 0 {
			return 0, nil
		}
		var next int64
		err := query{e.read[p], text}.row(ctx, strconv.FormatInt(int64(left), 10)).Scan(&next)
		var refused *pgconn.PgError
		switch {
		case errors.As(err, &refused) && refused.Code == lockNotAvailable:
			return 0, nil
		case err != nil:
			return 0, fmt.Errorf("wait for the running commands: %w", err)
		case mark == 0: // the mark of the first lock: commands may have begun under the other one since
			mark = next
		}
	}
	return mark, nil
}

// LowWaterMark implements store.Engine.
func (e *engine) LowWaterMark(ctx context.Context) (oldest, next int64, err error) {
	marks := query{e.read[store.ByID], `SELECT ` + settledMark + `, ` + nextMark}
	if err := marks.row(ctx).Scan(&oldest, &next); err != nil {
		return 0, 0, fmt.Errorf("read the low-water mark of lists: %w", err)
	}
	if oldest >= next {
		return oldest, next, nil
	}
	mark, err := e.fence(ctx, store.Background)
	return max(oldest, mark), next, err
}

// listedTables are the tables whose rows have commit positions.
func listedTables() []string {
	return []string{
		"merchants", "api_keys", "transactions", "captures", "refunds", "customers", "payment_methods", "events",
		"webhook_endpoints", "webhook_deliveries", "removed_positions",
	}
}

// keepPositions raises the offset of commit positions if the database was restored from a dump on a
// server with lower transaction numbers. Without it, lists would show new rows among the old ones.
func keepPositions(ctx context.Context, pool *pgxpool.Pool) error {
	newest := "0"
	for _, table := range listedTables() {
		newest += ", (SELECT MAX(position) FROM (SELECT position FROM " + table + " ORDER BY id DESC LIMIT 1000) AS newest)"
	}
	restored := `SELECT GREATEST(` + newest + `) >= ` + nextMark
	var found bool
	err := pool.QueryRow(ctx, restored).Scan(&found)
	if err == nil && found {
		err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return raiseOffset(ctx, tx, restored) })
	}
	if err != nil {
		return fmt.Errorf("keep the commit positions of rows: %w", err)
	}
	return nil
}

// raiseOffset raises the offset so that new commit positions are above all existing ones. It does
// nothing if another process has raised it meanwhile.
func raiseOffset(ctx context.Context, tx pgx.Tx, restored string) error {
	_, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0; "+
		"SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' positions', 0))")
	if err != nil {
		return err
	}
	var found bool
	if err := tx.QueryRow(ctx, restored).Scan(&found); err != nil || !found {
		return err
	}
	highest := "0"
	for _, table := range listedTables() {
		highest += ", (SELECT MAX(position) FROM " + table + ")"
	}
	var offset int64
	err = tx.QueryRow(ctx, `SELECT commit_position('0') + GREATEST(`+highest+`) + 1 - `+nextMark).Scan(&offset)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, fmt.Sprintf(`CREATE OR REPLACE FUNCTION commit_position(xid8) RETURNS BIGINT
		LANGUAGE sql IMMUTABLE AS 'SELECT $1::text::bigint + %d'`, offset))
	return err
}
