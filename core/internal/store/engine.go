package store

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// Engine is the database under a store. This package has SQLite, package postgres the other. The statements that engines are given are written
// in the words of SQLite, as far as others can put them into theirs; parameters are ?, or ?1 and so on.
type Engine interface {
	// Update runs c in a transaction, and returns once that is durable, or taken back whole. It does not give up when ctx ends after the
	// command has begun.
	Update(ctx context.Context, c *Command) error
	// Prepare returns the statement of a read outside of commands. The texts are few and live as long as the engine.
	Prepare(ctx context.Context, text string) (Statement, error)
	// Verify returns an error if the database would lose commits by its settings. Update returns
	// ErrUnavailable then, until a Verify succeeds.
	Verify(ctx context.Context) error
	// Confirm returns once all is durable that was read before it was called.
	Confirm(ctx context.Context) error
	// Observe has fn told of every commit from now on. fn must not block.
	Observe(fn func(Group))
	// Waiting is how many commands wait to be run.
	Waiting() int
	// Close waits for the commands that were taken, then closes. It is safe to call twice.
	Close() error
}

// Scanner is a row.
type Scanner interface {
	// Scan writes the columns to where the pointers lead: integers, of which 0 and 1 are also bools, texts and bytes. sql.ErrNoRows when
	// there is no row.
	Scan(dest ...any) error
}

// Statement is a read.
type Statement interface {
	// Row returns the first row.
	Row(ctx context.Context, args ...any) Scanner
	// Each hands every row to scan, until that fails.
	Each(ctx context.Context, scan func(Scanner) error, args ...any) error
}

// Session is what the statements of one command run on. What they wrote is seen by those behind them.
type Session interface {
	// Exec runs a statement that returns no rows, and tells how many it met.
	Exec(text string, args ...any) (int64, error)
	// Insert is Exec for an insert. It returns ErrDuplicate when there is a row with that key, and the command can go on.
	Insert(text string, args ...any) error
	// InsertNumbered is Exec for an insert into a table that numbers its rows. The number is 0 when nothing was inserted.
	InsertNumbered(text string, args ...any) (int64, error)
	// Row runs a statement for its first row.
	Row(text string, args ...any) (Scanner, error)
	// Each runs a statement and hands every row to scan.
	Each(text string, scan func(Scanner) error, args ...any) error
	// Whole runs fn so that the command can go on after its failure as if fn had not run.
	Whole(fn func() error) error
	// Lock keeps every other command that names the same thing from going on until this one has ended; shared, only those that do not share it.
	Lock(thing string, shared bool) error
	// Exclude keeps every other reader and writer off a table until the command ends.
	// ErrUnavailable, at once, while another command or a dump reads it: to wait would have all
	// later commands wait behind this one.
	Exclude(table string) error
	// Empty removes all rows of a table that Exclude was called for, so that their bytes leave the
	// engine's files: on a server with the commit, in a file with the Scrub that follows.
	Empty(table string) error
	// Dialect is the engine's own way to say what SQLite's words cannot.
	Dialect() Dialect
}

// Dialect is how the engines differ in what they are told.
type Dialect struct {
	// Shared says that other commands, of this process and of others, run at the same time. What a command decides by must be locked then.
	Shared bool
	// Overwrites says that a change of a row in place writes over the bytes that it had.
	Overwrites bool
	// ShareLock is an expression that shares the lock whose name is the ninth parameter. It costs no statement of its own.
	ShareLock string
	// Number is an expression that gives the number of the command's transaction, where several run at the same time.
	Number string
	// Lock is what a SELECT ends with that locks its row until the command ends.
	Lock string
	// Skip is what a SELECT ends with that locks its rows, and passes over those that are locked.
	Skip string
}

// Command is one caller's change.
type Command struct {
	fn   func(*Tx) error
	done chan error // for an engine that runs commands in groups
	at   time.Time
	from telemetry.Origin // the span it was asked for in
	db   *DB
}

// At is when the command was asked for.
func (c *Command) At() time.Time { return c.at }

// Run runs the command on s as of now, in UTC and whole milliseconds. A panic of it is an error: it must not take everybody's payments down.
func (c *Command) Run(s Session, now time.Time) (o Outcome, err error) {
	tx := Tx{s: s, db: c.db, from: c.from, Now: now, began: clock.Monotonic()}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("store: command panicked with a %T\n%s", r, debug.Stack())
		}
		o = Outcome{Delivers: tx.delivers, Wrote: tx.wrote}
	}()
	return o, c.fn(&tx)
}

// Outcome is what else is known of a command that has run.
type Outcome struct {
	Delivers bool // it has made deliveries: tell DB.Wake once they are committed
	Wrote    bool // it has written something
}
