package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/causeway-pay/causeway/shared/id"
)

// parted is a table that is kept in parts by time, which is by id. A part is of a span of so many days since 1970; the first is of all before, and
// the rest of what there is no part for.
type parted struct {
	name  string
	days  int
	slack int    // days that a row may be older than it is kept until its partition is dropped
	param string // storage parameters of a part
}

// partedTables are those that grow without end and of which what is old goes as a whole: see SCALING.md for the others.
func partedTables() []parted {
	return []parted{
		{name: "events", days: 28, slack: 28},
		{name: "webhook_deliveries", days: 7, slack: 14, param: " WITH (fillfactor = 70)"},
	}
}

const (
	// aheadParts is how many spans there are parts for behind the one that runs: so long may no core lead without a row in the rest.
	aheadParts = 2
	// partPatience is how long a change of the parts waits for whoever uses the table, and payments for it. It is tried again later.
	partPatience = "SET LOCAL lock_timeout = '200ms'"
)

func (t parted) span() time.Duration { return time.Duration(t.days) * 24 * time.Hour }
func (t parted) rest() string        { return t.name + "_rest" }

// floor is the beginning of the span that a time is in.
func (t parted) floor(at time.Time) time.Time {
	days := at.Unix() / (24 * 60 * 60)
	return time.Unix((days-days%int64(t.days))*24*60*60, 0).UTC()
}

// slackOf returns how long past its retention a row of a table may stay until its partition is dropped.
func slackOf(table string) time.Duration {
	for _, t := range partedTables() {
		if t.name == table {
			return time.Duration(t.slack) * 24 * time.Hour
		}
	}
	return 0
}

// part is a part of a table: of the ids from one up to another.
type part struct {
	name        string
	from, until int64
}

// next are the parts to make when the last one ends at an id: of what was missed, one; of the span that runs, and of those ahead.
func (t parted) next(last int64, now time.Time) []part {
	begin := t.floor(now)
	end := id.At(begin.Add((aheadParts + 1) * t.span()))
	var out []part
	add := func(until int64) {
		out = append(out, part{t.name + id.TimeOf(last).UTC().Format("_20060102"), last, until})
		last = until
	}
	if missed := id.At(begin); last < missed {
		add(missed)
	}
	for last < end {
		add(id.At(t.floor(id.TimeOf(last)).Add(t.span())))
	}
	return out
}

// parts are those of a table that end somewhere, oldest first, and its rest.
func parts(ctx context.Context, q querier, table string) ([]part, error) {
	rows, err := q.Query(ctx, `SELECT c.relname, (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''?([0-9]+)'))[1]::bigint AS until
		FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
		WHERE inhparent = to_regclass($1) AND pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT' ORDER BY until`, table)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p part, err error) { return p, row.Scan(&p.name, &p.until) })
}

type querier interface {
	Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
}

// MakePartitions implements store.Engine. Of several cores that do it at once one does.
func (e *engine) MakePartitions(ctx context.Context, now time.Time) error {
	for _, t := range partedTables() {
		if err := e.makePartsOf(ctx, t, now); err != nil {
			return explain(fmt.Errorf("make parts of %s: %w", t.name, came(err)))
		}
	}
	return nil
}

func (e *engine) makePartsOf(ctx context.Context, t parted, now time.Time) error {
	have, err := parts(ctx, e.background, t.name)
	if err != nil || len(have) == 0 {
		return err
	}
	wanted := t.next(have[len(have)-1].until, now)
	if len(wanted) == 0 {
		return nil
	}
	var strays int64 // rows that came when there was no part for them
	err = e.background.QueryRow(ctx, "SELECT COALESCE(MAX(id), 0) FROM "+t.rest()+" WHERE id >= $1", wanted[0].from).Scan(&strays)
	if err != nil {
		return err
	}
	if strays > 0 {
		end := max(strays+1, id.At(now.Add(t.span())))
		last := part{name: wanted[0].name, from: wanted[0].from, until: id.At(t.floor(id.TimeOf(end)).Add(t.span()))}
		if err := e.takeRest(ctx, t, last); err != nil {
			return err
		}
		wanted = t.next(last.until, now)
	}
	for _, p := range wanted {
		if err := e.makePart(ctx, t, p); err != nil {
			return err
		}
	}
	return nil
}

// changeParts runs fn in a transaction that no other core makes parts beside, unless one does that just now, and with a table whose last part ends at an id.
func (e *engine) changeParts(ctx context.Context, t parted, last int64, fn func(exec func(string) error) error) error {
	return pgx.BeginFunc(ctx, e.background, func(tx pgx.Tx) error {
		var free bool
		if err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock(hashtextextended(current_schema() || ' parts', 0))").Scan(&free); err != nil || !free {
			return err
		}
		have, err := parts(ctx, tx, t.name)
		if err != nil || len(have) == 0 || have[len(have)-1].until != last {
			return err
		}
		exec := func(text string) error { _, err := tx.Exec(ctx, text); return err }
		if err := exec(partPatience); err != nil {
			return err
		}
		return fn(exec)
	})
}

// inTurn runs statements until one fails.
func inTurn(exec func(string) error, statements ...string) error {
	for _, s := range statements {
		if err := exec(s); err != nil {
			return err
		}
	}
	return nil
}

// makePart makes a part beside the table and puts it there: neither who writes nor who reads waits for that, but for the rest.
func (e *engine) makePart(ctx context.Context, t parted, p part) error {
	return e.changeParts(ctx, t, p.from, func(exec func(string) error) error {
		return inTurn(
			exec,
			"CREATE TABLE "+p.name+" (LIKE "+t.name+" INCLUDING ALL)"+t.param,
			fmt.Sprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)", t.name, p.name, p.from, p.until),
		)
	})
}

// takeRest makes the rest a part, with all that has come there, and begins another: as the migration does it with the first part. No row is moved.
func (e *engine) takeRest(ctx context.Context, t parted, p part) error {
	bound := fmt.Sprintf("CHECK (id >= %d AND id < %d)", p.from, p.until)
	err := e.changeParts(ctx, t, p.from, func(exec func(string) error) error {
		return inTurn(
			exec,
			"ALTER TABLE "+t.rest()+" DROP CONSTRAINT IF EXISTS part",
			"ALTER TABLE "+t.rest()+" ADD CONSTRAINT part "+bound+" NOT VALID",
		)
	})
	if err == nil {
		err = e.changeParts(ctx, t, p.from, func(exec func(string) error) error {
			return inTurn(exec, "SET LOCAL statement_timeout = 0", "ALTER TABLE "+t.rest()+" VALIDATE CONSTRAINT part")
		})
	}
	if err != nil {
		return err
	}
	return e.changeParts(ctx, t, p.from, func(exec func(string) error) error {
		return inTurn(
			exec,
			"LOCK TABLE ONLY "+t.name+" IN ACCESS EXCLUSIVE MODE",
			"ALTER TABLE "+t.name+" DETACH PARTITION "+t.rest(),
			"ALTER TABLE "+t.rest()+" RENAME TO "+p.name,
			fmt.Sprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)", t.name, p.name, p.from, p.until),
			"ALTER TABLE "+p.name+" DROP CONSTRAINT part",
			"CREATE TABLE "+t.rest()+" PARTITION OF "+t.name+" DEFAULT"+t.param,
		)
	})
}

// DropPartitions implements store.Engine. The server's clock must agree that they are old: a core whose clock is wrong would remove what is not.
func (e *engine) DropPartitions(ctx context.Context, table string, now time.Time, keep time.Duration) (before time.Time, rows int64, err error) {
	var server time.Time
	if err := e.background.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&server); err != nil {
		return before, 0, explain(fmt.Errorf("drop parts: %w", came(err)))
	}
	if server.Before(now) {
		now = server
	}
	before = now.Add(-keep)
	rest := before.Add(-slackOf(table))
	have, err := parts(ctx, e.background, table)
	for _, p := range have {
		if err != nil || p.until > id.At(before) {
			break
		}
		var n int64
		if n, err = e.drop(ctx, p.name); err == nil {
			rows += n
		}
	}
	if err != nil {
		return rest, rows, explain(fmt.Errorf("drop parts of %s: %w", table, came(err)))
	}
	return rest, rows, nil
}

// drop removes a part, and tells about how many rows that were.
func (e *engine) drop(ctx context.Context, name string) (rows int64, err error) {
	err = pgx.BeginFunc(ctx, e.background, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, partPatience); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, "SELECT GREATEST(reltuples, 0)::bigint FROM pg_class WHERE oid = to_regclass($1)", name).Scan(&rows)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "DROP TABLE "+name)
		return err
	})
	return rows, err
}
