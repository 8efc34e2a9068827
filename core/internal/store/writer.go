package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// writer writes. There is one, and who holds it owns its connection and prepared statements. It is the session of the command that runs.
type writer struct {
	db *DB
	// observe is told of every group commit; nil for nobody.
	observe func(Group)
	conn    *sql.Conn
	stmts   map[string]statement // on conn
	group   []*Command
	errs    []error
	now     time.Time // the group's: every row of one commit has the same
	// lost is why SQLite took the whole group back by itself, as it does when the disk is full: nothing more may be written under it.
	lost error
	// doubt is a failure of the group's first command by which SQLite may have taken the group back.
	doubt    error
	alone    bool // the last group had one command
	delivers bool // this group has made deliveries
	wrote    bool // this group has written something
}

func newWriter(conn *sql.Conn, db *DB) *writer {
	return &writer{db: db, conn: conn, stmts: map[string]statement{}}
}

// close lets go of the connection and all that was prepared on it.
func (w *writer) close() error {
	var errs []error
	for _, s := range w.stmts {
		errs = append(errs, s.prepared.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

// commitGroup runs what waits as one transaction. No command hears of success before COMMIT returned.
func (w *writer) commitGroup(queue <-chan *Command) {
	w.group, w.errs, w.lost, w.wrote, w.delivers = w.group[:0], w.errs[:0], nil, false, false
	if len(queue) == 0 {
		return // the last group took what this caller came with
	}
	err := w.exec("BEGIN IMMEDIATE")
	if err != nil {
		w.db.Failed(err)
		c := <-queue
		c.done <- fmt.Errorf("begin: %w", err)
		return
	}
	start := w.db.clock.Now()
	w.now = start.UTC().Truncate(time.Millisecond)
	err = w.written(queue)
	defer func() { w.finish(err) }() // after a panic too
	if err != nil {
		_ = w.exec("ROLLBACK") // fails when SQLite has rolled back itself
		w.db.targets.undone()
		w.db.Failed(err)
	} else if w.wrote {
		w.db.Committed(start)
	}
	w.db.targets.settled()
	w.alone = len(w.group) == 1
	if w.delivers {
		w.db.Wake()
	}
	if w.observe != nil && len(w.group) > 0 {
		w.observe(Group{Commands: len(w.group), Waited: start.Sub(w.group[0].at), Took: w.db.clock.Now().Sub(start)})
	}
}

// finish returns the group's result to its callers. Err is that of the commit.
func (w *writer) finish(err error) {
	for i, c := range w.group {
		if i >= len(w.errs) || w.errs[i] == nil {
			c.done <- err
		} else {
			w.db.Failed(w.errs[i])
			c.done <- w.errs[i]
		}
		w.group[i] = nil
	}
}

// written runs what waits and commits it. A panic is an error of the whole batch: a caller without
// a result would wait for ever.
func (w *writer) written(queue <-chan *Command) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("commit: group panicked with a %T\n%s", r, debug.Stack())
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

// fill takes in what waits. It yields once when the queue runs dry, because the callers answered by the last commit are just then
// on their way back with their next command, and one fsync for more of them is worth more than the yield. Where there was one such caller
// nobody else is expected.
func (w *writer) fill(queue <-chan *Command) {
	yielded := w.alone
	for len(w.group) < maxGroup && w.lost == nil {
		select {
		case c := <-queue:
			w.group = append(w.group, c)
			if at := c.at.UTC().Truncate(time.Millisecond); at.After(w.now) {
				w.now = at // it joined a group that had begun: nothing of it may be dated before it was asked for
			}
			if len(w.group) == 1 {
				w.errs = append(w.errs, w.first(c))
			} else {
				w.errs = append(w.errs, w.savepoint(c))
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
func (w *writer) first(c *Command) error {
	w.doubt = nil
	err := w.run(c)
	if err == nil {
		err = w.doubt // which the command kept to itself; outside of a transaction the next savepoint would commit by itself
	}
	if err == nil {
		return nil
	}
	w.db.targets.undone()
	_ = w.exec("ROLLBACK") // fails when SQLite has rolled back itself
	if begin := w.exec("BEGIN IMMEDIATE"); begin != nil {
		w.lost = fmt.Errorf("begin: %w", begin)
	}
	return err
}

// savepoint runs a command so that its failure takes back its own writes and nobody else's.
func (w *writer) savepoint(c *Command) error {
	if err := w.exec("SAVEPOINT command"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	return w.leave("command", w.run(c))
}

// leave ends a savepoint, taking back what was written in it when err is not nil, and returns what went wrong.
func (w *writer) leave(name string, err error) error {
	if err != nil {
		w.db.targets.undone()
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

// run runs a command as part of the group.
func (w *writer) run(c *Command) error {
	o, err := c.Run(w, w.now)
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

func (w *writer) result(text string, args ...any) (sql.Result, error) {
	s, err := w.stmt(text)
	if err != nil {
		return nil, err
	}
	r, err := s.prepared.ExecContext(context.Background(), args...)
	if IsUnavailable(err) {
		w.doubt = err
	}
	if err != nil {
		return nil, fmt.Errorf("exec: %w", err)
	}
	return r, nil
}
