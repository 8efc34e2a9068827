package crash

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// Location names the data of a service.
type Location struct {
	Store   string // a standalone's data folder, or the URL of a PostgreSQL server
	Journal string // path of the simulated acquirer's journal
}

// Folder returns the location of a standalone's data folder.
func Folder(data string) Location {
	return Location{Store: data, Journal: filepath.Join(data, "core", "simulator.journal")}
}

// storeReader is the service's store, read by separate code.
type storeReader struct {
	ctx     context.Context //nolint:containedctx // it lives as long as the reader
	db      *sql.DB
	server  bool   // PostgreSQL
	journal string // path of the acquirer's journal
}

// withStore calls fn with the store at a location, and returns the error that ended fn early. For a
// server, the test must link the driver "pgx".
func withStore(ctx context.Context, location Location, fn func(*storeReader)) error {
	s := &storeReader{ctx: ctx, server: strings.HasPrefix(location.Store, "postgres://"), journal: location.Journal}
	driver, source, folder := "pgx", location.Store, filepath.Join(location.Store, "core")
	if !s.server {
		driver, source = "sqlite", "file:"+filepath.Join(folder, "causeway.db")+"?mode=ro&_pragma=busy_timeout(300000)"
	}
	var err error
	if s.db, err = sql.Open(driver, source); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer func() { _ = s.db.Close() }() // it was only read
	if !s.server {
		s.db.SetMaxOpenConns(1) // an attached database belongs to one connection
		s.db.SetConnMaxLifetime(0)
		if _, err := s.db.ExecContext(ctx, "ATTACH DATABASE ? AS codes", filepath.Join(folder, "codes.db")); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	return stopped(func() { fn(s) })
}

// words returns a query in the engine's dialect of SQL. Its parameters are ?1, ?2 and so on.
func (s *storeReader) words(query string) string {
	if !s.server {
		return query
	}
	return jsonMember.ReplaceAllString(strings.ReplaceAll(query, "?", "$"), "details::jsonb #>> '{$1,$2}'")
}

var jsonMember = regexp.MustCompile(`json_extract\(details, '\$\.(\w+)\.(\w+)'\)`)

// check is a query that counts rows that must not exist. ?1 is an id: rows with lower ids are not
// judged.
type check struct{ what, query string }

// open selects rows that must be gone after the recovery.
var open = []check{
	{"transactions that are open", `SELECT COUNT(*) FROM transactions
		WHERE status IN ('processing', 'unknown') OR operation <> ''`},
	{"amounts that are pending", `SELECT COUNT(*) FROM transactions
		WHERE amount_capture_pending + amount_refund_pending <> 0`},
	{"captures that are pending", `SELECT COUNT(*) FROM captures WHERE state = 'pending'`},
	{"refunds that are pending", `SELECT COUNT(*) FROM refunds WHERE state = 'pending'`},
	{"idempotency keys in progress", `SELECT COUNT(*) FROM idempotency_keys WHERE status = 0`},
}

// wrong selects rows that must never exist.
var wrong = []check{
	{"used tokens with a security code", `SELECT COUNT(*) FROM tokens JOIN security_codes ON token_id = id
		WHERE id > ?1 AND used_by <> 0`},
	{"tokens used twice", `SELECT COUNT(*) FROM (SELECT 1 FROM transactions WHERE id > ?1
		AND payment_method LIKE 'tok\_%' ESCAPE '\' AND status NOT IN ('failed', 'requires_confirmation', 'canceled')
		GROUP BY payment_method HAVING COUNT(*) > 1) AS twice`},
	{"transactions with impossible amounts", `SELECT COUNT(*) FROM transactions WHERE id > ?1
		AND (amount_refunded > amount_captured OR amount_captured > amount_authorized OR amount_authorized > amount
		OR amount_settled > amount_captured)`},
	{"transactions whose captures do not add up", `SELECT COUNT(*) FROM transactions t WHERE id > ?1 AND amount_captured <>
		(SELECT COALESCE(SUM(amount), 0) FROM captures c WHERE c.transaction_id = t.id AND c.state = 'succeeded')`},
	{"transactions whose refunds do not add up", `SELECT COUNT(*) FROM transactions t WHERE id > ?1 AND amount_refunded <>
		(SELECT COALESCE(SUM(amount), 0) FROM refunds r WHERE r.transaction_id = t.id AND r.state = 'succeeded')`},
	{"captures whose refunds do not add up", `SELECT COUNT(*) FROM captures c WHERE id > ?1
		AND amount_refunded <> (SELECT COALESCE(SUM(amount), 0) FROM refunds r
		WHERE r.transaction_id = c.transaction_id AND r.capture_id = c.id AND r.state = 'succeeded')`},
}

// count runs a query for one number.
func (s *storeReader) count(query string, args ...any) (n int) {
	if err := s.db.QueryRowContext(s.ctx, s.words(query), args...).Scan(&n); err != nil {
		ensure(fmt.Errorf("store: %s: %w", query, err))
	}
	return n
}

// quiet waits until nothing is open. It returns the rows that are still open when the wait is over.
func (s *storeReader) quiet() (left []string) {
	await(s.ctx, func() bool {
		left = s.found(open)
		return len(left) == 0
	})
	return left
}

// found returns the checks that found rows.
func (s *storeReader) found(of []check, args ...any) (out []string) {
	for _, c := range of {
		if n := s.count(c.query, args...); n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, c.what))
		}
	}
	return out
}

// Integrity returns the result of the storage engine's integrity check of the store that a stopped
// process left in data: "ok", or the faults.
func Integrity(ctx context.Context, data string) (result string, err error) {
	err = withStore(ctx, Folder(data), func(s *storeReader) {
		result = strings.Join(s.texts(`PRAGMA integrity_check`), "; ")
	})
	return result, err
}

// texts reads a column.
func (s *storeReader) texts(query string, args ...any) []string {
	return rowsOf(s, func(text *string) []any { return []any{text} }, query, args...)
}

// delivered is how often an endpoint gets or got an event.
type delivered struct {
	event int64
	times int
}

// deliveries counts the deliveries of each event newer than since to an endpoint.
func (s *storeReader) deliveries(endpoint, since int64) []delivered {
	return rowsOf(s, func(d *delivered) []any { return []any{&d.event, &d.times} }, `SELECT event_id, COUNT(*)
		FROM webhook_deliveries WHERE endpoint_id = ?1 AND event_id > ?2 GROUP BY event_id`, endpoint, since)
}

// storedToken is a token as it is stored.
type storedToken struct {
	id     int64
	holder string
	usedBy int64
	hasCVC bool
	hadCVC bool
}

// tokens reads the tokens that are newer than since.
func (s *storeReader) tokens(since int64) []storedToken {
	return rowsOf(s, func(t *storedToken) []any { return []any{&t.id, &t.holder, &t.usedBy, &t.hasCVC, &t.hadCVC} },
		`SELECT id, COALESCE(json_extract(details, '$.card.holder'), json_extract(details, '$.bank_account.holder'), ''),
		used_by, EXISTS (SELECT 1 FROM security_codes WHERE token_id = id), cvc_given FROM tokens WHERE id > ?1`, since)
}

// rowsOf returns the rows of a query. columns returns the addresses for the columns of a row.
func rowsOf[T any](s *storeReader, columns func(*T) []any, query string, args ...any) (out []T) {
	rows, err := s.db.QueryContext(s.ctx, s.words(query), args...)
	ensure(err)
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	for rows.Next() {
		var row T
		ensure(rows.Scan(columns(&row)...))
		out = append(out, row)
	}
	ensure(rows.Err())
	return out
}
