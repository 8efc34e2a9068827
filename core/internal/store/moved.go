package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// The states of a store of which rows were moved to or from another database. A store that was not has no mark.
const (
	// MovedAway: the rows are elsewhere now, and change there.
	MovedAway = "away"
	// Arriving: rows come in, and not all are here yet.
	Arriving = "arriving"
	// Arrived: all are here, and this is the store now.
	Arrived = "arrived"
	// Undoing: it was the store, and is being given up for the one that the rows came from.
	Undoing = "undoing"
)

var (
	// ErrMoved says that a store's rows have gone to another database, and that it must not be used.
	ErrMoved = errors.New("this store was moved away")
	// ErrArriving says that a store holds only a part of what it is to hold.
	ErrArriving = errors.New("this store is not whole")
)

// ErrMoveDone says that nothing is left to move.
var ErrMoveDone = errors.New("this store was moved there already")

// Move brings the rows of a store that is a file into a database that several processes share. The package of that database makes it, for the
// programs that have one.
type Move interface {
	// Ahead makes a pass beside a service that writes.
	Ahead(ctx context.Context) ([]MovedTable, error)
	// Finish makes the last pass with the source closed to all writers, compares the whole, and has the stores change places. Nobody may serve the
	// source. What it returns with an error is not moved, and the source is still the store; but when the source is marked already, a second
	// Finish is what is wanted.
	Finish(ctx context.Context, l Luggage) ([]MovedTable, error)
	// Sealed reports whether the source has rows that are worth nothing without the vault's keys.
	Sealed(ctx context.Context) (bool, error)
	// Place is where the target is, for people.
	Place() string
	// Close closes both stores.
	Close() error
}

// MoveConfig says what is moved.
type MoveConfig struct {
	Source   string // the file
	Identity string // of the store, by which a target is known to be of it
	Clock    clock.Clock
	Tell     func(format string, args ...any) // is told the progress in lines
}

// MovedTable is what became of one table in a pass.
type MovedTable struct {
	Name    string
	Rows    int64  // at the source
	Hash    string // of them, in whatever order
	Changed int64  // rows that were written or removed at the target
}

// Luggage is what a store has beside its rows as long as it is a folder, and in rows as a database that several processes share.
type Luggage struct {
	Secrets   map[string][]byte // by name, encrypted
	Simulated []Simulated
}

// refuseMoved is ErrMoved or ErrArriving for a store that is not the one to use.
func (db *DB) refuseMoved(ctx context.Context) error {
	s, err := db.query(ctx, `SELECT state, place, at FROM moves WHERE id = 1`)
	if err != nil {
		return err
	}
	var state, place string
	var at int64
	switch err := s.Row(ctx).Scan(&state, &place, &at); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("look whether the store was moved: %w", err)
	}
	switch state {
	case MovedAway:
		return fmt.Errorf("%w at %s: serve %s instead. If that is not to be used any more: core migrate-data --undo --data DIR --to postgres://…",
			ErrMoved, fromMillis(at).Format(time.RFC3339), place)
	case Arriving:
		return fmt.Errorf("%w: a move into it has not ended. Run it again: core migrate-data --data DIR --to postgres://…", ErrArriving)
	case Undoing:
		return fmt.Errorf("%w: a move into it is being taken back. Run that again: core migrate-data --undo --data DIR --to postgres://…", ErrArriving)
	}
	return nil
}

// SchemaVersion is what version of the SQLite schema this build makes.
func SchemaVersion() (int64, error) {
	names, err := fs.Glob(migrations, "migration/sqlite/*.sql")
	if err != nil {
		return 0, fmt.Errorf("migrations: %w", err)
	}
	return NewestOf(names)
}

// NewestOf is the highest version that names of migrations begin with.
func NewestOf(names []string) (int64, error) {
	var newest int64
	for _, name := range names {
		digits, _, _ := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], "_")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("migration %s has no version: %w", name, err)
		}
		newest = max(newest, n)
	}
	return newest, nil
}
