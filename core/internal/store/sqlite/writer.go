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
	stmts   map[string]statement // on conn
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

func newWriter(conn *sql.Conn, db *store.DB, c clock.Clock) *writer {
	return &writer{db: db, clock: c, conn: conn, stmts: map[string]statement{}}
}

// close closes the connection and the statements that were prepared on it.
func (w *writer) close() error {
	var errs []error
	for _, s := range w.stmts {
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

// stmt returns the prepared statement of a text. The texts are constants, so the map stays small.
func (w *writer) stmt(text string) (statement, error) {
	if s, ok := w.stmts[text]; ok {
		return s, nil
	}
	prepared, err := w.conn.PrepareContext(context.Background(), text)
	if err != nil {
		return statement{}, fmt.Errorf("prepare: %w", explained(err))
	}
	w.stmts[text] = statement{prepared}
	return w.stmts[text], nil
}

// exec runs a statement without a result. No caller can cancel it: other commands share the batch.
func (w *writer) exec(text string, args ...any) error {
	_, err := w.result(text, args...)
	return err
}

func (w *writer) result(text string, args ...any) (sql.Result, error) {
	s, err := w.stmt(text)
	if err != nil {
		return nil, err
	}
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
