package move

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// tries is how often a piece is put that met others, which put theirs.
const tries = 8

// sum asks the target for what it has in a span.
func (t *target) sum(ctx context.Context, of *table, s span) (*Sum, error) {
	where, args := of.where("t", s)
	var rows int64
	var hash string
	query := fmt.Sprintf("SELECT count(*), coalesce(sum(%s), 0)::text FROM %s t WHERE %s", hashOf(of), quoted(of.name), where)
	if err := t.pool.QueryRow(ctx, query, args...).Scan(&rows, &hash); err != nil {
		return nil, fmt.Errorf("hash %s at the target: %w", of.name, err)
	}
	return parseSum(rows, hash)
}

// outcome is what came of a piece.
type outcome struct {
	sum     *Sum    // of the source's rows
	changed int64   // rows that were written or removed
	surplus [][]any // keys of rows to remove, once nothing needs them
}

// put makes the target have the rows of a piece, and no others in its span. It changes nothing where it has.
func (t *target) put(ctx context.Context, p *piece) (o outcome, err error) {
	o.sum = &Sum{}
	var h hasher
	for _, row := range p.rows {
		n, err := h.row(row)
		if err != nil {
			return o, fmt.Errorf("%s: %w", p.of.name, err)
		}
		o.sum.add(n)
	}
	have, err := t.sum(ctx, p.of, p.span)
	if err != nil || have.equal(o.sum) {
		return o, err
	}
	write := t.repair
	if have.rows == 0 {
		write = t.copy
	}
	for try := 1; ; try++ {
		o.changed, o.surplus, err = write(ctx, p)
		if err == nil {
			return o, nil
		}
		if !met(err) || try == tries {
			return o, fmt.Errorf("%s: %w", p.of.name, err)
		}
		write = t.repair
	}
}

// met reports whether a piece may go in when it is put again: it met one that was put at the same time, or a row elsewhere that is of old.
func met(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "40P01" || e.Code == "40001" || e.Code == "23505")
}

// lazily runs fn in a transaction that need not be durable by itself: the one that ends the move is, and with it all before.
func (t *target) lazily(ctx context.Context, fn func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, t.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL synchronous_commit = off"); err != nil {
			return err
		}
		return fn(tx)
	})
}

// copy puts a piece where there is nothing.
func (t *target) copy(ctx context.Context, p *piece) (n int64, _ [][]any, err error) {
	err = t.lazily(ctx, func(tx pgx.Tx) error {
		n, err = tx.CopyFrom(ctx, pgx.Identifier{p.of.name}, p.of.names(), pgx.CopyFromRows(p.rows))
		return err
	})
	return n, nil, err
}

// repair puts a piece where there is something.
func (t *target) repair(ctx context.Context, p *piece) (changed int64, surplus [][]any, err error) {
	err = t.lazily(ctx, func(tx pgx.Tx) error {
		r := repair{ctx: ctx, tx: tx, p: p}
		err := r.run()
		changed, surplus = r.changed, r.surplus
		return err
	})
	return changed, surplus, err
}

// repair is a piece that is being put where there is something.
type repair struct {
	ctx     context.Context //nolint:containedctx // it is the caller's, for one transaction
	tx      pgx.Tx
	p       *piece
	changed int64
	surplus [][]any
}

// run has the piece in a table of its own for a moment, and makes the two the same there.
func (r *repair) run() error {
	t := r.p.of
	temporary := "moving_" + t.name
	_, err := r.tx.Exec(r.ctx, fmt.Sprintf("CREATE TEMP TABLE %s ON COMMIT DROP AS SELECT %s FROM %s WITH NO DATA",
		quoted(temporary), t.list(t.all(), "@", ", "), quoted(t.name)))
	if err != nil {
		return err
	}
	if _, err := r.tx.CopyFrom(r.ctx, pgx.Identifier{temporary}, t.names(), pgx.CopyFromRows(r.p.rows)); err != nil {
		return err
	}
	// What is unique besides the key may have gone from one row to another. So rows that are not as they should be are removed, and put in
	// anew; but not those that others need, which are changed in place.
	if !t.needed && len(t.unique) > 0 {
		err = r.replace()
	} else {
		err = errors.Join(r.remove(), r.update())
	}
	if err != nil {
		return err
	}
	return r.count(r.words("INSERT INTO @t (@cols) OVERRIDING SYSTEM VALUE SELECT @cols FROM @m m WHERE NOT EXISTS (SELECT 1 FROM @t t WHERE @same)"))
}

// words fills in the names of the piece's tables and columns.
func (r *repair) words(statement string) string {
	t := r.p.of
	return strings.NewReplacer(
		"@t", quoted(t.name), "@m", quoted("moving_"+t.name), "@cols", t.list(t.all(), "@", ", "), "@same", t.list(t.key, "t.@ = m.@", " AND "),
		"@equal", t.list(t.all(), "t.@ IS NOT DISTINCT FROM m.@", " AND "), "@differ", t.list(t.rest(), "t.@ IS DISTINCT FROM m.@", " OR "),
		"@set", t.list(t.rest(), "@ = m.@", ", "), "@keys", t.list(t.key, "t.@", ", "),
	).Replace(statement)
}

func (r *repair) count(statement string, args ...any) error {
	done, err := r.tx.Exec(r.ctx, statement, args...)
	r.changed += done.RowsAffected()
	return err
}

// replace removes every row that is not as it should be, and those elsewhere that have what is unique of a row of the piece.
func (r *repair) replace() error {
	where, args := r.p.of.where("t", r.p.span)
	if err := r.count(r.words("DELETE FROM @t t WHERE "+where+" AND NOT EXISTS (SELECT 1 FROM @m m WHERE @equal)"), args...); err != nil {
		return err
	}
	for _, u := range r.p.of.unique {
		if err := r.count(r.words("DELETE FROM @t t USING @m m WHERE " + r.p.of.list(u, "t.@ = m.@", " AND ") + " AND NOT (@same)")); err != nil {
			return err
		}
	}
	return nil
}

// remove removes the rows that are not of the piece; those that others may still need are only noted.
func (r *repair) remove() error {
	where, args := r.p.of.where("t", r.p.span)
	gone := where + " AND NOT EXISTS (SELECT 1 FROM @m m WHERE @same)"
	if !r.p.of.needed {
		return r.count(r.words("DELETE FROM @t t WHERE "+gone), args...)
	}
	rows, err := r.tx.Query(r.ctx, r.words("SELECT @keys FROM @t t WHERE "+gone), args...)
	if err != nil {
		return err
	}
	r.surplus, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
	return err
}

func (r *repair) update() error {
	if len(r.p.of.rest()) == 0 {
		return nil
	}
	return r.count(r.words("UPDATE @t t SET @set FROM @m m WHERE @same AND (@differ)"))
}

// drop removes rows by their keys.
func (t *target) drop(ctx context.Context, of *table, keys [][]any) error {
	where := make([]string, len(of.key))
	for i, p := range of.key {
		where[i] = fmt.Sprintf("%s = $%d", quoted(of.columns[p].name), i+1)
	}
	return t.lazily(ctx, func(tx pgx.Tx) error {
		for _, key := range keys {
			if _, err := tx.Exec(ctx, "DELETE FROM "+quoted(of.name)+" WHERE "+strings.Join(where, " AND "), key...); err != nil {
				return fmt.Errorf("%s: %w", of.name, err)
			}
		}
		return nil
	})
}

// analyze has the target know what it holds by now, so that it finds its way from the first payment on.
func (t *target) analyze(ctx context.Context, of *table) error {
	if _, err := t.pool.Exec(ctx, "ANALYZE "+quoted(of.name)); err != nil {
		return fmt.Errorf("analyze %s: %w", of.name, err)
	}
	return nil
}
