package store

import (
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

// The bounds of a background commit. They limit how long it holds its locks and, on SQLite, the
// writer. On a slow network, too, it ends within the time of a command.
const (
	commitTime = 200 * time.Millisecond
	commitRows = 100
	// writerTime replaces commitTime where the commit holds the only writer.
	writerTime = 20 * time.Millisecond
)

// Each runs change for rows in order until the command reaches a bound of background commits. It
// returns how many rows it has changed, at least the first. Nested calls share the bounds.
func Each[T any](tx *Tx, rows []T, change func(T) error) (int, error) {
	return eachLeast(tx, rows, 1, change)
}

// eachLeast is Each for at least a number of the rows.
func eachLeast[T any](tx *Tx, rows []T, least int, change func(T) error) (int, error) {
	for i, row := range rows {
		if i >= least && tx.full() {
			return i, nil
		}
		tx.rows++
		if err := change(row); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// full reports whether the command has reached a bound of background commits.
func (tx *Tx) full() bool {
	longest := commitTime
	if !tx.db.shared {
		longest = writerTime
	}
	return tx.rows >= commitRows || clock.Monotonic()-tx.began >= longest
}
