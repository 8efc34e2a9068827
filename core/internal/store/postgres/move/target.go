package move

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/shared/secret"
)

var (
	// ErrForeign says that the target holds something that is not of this source.
	ErrForeign = errors.New("the target is not empty, and not of this store")
	// errServed says that the target has all of a source that is in use all the same.
	errServed = errors.New("the target was moved to before, and may have taken payments since: take an empty one, or go back by migrate-data --undo with this target")
	// errBusy says that somebody else moves into the target.
	errBusy = errors.New("another migrate-data runs into this target")
)

// target is the PostgreSQL store.
type target struct {
	pool  *pgxpool.Pool
	lock  *pgxpool.Conn // has the advisory lock that keeps a second move out
	place string        // for people
}

func openTarget(ctx context.Context, to secret.String) (*target, error) {
	cfg, err := pgxpool.ParseConfig(to.Reveal())
	if err != nil {
		return nil, errors.New("the URL of the target cannot be read: postgres://user:password@host:port/database") // the text holds a password
	}
	conn := cfg.ConnConfig
	conn.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	conn.RuntimeParams["application_name"], conn.RuntimeParams["TimeZone"] = "causeway-migrate-data", "UTC"
	conn.RuntimeParams["client_encoding"] = "UTF8" // whatever the URL or the role say
	delete(conn.RuntimeParams, "patience")         // which is said to a service
	cfg.MaxConns = workers + 2
	cfg.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		// A plan for any span whatever would read the whole table for each.
		_, err := c.Exec(ctx, "SELECT set_config('causeway.moving', 'yes', false), set_config('statement_timeout', '0', false), "+
			"set_config('plan_cache_mode', 'force_custom_plan', false), set_config('jit', 'off', false)")
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	t := &target{pool: pool, place: net.JoinHostPort(conn.Host, strconv.Itoa(int(conn.Port))) + "/" + conn.Database}
	if t.lock, err = pool.Acquire(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("target: %w", err)
	}
	if err := t.takeLock(ctx); err != nil {
		t.close()
		return nil, fmt.Errorf("target: %w", err)
	}
	return t, nil
}

// takeLock keeps other moves out. It waits a little for one that has ended, until the server has noticed.
func (t *target) takeLock(ctx context.Context) error {
	_, err := t.lock.Exec(ctx, "SELECT set_config('lock_timeout', '2s', false)")
	if err == nil {
		_, err = t.lock.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended('causeway migrate-data ' || current_schema(), 0))")
	}
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == "55P03" {
		return errBusy
	}
	if err == nil {
		_, err = t.lock.Exec(ctx, "SELECT set_config('lock_timeout', '0', false)")
	}
	return err
}

// close closes the connections, and with them the lock goes.
func (t *target) close() {
	t.lock.Release()
	t.pool.Close()
}

// makeSchema makes the tables in a database that has none, and refuses another build's.
func (t *target) makeSchema(ctx context.Context, to secret.String) error {
	var encoding string
	if err := t.lock.QueryRow(ctx, "SELECT current_setting('server_encoding')").Scan(&encoding); err != nil {
		return fmt.Errorf("target: %w", err)
	}
	if encoding != "UTF8" {
		return fmt.Errorf("the target's encoding is %s, it must be UTF8", encoding)
	}
	want, err := postgres.SchemaVersion()
	if err != nil {
		return err
	}
	have, err := t.version(ctx)
	if err != nil {
		return err
	}
	if have < want {
		used, err := t.used(ctx)
		if err != nil {
			return err
		}
		if !used { // it is new, or the one before was killed while it made it
			return postgres.Migrate(ctx, to)
		}
	}
	if have != want {
		return fmt.Errorf("the target is of schema version %d, this build's is %d: use the build that it is of", have, want)
	}
	return nil
}

// version is of the target's schema, 0 when it has none.
func (t *target) version(ctx context.Context) (have int64, err error) {
	var there bool
	err = t.lock.QueryRow(ctx, "SELECT to_regclass('core_schema') IS NOT NULL").Scan(&there)
	if err == nil && there {
		err = t.lock.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM core_schema WHERE is_applied").Scan(&have)
	}
	if err != nil {
		return 0, fmt.Errorf("schema version of the target: %w", err)
	}
	return have, nil
}

// used reports whether there is a merchant, before whom there is nothing else, or a mark.
func (t *target) used(ctx context.Context) (used bool, err error) {
	for _, name := range []string{"merchants", "moves"} {
		var there bool
		err := t.lock.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", name).Scan(&there)
		if err == nil && there {
			err = t.lock.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM "+quoted(name)+")").Scan(&there)
		}
		if err != nil || there {
			return there, err
		}
	}
	return false, nil
}

// mark is what the target is marked as; zero when it is not.
type mark struct{ state, identity string }

func (t *target) mark(ctx context.Context) (m mark, err error) {
	err = t.lock.QueryRow(ctx, "SELECT state, identity FROM moves WHERE id = 1").Scan(&m.state, &m.identity)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return m, fmt.Errorf("look whether the target has been moved to: %w", err)
	}
	return m, nil
}

// claim makes an empty target ours, and finds that it is.
func (t *target) claim(ctx context.Context, tables []*table, identity string, at int64) error {
	m, err := t.mark(ctx)
	switch {
	case err != nil:
		return err
	case m.state != "" && m.identity != identity:
		return fmt.Errorf("%w: it is of another one's move", ErrForeign)
	case m.state == store.Arriving:
		return nil
	case m.state == store.Undoing:
		return errors.New("the move into this target is being taken back: run migrate-data --undo again")
	case m.state == store.Arrived:
		return store.ErrMoveDone
	}
	return t.within(ctx, func(tx pgx.Tx) error {
		if err := guardTarget(ctx, tx, tables); err != nil { // which also waits for writers, and keeps new ones out
			return err
		}
		for _, table := range tables {
			var found bool
			if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM "+quoted(table.name)+")").Scan(&found); err != nil {
				return fmt.Errorf("target: %w", err)
			}
			if found {
				return fmt.Errorf("%w: there are rows in %s", ErrForeign, table.name)
			}
		}
		_, err := tx.Exec(ctx, "INSERT INTO moves (id, state, identity, place, at) VALUES (1, $1, $2, '', $3)", store.Arriving, identity, at)
		return err
	})
}

// arrive has the target be the store, with what a service needs there besides the rows.
func (t *target) arrive(ctx context.Context, tables []*table, l store.Luggage, at int64) error {
	return t.turnWith(ctx, tables, store.Arrived, at, func(tx pgx.Tx) error {
		if err := run(ctx, tx, []string{"DELETE FROM secrets", "DELETE FROM simulator_requests"}); err != nil {
			return err
		}
		for name, sealed := range l.Secrets {
			if _, err := tx.Exec(ctx, "INSERT INTO secrets (name, sealed) VALUES ($1, $2)", name, sealed); err != nil {
				return err
			}
		}
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"simulator_requests"}, []string{"key", "line", "voided", "at"},
			pgx.CopyFromSlice(len(l.Simulated), func(i int) ([]any, error) {
				r := l.Simulated[i]
				voided := 0
				if r.Voided {
					voided = 1
				}
				return []any{r.Key, r.Line, voided, at}, nil
			}))
		return err
	})
}

// turn changes the state of the target, and what may be written to it.
func (t *target) turn(ctx context.Context, tables []*table, state string, at int64) error {
	return t.turnWith(ctx, tables, state, at, func(pgx.Tx) error { return nil })
}

// turnWith is turn with more in the same commit.
func (t *target) turnWith(ctx context.Context, tables []*table, state string, at int64, more func(pgx.Tx) error) error {
	return t.within(ctx, func(tx pgx.Tx) error {
		done, err := tx.Exec(ctx, "UPDATE moves SET state = $1, at = $2 WHERE id = 1", state, at)
		if err != nil || done.RowsAffected() != 1 {
			return fmt.Errorf("mark the target: %d marks: %w", done.RowsAffected(), err)
		}
		if err := more(tx); err != nil {
			return err
		}
		if state == store.Arrived {
			return freeTarget(ctx, tx, tables)
		}
		return guardTarget(ctx, tx, tables)
	})
}

// within runs fn in a durable transaction of the connection that has the lock: one that lost it fails.
func (t *target) within(ctx context.Context, fn func(pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, t.lock, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL synchronous_commit = on"); err != nil {
			return err
		}
		return fn(tx)
	})
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	return nil
}

// guarded are the names of the tables that refuse writes: with those that are moved the ones by which a core is found healthy, and lives.
func guarded(tables []*table) []string {
	out := make([]string, 0, len(tables)+3)
	for _, t := range tables {
		out = append(out, t.name)
	}
	return append(out, "cores", "lead", "store_probes")
}

// guardTarget has the target refuse all writes but those of a move.
func guardTarget(ctx context.Context, tx pgx.Tx, tables []*table) error {
	statements := []string{`CREATE OR REPLACE FUNCTION only_a_move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF current_setting('causeway.moving', true) IS DISTINCT FROM 'yes' THEN
			RAISE EXCEPTION 'a move into this store has not ended';
		END IF;
		RETURN NULL; END $$`}
	for _, name := range guarded(tables) {
		statements = append(statements, fmt.Sprintf(`CREATE OR REPLACE TRIGGER only_a_move BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s
			FOR EACH STATEMENT EXECUTE FUNCTION only_a_move()`, quoted(name)))
	}
	return run(ctx, tx, statements)
}

func freeTarget(ctx context.Context, tx pgx.Tx, tables []*table) error {
	var statements []string
	for _, name := range guarded(tables) {
		statements = append(statements, "DROP TRIGGER IF EXISTS only_a_move ON "+quoted(name))
	}
	return run(ctx, tx, append(statements, "DROP FUNCTION IF EXISTS only_a_move()"))
}

func run(ctx context.Context, tx pgx.Tx, statements []string) error {
	for _, s := range statements {
		if _, err := tx.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// targetOnly are columns that the source has no use for. Rows that come have what a new row has there: events that were before those of the target
// are at place 0, before its own.
var targetOnly = map[string]string{"events": "place"}

// compare refuses a target whose tables are not made as the source's, and learns from it what else is unique.
func (t *target) compare(ctx context.Context, tables []*table) error {
	for _, table := range tables {
		have, err := t.columns(ctx, table.name)
		if err != nil {
			return err
		}
		want := map[string]kind{}
		for _, c := range table.columns {
			want[c.name] = c.kind
		}
		for name, k := range want {
			if got, ok := have[name]; !ok || got != k {
				return fmt.Errorf("the stores differ in their schema: the target has no %s.%s as the source has it", table.name, name)
			}
		}
		delete(have, targetOnly[table.name])
		if len(have) != len(want) {
			return fmt.Errorf("the stores differ in their schema: %s has %d columns, at the target %d", table.name, len(want), len(have))
		}
		if err := t.uniques(ctx, table); err != nil {
			return err
		}
	}
	return nil
}

func (t *target) columns(ctx context.Context, name string) (map[string]kind, error) {
	rows, err := t.lock.Query(ctx, `SELECT attname, format_type(atttypid, NULL) FROM pg_attribute
		WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`, quoted(name))
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	out := map[string]kind{}
	kinds := map[string]kind{"bigint": integer, "integer": integer, "smallint": integer, "text": text, "bytea": bytes}
	var column, of string
	_, err = pgx.ForEachRow(rows, []any{&column, &of}, func() error {
		k, known := kinds[of]
		if !known {
			return fmt.Errorf("%s.%s is of a type that cannot be moved to: %s", name, column, of)
		}
		out[column] = k
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	return out, nil
}

// uniques reads which columns no two rows have in common, apart from the key.
func (t *target) uniques(ctx context.Context, of *table) error {
	rows, err := t.lock.Query(ctx, `SELECT array_agg(a.attname ORDER BY a.attname)::text[] FROM pg_index i
		JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
		WHERE i.indrelid = to_regclass($1) AND i.indisunique AND NOT i.indisprimary GROUP BY i.indexrelid`, quoted(of.name))
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	var names []string
	_, err = pgx.ForEachRow(rows, []any{&names}, func() error {
		var places []int
		for i, c := range of.columns {
			if slices.Contains(names, c.name) {
				places = append(places, i)
			}
		}
		of.unique = append(of.unique, places)
		return nil
	})
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	return nil
}

// setSequences has the numbers that the target gives rows go on behind those that there are.
func (t *target) setSequences(ctx context.Context, tables []*table) error {
	for _, table := range tables {
		for _, c := range table.columns {
			name := quoted(c.name)
			_, err := t.lock.Exec(ctx, strings.NewReplacer("@table", quoted(table.name), "@column", name).Replace(
				`SELECT setval(pg_get_serial_sequence($1, $2), greatest(max(@column), 1), count(*) > 0) FROM @table
				HAVING pg_get_serial_sequence($1, $2) IS NOT NULL`), quoted(table.name), c.name)
			if err != nil && c.kind == integer {
				return fmt.Errorf("number the rows of %s: %w", table.name, err)
			}
		}
	}
	return nil
}
