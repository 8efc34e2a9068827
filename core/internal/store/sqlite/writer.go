package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

// writer runs batches of commands. There is one. The caller that holds it owns its connection and its
// prepared statements. It is the session of the command that runs.
type writer struct {
	db      *store.DB
	clock   clock.Clock
	observe func(store.Batch) // called after each commit; nil for no observer
	conn    *sql.Conn
	sql     store.SQL
	stmts   map[*store.Statement]statement // on conn
	own     map[string]statement           // the writer's own statements on conn, by text
	batch   []*request
	errs    []error
	now     time.Time // the batch's: every row of one commit has the same
	// lost is the error with which SQLite rolled back the whole batch by itself, as it does when the
	// disk is full. No more may be written under the batch.
	lost error
	// doubt is a failure of the batch's first command by which SQLite may have rolled back the batch.
	doubt    error
	alone    bool // the last batch had one command
	delivers bool // this batch has inserted deliveries
	wrote    bool // this batch has written rows
}

func newWriter(conn *sql.Conn, texts store.SQL, db *store.DB, c clock.Clock) *writer {
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

// commitBatch runs the waiting commands as one transaction. No command returns nil before COMMIT has.
func (w *writer) commitBatch(queue <-chan *request) {
	w.batch, w.errs, w.lost, w.wrote, w.delivers = w.batch[:0], w.errs[:0], nil, false, false
	if len(queue) == 0 {
		return // the last batch contained the caller's command
	}
	err := w.exec("BEGIN IMMEDIATE")
	if err != nil {
		w.db.Failed(err)
		r := <-queue
		r.done <- fmt.Errorf("begin: %w", err)
		return
	}
	start := w.clock.Now()
	w.now = start.UTC().Truncate(time.Millisecond)
	err = w.written(queue)
	defer func() { w.finish(err) }() // after a panic too
	if err != nil {
		_ = w.exec("ROLLBACK") // fails if SQLite has rolled back by itself
		w.db.RolledBack()
		w.db.Failed(err)
	} else if w.wrote {
		w.db.Committed(start)
	}
	w.db.BatchEnded()
	w.alone = len(w.batch) == 1
	if w.delivers {
		w.db.Wake()
	}
	if w.observe != nil && len(w.batch) > 0 {
		w.observe(store.Batch{
			Commands: len(w.batch), Waited: start.Sub(w.batch[0].At()), Took: w.clock.Now().Sub(start),
		})
	}
}

// finish returns the batch's results to the callers. err is that of the commit.
func (w *writer) finish(err error) {
	for i, r := range w.batch {
		if i >= len(w.errs) || w.errs[i] == nil {
			r.done <- err
		} else {
			w.db.Failed(w.errs[i])
			r.done <- w.errs[i]
		}
		w.batch[i] = nil
	}
}

// written runs the waiting commands and commits them. A panic is an error of the whole batch: a caller
// without a result would wait for ever.
func (w *writer) written(queue <-chan *request) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("commit: batch panicked with a %T\n%s", r, debug.Stack())
		}
	}()
	w.fill(queue)
	if err = w.lost; err == nil {
		err = w.exec("COMMIT")
	}
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// fill runs the waiting commands. It yields once when the queue runs dry: callers that returned from
// the last commit are about to send their next commands, and sharing one fsync with them is worth more
// than the yield costs. If there was one such caller, no other is expected.
func (w *writer) fill(queue <-chan *request) {
	yielded := w.alone
	for len(w.batch) < maxBatch && w.lost == nil {
		select {
		case r := <-queue:
			w.batch = append(w.batch, r)
			if at := r.At().UTC().Truncate(time.Millisecond); at.After(w.now) {
				w.now = at // it joined a batch that had begun: none of its rows may be older than its request
			}
			if len(w.batch) == 1 {
				w.errs = append(w.errs, w.first(r))
			} else {
				w.errs = append(w.errs, w.savepoint(r))
			}
		default:
			if yielded {
				return
			}
			yielded = true
			runtime.Gosched()
		}
	}
}

// first runs the batch's first command. Nothing was written before it, so it needs no savepoint: if
// it fails, the batch is rolled back and begins again for the commands behind it.
func (w *writer) first(r *request) error {
	w.doubt = nil
	err := w.run(r)
	if err == nil {
		err = w.doubt // which the command ignored; outside of a transaction the next savepoint would commit
	}
	if err == nil {
		return nil
	}
	w.db.RolledBack()
	_ = w.exec("ROLLBACK") // fails if SQLite has rolled back by itself
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
	return w.leave("command", w.run(r))
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
	if rel := w.exec("RELEASE " + name); rel != nil && err == nil {
		err = fmt.Errorf("release: %w", rel)
	}
	return err
}

// run runs a command as part of the batch.
func (w *writer) run(r *request) error {
	o, err := r.Run(w, w.now)
	w.delivers, w.wrote = w.delivers || o.Delivers, w.wrote || o.Wrote
	return err
}

// prepared returns the prepared statement of one of the store's.
func (w *writer) prepared(s *store.Statement) (statement, error) {
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

// change runs one of the store's statements, without rows.
func (w *writer) change(s *store.Statement, args ...any) (sql.Result, error) {
	p, err := w.prepared(s)
	if err != nil {
		return nil, err
	}
	return w.result(p, args...)
}

// exec runs a statement of the writer's own without a result. The texts are few.
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
