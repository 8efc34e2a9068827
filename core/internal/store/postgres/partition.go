package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/causeway-pay/causeway/shared/id"
)

// partitionedTable is a table that is partitioned by id, which is by time. Each partition covers a
// span of days, counted from 1970. The first partition covers all time before. The default
// partition has the rows that no other partition covers.
type partitionedTable struct {
	name  string
	days  int    // the length of a span
	slack int    // how many days past its retention a row may remain before its partition is dropped
	param string // storage parameters of a partition
}

// partitionedTables returns the tables that grow without bound and whose old rows are removed whole
// partitions at a time. deploy/docs/architecture.md names the others.
func partitionedTables() []partitionedTable {
	return []partitionedTable{
		{name: "events", days: 28, slack: 28},
		{name: "webhook_deliveries", days: 7, slack: 14, param: " WITH (fillfactor = 70)"},
	}
}

const (
	// spansAhead is for how many spans after the current one partitions exist. If no core leads for
	// longer than that, new rows go to the default partition.
	spansAhead = 2
	// setLockTimeout bounds how long a change of the partitions waits for the lock of the table.
	// Payments wait behind it. A change that times out is tried again later.
	setLockTimeout = "SET LOCAL lock_timeout = '200ms'"
)

func (t partitionedTable) span() time.Duration      { return time.Duration(t.days) * 24 * time.Hour }
func (t partitionedTable) defaultPartition() string { return t.name + "_rest" }

// floor returns the beginning of the span that a time is in.
func (t partitionedTable) floor(at time.Time) time.Time {
	days := at.Unix() / (24 * 60 * 60)
	return time.Unix((days-days%int64(t.days))*24*60*60, 0).UTC()
}

// slackOf returns how long past its retention a row of a table may stay until its partition is
// dropped.
func slackOf(table string) time.Duration {
	for _, t := range partitionedTables() {
		if t.name == table {
			return time.Duration(t.slack) * 24 * time.Hour
		}
	}
	return 0
}

// partition is a partition of a table, with its ids: from is the first one, until is above the
// last.
type partition struct {
	name        string
	from, until int64
}

// missing returns the partitions to create if the last one ends at an id. One covers all past spans
// without a partition. Each of the others covers the current span or one of spansAhead.
func (t partitionedTable) missing(last int64, now time.Time) []partition {
	begin := t.floor(now)
	end := id.At(begin.Add((spansAhead + 1) * t.span()))
	var out []partition
	add := func(until int64) {
		out = append(out, partition{t.name + id.TimeOf(last).UTC().Format("_20060102"), last, until})
		last = until
	}
	if current := id.At(begin); last < current {
		add(current)
	}
	for last < end {
		add(id.At(t.floor(id.TimeOf(last)).Add(t.span())))
	}
	return out
}

// partitionsOf returns the partitions of a table, oldest first, without the default partition. It
// leaves from at 0.
func partitionsOf(ctx context.Context, q querier, table string) ([]partition, error) {
	const text = `SELECT c.relname,
			(regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''?([0-9]+)'))[1]::bigint AS until
		FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
		WHERE inhparent = to_regclass($1) AND pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT' ORDER BY until`
	rows, err := q.Query(ctx, text, table)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p partition, err error) {
		return p, row.Scan(&p.name, &p.until)
	})
}

type querier interface {
	Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
}

// MakePartitions implements store.Engine. If several cores call it at the same time, one of them
// creates the partitions.
func (e *engine) MakePartitions(ctx context.Context, now time.Time) error {
	for _, t := range partitionedTables() {
		if err := e.createMissing(ctx, t, now); err != nil {
			return explain(fmt.Errorf("create partitions of %s: %w", t.name, asFault(err)))
		}
	}
	return nil
}

func (e *engine) createMissing(ctx context.Context, t partitionedTable, now time.Time) error {
	have, err := partitionsOf(ctx, e.background, t.name)
	if err != nil || len(have) == 0 {
		return err
	}
	wanted := t.missing(have[len(have)-1].until, now)
	if len(wanted) == 0 {
		return nil
	}
	first := wanted[0]
	var highest int64 // id in the default partition, of a row that came before its partition
	text := "SELECT COALESCE(MAX(id), 0) FROM " + t.defaultPartition() + " WHERE id >= $1"
	if err := e.background.QueryRow(ctx, text, first.from).Scan(&highest); err != nil {
		return err
	}
	if highest > 0 {
		end := max(highest+1, id.At(now.Add(t.span())))
		last := partition{name: first.name, from: first.from, until: id.At(t.floor(id.TimeOf(end)).Add(t.span()))}
		if err := e.convertDefault(ctx, t, last); err != nil {
			return err
		}
		wanted = t.missing(last.until, now)
	}
	for _, p := range wanted {
		if err := e.createPartition(ctx, t, p); err != nil {
			return err
		}
	}
	return nil
}

// changePartitions runs fn in a transaction with the lock for changes of partitions. It does
// nothing if another core holds the lock, or if the last partition of the table no longer ends at
// last.
func (e *engine) changePartitions(
	ctx context.Context, t partitionedTable, last int64, fn func(exec func(string) error) error,
) error {
	return pgx.BeginFunc(ctx, e.background, func(tx pgx.Tx) error {
		const lock = "SELECT pg_try_advisory_xact_lock(hashtextextended(current_schema() || ' parts', 0))"
		var free bool
		if err := tx.QueryRow(ctx, lock).Scan(&free); err != nil || !free {
			return err
		}
		have, err := partitionsOf(ctx, tx, t.name)
		if err != nil || len(have) == 0 || have[len(have)-1].until != last {
			return err
		}
		exec := func(text string) error { _, err := tx.Exec(ctx, text); return err }
		if err := exec(setLockTimeout); err != nil {
			return err
		}
		return fn(exec)
	})
}

// runAll runs statements until one fails.
func runAll(exec func(string) error, statements ...string) error {
	for _, s := range statements {
		if err := exec(s); err != nil {
			return err
		}
	}
	return nil
}

// createPartition creates a table and attaches it as a partition. Reads and writes of the other
// partitions go on meanwhile. Reads and writes of the default partition wait.
func (e *engine) createPartition(ctx context.Context, t partitionedTable, p partition) error {
	return e.changePartitions(ctx, t, p.from, func(exec func(string) error) error {
		return runAll(
			exec,
			"CREATE TABLE "+p.name+" (LIKE "+t.name+" INCLUDING ALL)"+t.param,
			fmt.Sprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)", t.name, p.name, p.from, p.until),
		)
	})
}

// convertDefault turns the default partition, with its rows, into a partition of its ids, and
// creates an empty default partition. It moves no row. A validated constraint proves the range of
// the ids, so that the last step, which locks the table, need not read the rows.
func (e *engine) convertDefault(ctx context.Context, t partitionedTable, p partition) error {
	old := t.defaultPartition()
	bound := fmt.Sprintf("CHECK (id >= %d AND id < %d)", p.from, p.until)
	err := e.changePartitions(ctx, t, p.from, func(exec func(string) error) error {
		return runAll(
			exec,
			"ALTER TABLE "+old+" DROP CONSTRAINT IF EXISTS part",
			"ALTER TABLE "+old+" ADD CONSTRAINT part "+bound+" NOT VALID",
		)
	})
	if err == nil {
		err = e.changePartitions(ctx, t, p.from, func(exec func(string) error) error {
			return runAll(exec, "SET LOCAL statement_timeout = 0", "ALTER TABLE "+old+" VALIDATE CONSTRAINT part")
		})
	}
	if err != nil {
		return err
	}
	return e.changePartitions(ctx, t, p.from, func(exec func(string) error) error {
		return runAll(
			exec,
			"LOCK TABLE ONLY "+t.name+" IN ACCESS EXCLUSIVE MODE",
			"ALTER TABLE "+t.name+" DETACH PARTITION "+old,
			"ALTER TABLE "+old+" RENAME TO "+p.name,
			fmt.Sprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)", t.name, p.name, p.from, p.until),
			"ALTER TABLE "+p.name+" DROP CONSTRAINT part",
			"CREATE TABLE "+old+" PARTITION OF "+t.name+" DEFAULT"+t.param,
		)
	})
}

// DropPartitions implements store.Engine. It counts by the earlier one of now and the server's
// time: a core whose clock is ahead would otherwise drop rows too early.
func (e *engine) DropPartitions(
	ctx context.Context, table string, now time.Time, keep time.Duration,
) (before time.Time, rows int64, err error) {
	var server time.Time
	if err := e.background.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&server); err != nil {
		return before, 0, explain(fmt.Errorf("drop partitions: %w", asFault(err)))
	}
	if server.Before(now) {
		now = server
	}
	before = now.Add(-keep)
	remaining := before.Add(-slackOf(table))
	have, err := partitionsOf(ctx, e.background, table)
	for _, p := range have {
		if err != nil || p.until > id.At(before) {
			break
		}
		var n int64
		if n, err = e.dropPartition(ctx, p.name); err == nil {
			rows += n
		}
	}
	if err != nil {
		return remaining, rows, explain(fmt.Errorf("drop partitions of %s: %w", table, asFault(err)))
	}
	return remaining, rows, nil
}

// dropPartition removes a partition. It returns the server's estimate of the number of its rows.
func (e *engine) dropPartition(ctx context.Context, name string) (rows int64, err error) {
	err = pgx.BeginFunc(ctx, e.background, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, setLockTimeout); err != nil {
			return err
		}
		const estimate = "SELECT GREATEST(reltuples, 0)::bigint FROM pg_class WHERE oid = to_regclass($1)"
		err := tx.QueryRow(ctx, estimate, name).Scan(&rows)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "DROP TABLE "+name)
		return err
	})
	return rows, err
}
