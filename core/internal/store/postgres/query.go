package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// readers returns how many connections a purpose has. The URL can raise the number for reads by id
// only: more connections for lists would give one merchant more of the server.
func readers(p store.Purpose) poolSize {
	if p == store.ByID {
		return poolSize{connections: 4}
	}
	return poolSize{connections: 2, fixed: true}
}

// reading are the settings of read connections.
var reading = map[string]string{"statement_timeout": "30000"}

// reads is the connections of a purpose.
type reads struct {
	pool    *pgxpool.Pool
	purpose store.Purpose
	// patience is how long a read by id may take. Other reads may last for patience after the time at
	// which the server ends them.
	patience time.Duration
}

// openReads opens the connections of a purpose.
func (s *source) openReads(ctx context.Context, p store.Purpose) (*reads, error) {
	settings := maps.Clone(reading)
	if d, ok := p.Time(ctx); ok {
		settings["statement_timeout"] = strconv.FormatInt(d.Milliseconds(), 10)
		// A read uses only one process of the server.
		settings["max_parallel_workers_per_gather"], settings["jit"] = "0", "off"
	}
	of := &source{config: s.config.Copy(), sized: s.sized}
	if p == store.Listing {
		of.config.ConnConfig.BuildContextWatcherHandler = cancelRequest
	}
	pool, err := of.open(ctx, readers(p), settings)
	if err != nil {
		return nil, err
	}
	return &reads{pool, p, s.patience}, nil
}

// cancelRequest ends a statement whose context has ended by a request to the server, which keeps
// the connection. The connection closes if that takes a second.
func cancelRequest(conn *pgconn.PgConn) ctxwatch.Handler {
	return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: time.Second}
}

// limited returns the context of a read. A read for a client does not end with the client's
// context: a canceled read can cost the connection.
func (r *reads) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	d, _ := r.purpose.Time(ctx)
	if r.purpose != store.Background {
		ctx = context.WithoutCancel(ctx)
	}
	if r.hurried(ctx) {
		return context.WithTimeout(ctx, d)
	}
	return context.WithTimeout(ctx, d+r.patience)
}

// hurried reports whether a read must end before the server's timeout.
func (r *reads) hurried(ctx context.Context) bool {
	d, _ := r.purpose.Time(ctx)
	whole, _ := r.purpose.Time(store.WholeTime(ctx))
	return d < whole
}

// ended returns the error of a read with a context of limited.
func (r *reads) ended(ctx context.Context, err error) error {
	var e *pgconn.PgError
	canceled := r.purpose == store.Listing && errors.As(err, &e) && e.Code == queryCanceled
	if canceled || err != nil && r.hurried(ctx) && ctx.Err() != nil {
		return r.purpose.Expired()
	}
	return explain(err)
}

// query is a read outside of commands. It reads from the primary: decisions must not rest on old
// data.
type query struct {
	*reads
	text string
}

// fail implements failer.
func (q query) fail(what string, err error) error { return fmt.Errorf("%s: %w", what, asFault(err)) }

// Readers implements store.Engine.
func (e *engine) Readers(p store.Purpose) int { return int(e.read[p].pool.Stat().MaxConns()) }

// Row implements store.Engine. Each connection prepares its statements itself.
func (e *engine) Row(ctx context.Context, p store.Purpose, s *store.Statement, args ...any) store.Scanner {
	return query{e.read[p], e.sql[s]}.row(ctx, args...)
}

// Each implements store.Engine.
func (e *engine) Each(
	ctx context.Context, p store.Purpose, s *store.Statement, begin func(), scan func(store.Scanner) error, args ...any,
) error {
	values, err := arguments(args)
	if err != nil {
		return err
	}
	q := query{e.read[p], e.sql[s]}
	ctx, cancel := q.limited(ctx)
	defer cancel()
	begin()
	rows, err := q.pool.Query(ctx, q.text, values...)
	err = each(rows, err, q, scan)
	if q.prepareAnew(err) { // the error comes before the first row
		rows, err = q.pool.Query(ctx, q.text, values...)
		err = each(rows, err, q, scan)
	}
	return q.ended(ctx, err)
}

// row returns the first row.
func (q query) row(ctx context.Context, args ...any) store.Scanner { return lazyRow{q, ctx, args} }

// lazyRow is a row that is read when it is scanned.
type lazyRow struct {
	query
	ctx  context.Context //nolint:containedctx // the caller's, which scans immediately
	args []any
}

// Scan implements store.Scanner.
func (r lazyRow) Scan(dest ...any) error {
	values, err := arguments(r.args)
	if err != nil {
		return err
	}
	ctx, cancel := r.limited(r.ctx)
	defer cancel()
	err = scanner{r.pool.QueryRow(ctx, r.text, values...), r}.Scan(dest...)
	if r.prepareAnew(err) {
		err = scanner{r.pool.QueryRow(ctx, r.text, values...), r}.Scan(dest...)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return r.ended(ctx, err)
}

// prepareAnew reports whether a read was rejected because its statement was prepared before a
// migration. If so, it drops all prepared statements.
func (r *reads) prepareAnew(err error) bool {
	if outdated(err) {
		r.pool.Reset()
		return true
	}
	return false
}
