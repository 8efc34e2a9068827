package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

// writer runs batches of commands. An engine has one. The goroutine that holds it owns its
// connection and its prepared statements. The writer is the session of the running command.
type writer struct {
	db      *store.DB
	clock   clock.Clock
	observe func(store.Batch) // called after each commit; nil for no observer
	conn    *sql.Conn
	sql     map[*store.Statement]string
	stmts   map[*store.Statement]statement // on conn
	own     map[string]statement           // the writer's own statements on conn, by text
	begun   time.Time                      // when the transaction began
	now     time.Time                      // the time of the transaction: all rows of a commit have it
	// lost is the error with which SQLite itself rolled back the whole batch, as it does when the disk
	// is full. No later command may write in this batch.
	lost error
	// doubt is a failure of the running command by which SQLite may have rolled back the batch.
	doubt    error
	bytes    int  // that the running command has written
	delivers bool // this batch has inserted deliveries
	wrote    bool // this batch has written rows
}

func newWriter(conn *sql.Conn, texts map[*store.Statement]string, db *store.DB, c clock.Clock) *writer {
	return &writer{
		db: db, clock: c, conn: conn, sql: texts,
		stmts: map[*store.Statement]statement{}, own: map[string]statement{},
	}
}

// close closes the connection and the statements that were prepared on it.
func (w *writer) close() error {
	var errs []error
	for _, s := range w.stmts {
		errs = append(errs, s.prepared.Close())
	}
	for _, s := range w.own {
		errs = append(errs, s.prepared.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

// commitBatch commits commands in one transaction. Commands without a result wait for a later
// batch: it has ended by its time, or SQLite itself has rolled it back. A returned error is the
// result of all commands.
func (w *writer) commitBatch(commands []*request) error {
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		w.db.Failed(err)
		return fmt.Errorf("begin: %w", err)
	}
	n, err := w.transaction(commands)
	waited := time.Duration(0)
	for _, r := range commands[:n] {
		r.ended, r.err = true, cmp.Or(r.err, err)
		waited = max(waited, w.begun.Sub(r.At()))
	}
	switch {
	case err != nil:
		w.db.Failed(err)
	case w.wrote:
		w.db.Committed(w.begun)
	}
	if w.delivers {
		w.db.Wake()
	}
	if w.observe != nil {
		w.observe(store.Batch{Commands: n, Waited: waited, Took: w.clock.Now().Sub(w.begun)})
	}
	return nil
}

// transaction runs commands in the open transaction and commits it. It returns how many have run.
// After a failure or a panic no transaction is open.
func (w *writer) transaction(commands []*request) (n int, err error) {
	committed := false
	defer func() {
		if !committed {
			_ = w.exec("ROLLBACK") // fails if SQLite has rolled back already
			w.db.RolledBack()
		}
		w.db.BatchEnded()
	}()
	w.begun, w.lost, w.wrote, w.delivers = w.clock.Now(), nil, false, false
	n = w.run(commands)
	if err = w.lost; err == nil {
		err = w.exec("COMMIT")
	}
	if err != nil {
		return n, fmt.Errorf("commit: %w", err)
	}
	committed = true
	return n, nil
}

// run runs commands until they cost batchTime, or SQLite rolls back their transaction. It returns
// how many have run. The time of the rows is not before the request of any command.
func (w *writer) run(commands []*request) (n int) {
	w.now = w.begun.UTC().Truncate(time.Millisecond)
	for _, r := range commands {
		if at := r.At().UTC().Truncate(time.Millisecond); at.After(w.now) {
			w.now = at
		}
	}
	at, cost := w.begun, time.Duration(0)
	for n < len(commands) && w.lost == nil && cost < batchTime {
		r := commands[n]
		if n++; n == 1 {
			r.err = w.first(r)
		} else {
			r.err = w.savepoint(r)
		}
		if r.err != nil {
			w.db.Failed(r.err)
		}
		ended := w.clock.Now()
		r.took, r.bytes, at = ended.Sub(at), w.bytes, ended
		cost += r.took + r.commitTime()
	}
	return n
}

// first runs the first command of a batch. Nothing was written before it, so it needs no savepoint.
// If it fails, the batch is rolled back and begins again for the commands behind it.
func (w *writer) first(r *request) error {
	err := w.command(r)
	if err == nil {
		err = w.doubt // which the command ignored; outside of a transaction the next savepoint would commit
	}
	if err == nil {
		return nil
	}
	w.db.RolledBack()
	_ = w.exec("ROLLBACK") // fails if SQLite has rolled back already
	if begin := w.exec("BEGIN IMMEDIATE"); begin != nil {
		w.lost = fmt.Errorf("begin: %w", begin)
	}
	return err
}

// savepoint runs a command so that its failure rolls back its own writes and no others.
func (w *writer) savepoint(r *request) error {
	if err := w.exec("SAVEPOINT command"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	return w.leave("command", w.command(r))
}

// leave ends a savepoint, rolls back its writes if err is not nil, and returns the failure.
func (w *writer) leave(name string, err error) error {
	if err != nil {
		w.db.RolledBack()
		if w.exec("ROLLBACK TO "+name) != nil { // the savepoint is gone, so the batch is
			w.lost = err
			return err
		}
	}
	if rel := w.exec("RELEASE " + name); rel != nil { // the command ignored an error that rolled back the batch
		w.lost = fmt.Errorf("release: %w", cmp.Or(w.doubt, rel))
		return w.lost
	}
	return err
}

// command runs a command as part of the batch.
func (w *writer) command(r *request) error {
	w.doubt, w.bytes = nil, 0
	o, err := r.Run(w, w.now)
	w.delivers, w.wrote = w.delivers || o.Delivers, w.wrote || o.Wrote
	return err
}

// prepared returns the prepared form of a statement of the store. It returns doubt if that is set:
// SQLite may have rolled back the batch, and outside of it the statement would commit.
func (w *writer) prepared(s *store.Statement) (statement, error) {
	if w.doubt != nil {
		return statement{}, w.doubt
	}
	if p, ok := w.stmts[s]; ok {
		return p, nil
	}
	text, err := textOf(w.sql, s)
	if err != nil {
		return statement{}, err
	}
	p, err := w.prepare(context.Background(), text)
	if err == nil {
		w.stmts[s] = p
	}
	return p, err
}

func (w *writer) prepare(ctx context.Context, text string) (statement, error) {
	prepared, err := w.conn.PrepareContext(ctx, text)
	if err != nil {
		return statement{}, fmt.Errorf("prepare: %w", explained(err))
	}
	return statement{prepared}, nil
}

// change runs a statement of the store that returns no rows.
func (w *writer) change(s *store.Statement, args ...any) (sql.Result, error) {
	p, err := w.prepared(s)
	if err != nil {
		return nil, err
	}
	w.bytes += size(args)
	return w.result(p, args...)
}

// size returns the bytes of the texts and blobs among the arguments of a statement.
func size(args []any) (bytes int) {
	for _, a := range args {
		if v := reflect.ValueOf(a); v.Kind() == reflect.String || v.Kind() == reflect.Slice {
			bytes += v.Len()
		}
	}
	return bytes
}

// exec runs an SQL text that returns no rows, such as COMMIT. It prepares each text once: there are
// few.
func (w *writer) exec(text string) (err error) {
	s, ok := w.own[text]
	if !ok {
		if s, err = w.prepare(context.Background(), text); err != nil {
			return err
		}
		w.own[text] = s
	}
	_, err = w.result(s)
	return err
}

// result runs a statement. No caller can cancel it: other commands share the batch.
func (w *writer) result(s statement, args ...any) (sql.Result, error) {
	r, err := s.prepared.ExecContext(context.Background(), args...)
	if err != nil {
		err = explained(err)
		if errors.Is(err, store.ErrUnavailable) {
			w.doubt = err
		}
		return nil, fmt.Errorf("exec: %w", err)
	}
	return r, nil
}
