package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// writer writes. There is one, and who holds it owns its connection and prepared statements.
type writer struct {
	clock clock.Clock
	// observe is told of every group commit; nil for nobody.
	observe func(Group)
	direct  *direct              // what returns no rows
	conn    *sql.Conn            // what does, on the same connection
	stmts   map[string]statement // on conn
	group   []*command
	errs    []error
	// lost is why SQLite took the whole group back by itself, as it does when the disk is full: nothing more may be written under it.
	lost error
	// doubt is a failure of the group's first command by which SQLite may have taken the group back.
	doubt error
	alone bool // the last group had one command

	ids      *id.Generator // of deliveries, which nobody else makes
	known    map[payment.Tenant]known
	changed  []payment.Tenant // whose endpoints this group changes
	delivers bool             // this group has made deliveries
	due      chan<- struct{}

	origins *origins         // nil without a tracer
	from    telemetry.Origin // of the command that runs
	health  *health
	wrote   bool // this group has written something
}

func newWriter(conn *sql.Conn, d *direct, c clock.Clock, due chan<- struct{}, h *health) *writer {
	return &writer{
		clock: c, direct: d, conn: conn, stmts: map[string]statement{}, ids: id.NewGenerator(c), known: map[payment.Tenant]known{}, due: due, health: h,
	}
}

// Tx is one command's part of a group. It is valid only while the function it was given to runs.
type Tx struct {
	w *writer
	// Now is the group's time, UTC with milliseconds: every row of one commit has the same.
	Now time.Time
}

// close lets go of the connection and all that was prepared on it.
func (w *writer) close() error {
	errs := []error{w.direct.close()}
	for _, s := range w.stmts {
		errs = append(errs, s.prepared.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

// commitGroup runs what waits as one transaction. No command hears of success before COMMIT returned.
func (w *writer) commitGroup(queue <-chan *command) {
	w.group, w.errs, w.lost, w.wrote = w.group[:0], w.errs[:0], nil, false
	if len(queue) == 0 {
		return // the last group took what this caller came with
	}
	err := w.exec("BEGIN IMMEDIATE")
	if err != nil {
		w.health.noteFailure(err)
		c := <-queue
		c.done <- fmt.Errorf("begin: %w", err)
		return
	}
	start := w.clock.Now()
	tx := &Tx{w: w, Now: start.UTC().Truncate(time.Millisecond)}
	w.fill(tx, queue)
	if err = w.lost; err == nil {
		err = w.exec("COMMIT")
	}
	if err != nil {
		err = fmt.Errorf("commit: %w", err)
		_ = w.exec("ROLLBACK") // fails when SQLite has rolled back itself
		w.undone()
		w.health.noteFailure(err)
	} else if w.wrote {
		w.health.wrote(start)
	}
	w.changed, w.alone = w.changed[:0], len(w.group) == 1
	w.announce()
	if w.observe != nil {
		w.observe(Group{Commands: len(w.group), Waited: start.Sub(w.group[0].at), Took: w.clock.Now().Sub(start)})
	}
	for i, c := range w.group {
		if w.errs[i] == nil {
			c.done <- err
		} else {
			w.health.noteFailure(w.errs[i])
			c.done <- w.errs[i]
		}
		w.group[i] = nil
	}
}

// announce wakes the deliverer when the group has made deliveries.
func (w *writer) announce() {
	if !w.delivers {
		return
	}
	w.delivers = false
	select {
	case w.due <- struct{}{}:
	default: // it was woken already
	}
}

// fill takes in what waits. It yields once when the queue runs dry, because the callers answered by the last commit are just then
// on their way back with their next command, and one fsync for more of them is worth more than the yield. Where there was one such caller
// nobody else is expected.
func (w *writer) fill(tx *Tx, queue <-chan *command) {
	yielded := w.alone
	for len(w.group) < maxGroup && w.lost == nil {
		select {
		case c := <-queue:
			w.group, w.from = append(w.group, c), c.from
			if at := c.at.UTC().Truncate(time.Millisecond); at.After(tx.Now) {
				tx.Now = at // it joined a group that had begun: nothing of it may be dated before it was asked for
			}
			if len(w.group) == 1 {
				w.errs = append(w.errs, w.first(tx, c.fn))
			} else {
				w.errs = append(w.errs, w.savepoint(tx, c.fn))
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

// first runs the group's first command. Nobody has written before it, so the group itself is its savepoint: when it fails, all is taken
// back and the group begins anew for those behind it. A lone command needs no savepoint at all that way.
func (w *writer) first(tx *Tx, fn func(*Tx) error) error {
	w.doubt = nil
	err := guarded(tx, fn)
	if err == nil {
		err = w.doubt // which fn kept to itself; outside of a transaction the next savepoint would commit by itself
	}
	if err == nil {
		return nil
	}
	w.undone()
	_ = w.exec("ROLLBACK") // fails when SQLite has rolled back itself
	if begin := w.exec("BEGIN IMMEDIATE"); begin != nil {
		w.lost = fmt.Errorf("begin: %w", begin)
	}
	return err
}

// savepoint runs fn so that its failure takes back its own writes and nobody else's.
func (w *writer) savepoint(tx *Tx, fn func(*Tx) error) error {
	if err := w.exec("SAVEPOINT command"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	return w.leave("command", guarded(tx, fn))
}

// leave ends a savepoint, taking back what was written in it when err is not nil, and returns what went wrong.
func (w *writer) leave(name string, err error) error {
	if err != nil {
		w.undone()
		if w.exec("ROLLBACK TO "+name) != nil { // the savepoint is gone, so the group is
			w.lost = err
			return err
		}
	}
	if rel := w.exec("RELEASE " + name); rel != nil && err == nil {
		err = fmt.Errorf("release: %w", rel)
	}
	return err
}

// whole runs fn so that the command can go on after its failure as if fn had not run.
func (tx *Tx) whole(fn func() error) error {
	if err := tx.w.exec("SAVEPOINT part"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	return tx.w.leave("part", fn())
}

// guarded turns a panic of fn into an error: it must not take the writer, and with it everybody's payments, down.
func guarded(tx *Tx, fn func(*Tx) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("store: command panicked with a %T\n%s", r, debug.Stack())
		}
	}()
	return fn(tx)
}

// stmt returns the prepared statement of a text that returns rows. The texts are constants, so the map stays small.
func (w *writer) stmt(text string) (statement, error) {
	if s, ok := w.stmts[text]; ok {
		return s, nil
	}
	prepared, err := w.conn.PrepareContext(context.Background(), text)
	if err != nil {
		return statement{}, fmt.Errorf("prepare: %w", err)
	}
	w.stmts[text] = statement{prepared}
	return w.stmts[text], nil
}

// exec runs a statement. No caller can cancel it: a half-cancelled group would be nobody's.
func (w *writer) exec(text string, args ...any) error {
	_, err := w.result(text, args...)
	return err
}

func (w *writer) result(text string, args ...any) (driver.Result, error) {
	r, err := w.direct.exec(text, args...)
	if IsUnavailable(err) {
		w.doubt = err
	}
	return r, err
}

// change runs an update that must meet exactly one row, else ErrConflict.
func (tx *Tx) change(text string, args ...any) error {
	n, err := tx.changed(text, args...)
	if err == nil && n != 1 {
		err = ErrConflict
	}
	return err
}

// changed runs a statement and returns how many rows it met.
func (tx *Tx) changed(text string, args ...any) (int64, error) {
	r, err := tx.w.result(text, args...)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("rows affected: %w", err)
	}
	tx.w.wrote = tx.w.wrote || n > 0
	return n, nil
}

// insert runs an insert and returns ErrDuplicate when the id is taken.
func (tx *Tx) insert(text string, args ...any) error {
	err := tx.w.exec(text, args...)
	if isDuplicate(err) {
		return ErrDuplicate
	}
	tx.w.wrote = tx.w.wrote || err == nil
	return err
}

// row runs a query for at most one row.
func (tx *Tx) row(text string, args ...any) (*sql.Row, error) {
	s, err := tx.w.stmt(text)
	if err != nil {
		return nil, err
	}
	return s.row(context.Background(), args...), nil
}
