package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/batch"
	"github.com/causeway-pay/causeway/shared/clock"
)

// MaxQueue bounds the commands of one caller. BatchTime is the time after which a batch ends, and
// MaxBytes are the bytes of commands that take no time.
const (
	MaxQueue  = maxQueue
	BatchTime = batchTime
	MaxBytes  = int(batchTime / byteTime)
)

// MaxLog is the size above which the write-ahead log is emptied.
const MaxLog = maxLog

// Engine is the engine of a store.
type Engine struct{ *engine }

// OpenOn is Open for a file on a VFS of SQLite. "" is the VFS of the system.
func OpenOn(ctx context.Context, path, vfs string, c clock.Clock) (*store.DB, *Engine, error) {
	db, e, err := open(ctx, path, vfs, c)
	return db, &Engine{e}, err
}

// Closing reports whether the store accepts no more commands. Call it while a batch is under way.
func (e *Engine) Closing() bool {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	return errors.Is(e.commands.Do(ended, &request{Command: new(store.Command)}), batch.ErrClosed)
}

// Exec runs any statements on the writer, outside of commands.
func (e *Engine) Exec(texts ...string) error {
	w := <-e.writer
	defer func() { e.writer <- w }()
	for _, text := range texts {
		if err := w.exec(text); err != nil {
			return err
		}
	}
	return nil
}

// BoundLog sets the size above which the write-ahead log is emptied, and how long the running
// reads may take until then. It interrupts no long reads.
func (e *Engine) BoundLog(most int64, longest time.Duration) {
	w := <-e.writer
	defer func() { e.writer <- w }()
	e.log.most, e.log.next, e.log.long.longest, e.log.quick.longest = most, most, longest, longest
	e.log.long.grace = time.Hour
}

// InterruptAtOnce makes long reads have no grace. Call it while none are held back.
func (e *Engine) InterruptAtOnce() { e.log.long.grace = 0 }

// Interrupt interrupts the running long reads.
func (e *Engine) Interrupt() { e.log.long.interrupt() }

// WaitAtMost sets how long a held-back read waits. Call it while no read begins.
func (e *Engine) WaitAtMost(d time.Duration) { e.log.long.wait, e.log.quick.wait = d, d }

// HoldsReads reports whether long reads are held back.
func (e *Engine) HoldsReads() bool { return e.log.long.holds() }

func (l *reads) holds() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held != nil
}

// ReadMerchants reads all merchants for a purpose. It calls begin before each run of the read. The
// context of scan ends if the read is interrupted.
func (e *Engine) ReadMerchants(
	ctx context.Context, p store.Purpose, begin func(), scan func(context.Context) error,
) error {
	s := e.Statement("selectMerchants")
	return e.timed(ctx, p, s, func(ctx context.Context, prepared statement) error {
		begin()
		return prepared.each(ctx, func(store.Scanner) error { return scan(ctx) })
	})
}

// ReadQuickly reads all merchants as a quick list without a deadline. The context of scan ends if
// the list is interrupted.
func (e *Engine) ReadQuickly(ctx context.Context, scan func(context.Context) error) error {
	return e.log.quick.do(ctx, func(ctx context.Context) error {
		return e.once(ctx, store.ByID, e.Statement("selectMerchants"), func(ctx context.Context, prepared statement) error {
			return prepared.each(ctx, func(store.Scanner) error { return scan(ctx) })
		})
	})
}

// Statement returns the statement of the store with a name, or nil.
func (e *Engine) Statement(name string) *store.Statement {
	for s := range e.sql {
		if s.String() == name {
			return s
		}
	}
	return nil
}

// ReadMerchant reads a merchant for a purpose. The read lasts until scan returns.
func (e *Engine) ReadMerchant(ctx context.Context, p store.Purpose, scan func()) error {
	err := e.ReadMerchants(ctx, p, func() {}, func(ctx context.Context) error {
		scan()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errOneRow
	})
	if errors.Is(err, errOneRow) {
		return nil
	}
	return err
}

var errOneRow = errors.New("one row is enough")

// Plan returns SQLite's plan for the single read of a purpose that fn makes, one line for each
// step.
func (e *Engine) Plan(ctx context.Context, p store.Purpose, fn func() error) (string, error) {
	var errs []error
	of := e.read[p]
	of.stmts.Range(func(key, s any) bool {
		errs = append(errs, s.(statement).prepared.Close())
		of.stmts.Delete(key)
		return true
	})
	var reads []string
	errs = append(errs, fn())
	of.stmts.Range(func(key, _ any) bool {
		reads = append(reads, e.sql[key.(*store.Statement)])
		return true
	})
	if err := errors.Join(errs...); err != nil || len(reads) != 1 {
		return "", fmt.Errorf("%d reads: %w", len(reads), err)
	}
	prepared, err := of.PrepareContext(ctx, "EXPLAIN QUERY PLAN "+reads[0])
	if err != nil {
		return "", err
	}
	defer func() { _ = prepared.Close() }() // each returns the failure of the rows
	var steps []string
	err = statement{prepared}.each(ctx, func(row store.Scanner) error {
		var id, parent, unused int
		var step string
		err := row.Scan(&id, &parent, &unused, &step)
		steps = append(steps, step)
		return err
	}, make([]any, parameters(reads[0]))...)
	return strings.Join(steps, "\n"), err
}

// TextOf returns the SQL of a statement of the store.
func (e *Engine) TextOf(name string) (string, error) {
	if s := e.Statement(name); s != nil {
		return e.sql[s], nil
	}
	return "", fmt.Errorf("there is no statement %s", name)
}

// Shapes returns how many parameters each statement of the store has, and how many columns its rows
// have. The number of columns is -1 for an insert. Statements that the engine cannot run are left
// out.
func (e *Engine) Shapes() (map[string][2]int, error) {
	w := <-e.writer
	defer func() { e.writer <- w }()
	shapes := map[string][2]int{}
	var errs []error
	for s, text := range e.sql {
		if text == "" {
			continue
		}
		p, err := w.prepared(s)
		shape := [2]int{parameters(text), -1}
		if err == nil && !strings.Contains(text, "INSERT INTO") {
			shape[1], err = columnsOf(w, p, shape[0])
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s, err))
		}
		shapes[s.String()] = shape
	}
	return shapes, errors.Join(errs...)
}

// columnsOf runs a statement with 0 for each parameter, rolls it back, and returns how many columns
// its rows have.
func columnsOf(w *writer, p statement, parameters int) (int, error) {
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return 0, err
	}
	defer func() { _ = w.exec("ROLLBACK") }() // the next BEGIN reports a failure
	rows, err := p.prepared.QueryContext(context.Background(), slices.Repeat([]any{0}, parameters)...)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }() // its error is that of rows.Err
	columns, err := rows.Columns()
	return len(columns), errors.Join(err, rows.Err())
}

// parameters returns the number of values of a statement with the parameters ?, ?N or both.
func parameters(text string) int {
	most := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '?' {
			continue
		}
		n := 0
		for ; i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9'; i++ {
			n = n*10 + int(text[i+1]-'0')
		}
		if n == 0 {
			n = most + 1
		}
		most = max(most, n)
	}
	return most
}

// Parameters returns the number of values of a statement.
func Parameters(text string) int { return parameters(text) }
