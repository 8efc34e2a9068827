package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/telemetry"
	"github.com/causeway-pay/causeway/shared/turns"
)

// Engine is the database under a store: package sqlite for one process, package postgres for many.
// Each has its own SQL for the store's statements: see Compile.
type Engine interface {
	// Shared reports whether other processes, or other commands of this process, write at the same
	// time. If so, a command must lock every row on which it bases a decision.
	Shared() bool
	// Update runs c in a transaction. It returns once that is durable, or rolled back as a whole.
	// Once the command has begun, the end of ctx does not cancel it.
	Update(ctx context.Context, c *Command) error
	// Row runs a read outside of commands, on a connection of its purpose, and returns its first
	// row. The error is Purpose.Expired if the read does not end within the purpose's time.
	Row(ctx context.Context, p Purpose, s *Statement, args ...any) Scanner
	// Each runs a read as Row does and calls scan for every row, until scan fails. If scan returns
	// ErrEnough, the read has succeeded. It calls begin before the first row, and again if it reads
	// all rows again.
	Each(ctx context.Context, p Purpose, s *Statement, begin func(), scan func(Scanner) error, args ...any) error
	// Readers returns how many reads of a purpose can run at the same time.
	Readers(p Purpose) int
	// Page runs a read of a page of a list, on a connection for lists. It calls begin before the
	// first row, and again if it reads all rows again. Two rules hold. Complete: the page has each
	// row of a command that has returned. Stable: a row that is committed later comes after all
	// rows of the page, in the order of the list. While a long command runs, only one is kept:
	// Stable if newer is set, otherwise Complete. newer is set for a page of rows that are newer
	// than a cursor.
	Page(
		ctx context.Context, s *Statement, newer bool, begin func(), scan func(Scanner) error, args ...any,
	) error
	// BeginPayment commits an intent: see DB.BeginPayment.
	BeginPayment(ctx context.Context, i *Intent) (Claim, error)
	// FinishPayment commits an outcome record: see DB.FinishPayment.
	FinishPayment(ctx context.Context, r *OutcomeRecord) error

	// Verify returns an error if the settings of the database can lose commits. After that Update
	// returns ErrUnavailable until a Verify succeeds.
	Verify(ctx context.Context) error
	// Confirm returns once all rows that were read before the call are durable.
	Confirm(ctx context.Context) error
	// Scrub removes the bytes of deleted security codes and of their keys from the files. It returns
	// ErrBusy if a read prevents that.
	Scrub(ctx context.Context) error
	// MakePartitions makes the partitions for rows of a time and later. A row that finds no
	// partition is accepted, too.
	MakePartitions(ctx context.Context, now time.Time) error
	// DropPartitions removes the partitions of a table whose rows are all older than keep. rows is the
	// approximate number of their rows. The caller must remove the remaining rows from before the
	// returned time one by one.
	DropPartitions(
		ctx context.Context, table string, now time.Time, keep time.Duration,
	) (before time.Time, rows int64, err error)

	// Heartbeat records that a process lives. It acquires or extends the process's leadership for a
	// term, unless another process leads, or may rejects the server's clock. The leader records that
	// clock. beats is the number of heartbeats of each process that shares the store, 0 once it has
	// left. If Verify fails, Heartbeat returns that error and records nothing.
	Heartbeat(
		ctx context.Context, process int64, term time.Duration, may func(server ServerClock) bool,
	) (leads bool, beats map[int64]int64, err error)
	// Leave records that a process has ended, and ends its leadership.
	Leave(ctx context.Context, process int64) error
	// Forget removes a process that ended long ago.
	Forget(ctx context.Context, process int64) error
	// Hold locks thing, a name, against all other processes until release is called or this process
	// dies. It returns ErrHeld if another process holds it.
	Hold(ctx context.Context, thing string) (release func() error, err error)

	// Observe calls fn after each commit from now on. fn must not block.
	Observe(fn func(Batch))
	// Stats returns counters of the server, or the size of the log if there is none.
	Stats() Stats
	// LowWaterMark returns the commit position at which lists end, and the position behind all
	// transactions that have ended. The first is below the second only while a command holds rows
	// back.
	LowWaterMark(ctx context.Context) (oldest, next int64, err error)
	// Waiting returns how many commands wait or run.
	Waiting() int
	// Close waits for the accepted commands, then closes. It is safe to call twice.
	Close() error
}

// ErrEnough ends a read that needs no further rows.
var ErrEnough = errors.New("store: the read needs no further rows")

// Scanner is a row.
type Scanner interface {
	// Scan stores the columns where the pointers point: integers (0 and 1 also as bools), texts and
	// bytes. It returns sql.ErrNoRows if there is no row.
	Scan(dest ...any) error
}

// Session runs the statements of one command. Each statement reads the writes of the statements
// before it.
type Session interface {
	// Exec runs a statement without rows and returns how many rows it changed.
	Exec(s *Statement, args ...any) (int64, error)
	// ExecEach is Exec for each list of arguments. On a server the runs share one round trip.
	ExecEach(s *Statement, args [][]any) ([]int64, error)
	// Overwrite is Exec for an update that overwrites bytes before a later statement removes them.
	// It does nothing in an engine whose updates do not overwrite bytes in the files.
	Overwrite(s *Statement, args ...any) error
	// Insert is Exec for an insert. It returns ErrDuplicate if a row with that key exists. The
	// command can continue after that.
	Insert(s *Statement, args ...any) error
	// InsertNumbered is Exec for an insert into a table that numbers its rows, and returns the
	// number. It is 0 if no row was inserted.
	InsertNumbered(s *Statement, args ...any) (int64, error)
	// Row runs a query and returns its first row.
	Row(s *Statement, args ...any) (Scanner, error)
	// Each runs a query and calls scan for every row.
	Each(s *Statement, scan func(Scanner) error, args ...any) error
	// LockRow locks the row of a query against changes by other commands until the command ends. It
	// returns sql.ErrNoRows if there is no row. It does nothing in an engine that runs one command at
	// a time.
	LockRow(s *Statement, args ...any) error
	// BeginPayment writes an intent as part of the command tx, which this session runs.
	BeginPayment(tx *Tx, i *Intent) (Claim, error)
	// FinishPayment writes an outcome record as part of the command tx, which this session runs.
	FinishPayment(tx *Tx, r *OutcomeRecord) error
	// Savepoint runs fn. If fn fails, its changes are rolled back and the command can continue.
	Savepoint(fn func() error) error
	// Lock makes each other command that locks the same thing wait until this one has ended.
	// Commands that share a lock do not wait for each other.
	Lock(thing string, shared bool) error
	// Exclude locks a table against all readers and writers until the command ends. ErrUnavailable,
	// at once, while another command or a dump reads the table: a wait would block all later
	// commands behind this one.
	Exclude(table string) error
	// Empty removes all rows of a table after Exclude. Their bytes leave the engine's files at the
	// commit on a server, and at the next Scrub in a file.
	Empty(table string) error
}

// Command is one change of one caller.
type Command struct {
	fn   func(*Tx) error
	at   time.Time
	from telemetry.Origin // the span of the request
	db   *DB

	background bool
	caller     Caller
}

// Caller is the client whose commands take turns with the commands of others.
type Caller struct {
	Tenant payment.Tenant // zero for operators and for this process
	// Payer reports whether the request came with a publishable key, which every payer can read.
	// Payers take turns apart from the merchant's secret keys.
	Payer bool
	// Ends reports whether the command ends a step: see DB.Finish. For a read: see ForStep.
	Ends bool
}

// Work returns the command of a caller as work that takes turns.
func (c Caller) Work() turns.Work[Caller] {
	return turns.Work[Caller]{Caller: Caller{Tenant: c.Tenant, Payer: c.Payer}, Ends: c.Ends}
}

// At returns the time of the request.
func (c *Command) At() time.Time { return c.at }

// Caller returns the client that sent the request.
func (c *Command) Caller() Caller { return c.caller }

// Background reports whether the command is background work: see InBackground.
func (c *Command) Background() bool { return c.background }

// Run runs the command on s at the time now, in UTC and whole milliseconds. A panic of the command
// becomes an error, because other commands share its batch.
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

// Outcome describes for the engine a command that has run.
type Outcome struct {
	Delivers bool // it has inserted deliveries: call DB.Wake once they are committed
	Wrote    bool // it has written rows
}

// Batch is one commit.
type Batch struct {
	Commands int           // number of commands in the commit
	Waited   time.Duration // the longest time for which a command had waited when the batch began
	Took     time.Duration // from its begin to its end
}

// Stats are the counters of a store on a server, since it was opened. For a store in a folder, they
// are only the size of its log.
type Stats struct {
	LogSize int64 // of the write-ahead log in bytes; 0 on a server
	Pools   []Pool
	// RolledBack counts by cause how often a command was rolled back and run again: "deadlock",
	// "serialization", or "changed" if the command returned ErrChanged.
	RolledBack map[string]int64
	// Unavailable is how many commands ended because the server could not be reached or refused them.
	Unavailable int64
}

// Pool is the use of the connections for one kind of work.
type Pool struct {
	Name             string // "write", "payments", "background_write", "member", or the name of a Purpose
	InUse, Idle, Max int
	Waited           int64         // how often a caller had to wait for a connection
	Waiting          time.Duration // total time of these waits
}
