package crash

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// shelf is the service's store, read from beside it.
type shelf struct {
	db     *sql.DB
	server bool   // PostgreSQL
	folder string // of SQLite's file, and of the acquirer's journal
}

// openShelf opens what is at a place: a standalone's data folder, or the URL of a PostgreSQL server, whose driver "pgx" the test has to link.
func openShelf(ctx context.Context, place string) (*shelf, error) {
	s := &shelf{server: strings.HasPrefix(place, "postgres://"), folder: filepath.Join(place, "core")}
	driver, source := "pgx", place
	if !s.server {
		driver, source = "sqlite", "file:"+filepath.Join(s.folder, "causeway.db")+"?mode=ro&_pragma=busy_timeout(10000)"
	}
	var err error
	if s.db, err = sql.Open(driver, source); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if !s.server {
		s.db.SetMaxOpenConns(1) // an attached database belongs to one connection
		s.db.SetConnMaxLifetime(0)
		if _, err := s.db.ExecContext(ctx, "ATTACH DATABASE ? AS codes", filepath.Join(s.folder, "codes.db")); err != nil {
			return nil, errors.Join(fmt.Errorf("store: %w", err), s.db.Close())
		}
	}
	return s, nil
}

// words are a query in the words of the engine: ?1 and so on are its parameters.
func (s *shelf) words(query string) string {
	if !s.server {
		return query
	}
	return jsonMember.ReplaceAllString(strings.ReplaceAll(query, "?", "$"), "details::jsonb #>> '{$1,$2}'")
}

var jsonMember = regexp.MustCompile(`json_extract\(details, '\$\.(\w+)\.(\w+)'\)`)

// unfinished counts what a service that has recovered has no more of.
type unfinished struct{ what, query string }

var open = []unfinished{
	{"transactions that are open", `SELECT COUNT(*) FROM transactions WHERE status IN ('processing', 'unknown') OR operation <> ''`},
	{"amounts that are pending", `SELECT COUNT(*) FROM transactions WHERE amount_capture_pending + amount_refund_pending <> 0`},
	{"captures that are pending", `SELECT COUNT(*) FROM captures WHERE state = 'pending'`},
	{"refunds that are pending", `SELECT COUNT(*) FROM refunds WHERE state = 'pending'`},
	{"idempotency keys in progress", `SELECT COUNT(*) FROM idempotency_keys WHERE status = 0`},
}

// wrong are what must never be there, among what is newer than ?1.
var wrong = []struct{ what, query string }{
	{"used tokens with a security code", `SELECT COUNT(*) FROM tokens JOIN security_codes ON token_id = id WHERE id > ?1 AND used_by <> 0`},
	{"tokens used twice", `SELECT COUNT(*) FROM (SELECT 1 FROM transactions WHERE id > ?1 AND payment_method LIKE 'tok\_%' ESCAPE '\'
		AND status NOT IN ('failed', 'requires_confirmation', 'canceled') GROUP BY payment_method HAVING COUNT(*) > 1) AS twice`},
	{"transactions whose amounts cannot be", `SELECT COUNT(*) FROM transactions WHERE id > ?1 AND (amount_refunded > amount_captured
		OR amount_captured > amount_authorized OR amount_authorized > amount OR amount_settled > amount_captured)`},
	{"transactions whose captures do not add up", `SELECT COUNT(*) FROM transactions t WHERE id > ?1 AND amount_captured <>
		(SELECT COALESCE(SUM(amount), 0) FROM captures c WHERE c.transaction_id = t.id AND c.state = 'succeeded')`},
	{"transactions whose refunds do not add up", `SELECT COUNT(*) FROM transactions t WHERE id > ?1 AND amount_refunded <>
		(SELECT COALESCE(SUM(amount), 0) FROM refunds r WHERE r.transaction_id = t.id AND r.state = 'succeeded')`},
	{"captures whose refunds do not add up", `SELECT COUNT(*) FROM captures c WHERE id > ?1 AND amount_refunded <> (SELECT COALESCE(SUM(amount), 0)
		FROM refunds r WHERE r.transaction_id = c.transaction_id AND r.capture_id = c.id AND r.state = 'succeeded')`},
}

// count runs a query for one number.
func (s *shelf) count(ctx context.Context, query string, args ...any) (int, error) {
	var n int
	if err := s.db.QueryRowContext(ctx, s.words(query), args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("store: %w", err)
	}
	return n, nil
}

// quiet waits until nothing is open, and returns what still is when the wait is over.
func (s *shelf) quiet(ctx context.Context) (left []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		left, err = s.left(context.WithoutCancel(ctx), open)
		if err != nil || len(left) == 0 {
			return nil, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return left, nil
		}
	}
}

// left returns which of the counts are not zero.
func (s *shelf) left(ctx context.Context, of []unfinished) (left []string, err error) {
	for _, o := range of {
		n, err := s.count(ctx, o.query)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			left = append(left, fmt.Sprintf("%d %s", n, o.what))
		}
	}
	return left, nil
}

// faults runs the queries that must find nothing.
func (s *shelf) faults(ctx context.Context, since int64) ([]string, error) {
	var out []string
	for _, w := range wrong {
		n, err := s.count(ctx, w.query, since)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.what, err)
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, w.what))
		}
	}
	return out, nil
}

// whole asks the engine whether the file is whole.
func (s *shelf) whole(ctx context.Context) (string, error) {
	lines, err := s.texts(ctx, `PRAGMA integrity_check`)
	if err != nil {
		return "", fmt.Errorf("integrity: %w", err)
	}
	return strings.Join(lines, "; "), nil
}

// texts reads a column.
func (s *shelf) texts(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what there is to say
	var out []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, rows.Err()
}

// deliveries counts, by event, how often an endpoint gets or got each one that is newer than since.
func (s *shelf) deliveries(ctx context.Context, endpoint, since int64) (map[int64]int, error) {
	rows, err := s.db.QueryContext(ctx, s.words(`SELECT event_id, COUNT(*) FROM webhook_deliveries WHERE endpoint_id = ?1 AND event_id > ?2 GROUP BY event_id`),
		endpoint, since)
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err says what there is to say
	out := map[int64]int{}
	for rows.Next() {
		var event int64
		var n int
		if err := rows.Scan(&event, &n); err != nil {
			return nil, fmt.Errorf("deliveries: %w", err)
		}
		out[event] = n
	}
	return out, rows.Err()
}

// storedToken is a token as it is kept.
type storedToken struct {
	id     int64
	holder string
	usedBy int64
	hasCVC bool
	hadCVC bool
}

// tokens reads those that are newer than since.
func (s *shelf) tokens(ctx context.Context, since int64) ([]storedToken, error) {
	rows, err := s.db.QueryContext(ctx, s.words(`SELECT id, COALESCE(json_extract(details, '$.card.holder'), json_extract(details, '$.bank_account.holder'), ''),
		used_by, EXISTS (SELECT 1 FROM security_codes WHERE token_id = id), cvc_given FROM tokens WHERE id > ?1`), since)
	if err != nil {
		return nil, fmt.Errorf("tokens: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err says what there is to say
	var out []storedToken
	for rows.Next() {
		var t storedToken
		if err := rows.Scan(&t.id, &t.holder, &t.usedBy, &t.hasCVC, &t.hadCVC); err != nil {
			return nil, fmt.Errorf("tokens: %w", err)
		}
		out = append(out, t)
	}
	return out, rows.Err()
}
