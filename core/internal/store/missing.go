package store

import (
	"context"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

var (
	countMissing     = declare("countMissing")
	keepFound        = declare("keepFound")
	insertFound      = declare("insertFound")
	deleteOldMissing = declare("deleteOldMissing")
)

// missingMemory is how long the record of a missing operation is kept after its last look. An
// operation that is still open then has been looked for in the meantime.
const missingMemory = 30 * 24 * time.Hour

// foundMemory is how much longer the record of an operation that was found is kept. No provider
// keeps operations as long. So a core that was away for weeks does not take such an operation for
// one that never arrived.
const foundMemory = 3 * 365 * 24 * time.Hour

// Missed records that an acquirer does not have the operation of a reference now. It returns how
// long the operation has been missing. To the time at its last look, this process adds the time
// since then by its monotonic clock. If another process has found a longer time, it is that one.
// So no wrong clock makes it longer. A restart takes away only the time since the last look. For an
// operation that was found before, see Found, it counts no time.
func (db *DB) Missed(ctx context.Context, reference string) (missing time.Duration, found bool, err error) {
	err = db.Update(ctx, func(tx *Tx) error {
		missing = 0
		kept, err := tx.execCount(keepFound, reference, toMillis(tx.Now.Add(foundMemory)))
		if found = kept > 0; err != nil || found {
			return err
		}
		row, err := tx.row(countMissing,
			reference, db.instance, clock.MonotonicOf(db.clock).Milliseconds(), toMillis(tx.Now))
		if err != nil {
			return err
		}
		n, err := scanOne(row)
		missing = time.Duration(n) * time.Millisecond
		return err
	})
	return missing, found, err
}

// Found records that an acquirer has had the operation of a reference. The operation is then never
// missing again: the acquirer may have forgotten it, and its effect stays.
func (db *DB) Found(ctx context.Context, reference string) error {
	return db.Update(ctx, func(tx *Tx) error {
		return tx.exec(insertFound, reference, toMillis(tx.Now.Add(foundMemory)))
	})
}

// PurgeMissing removes the records of missing operations that were not looked for in the last 30
// days. It removes the record of an operation that was found after three years. The caller reads
// the time from the clock.
func (db *DB) PurgeMissing(ctx context.Context, now time.Time) error {
	_, err := db.purgeBatches(ctx, deleteOldMissing, db.confirmed(now).Add(-missingMemory))
	return err
}

// purgeBatches runs a statement that removes up to ?2 rows from before a time ?1, until no row is
// left. It returns how many it removed.
func (db *DB) purgeBatches(ctx context.Context, s *Statement, before time.Time) (purged int64, err error) {
	for {
		n := int64(0)
		err := db.Update(ctx, func(tx *Tx) (err error) {
			n, err = tx.execCount(s, toMillis(before), purgeBatch)
			return err
		})
		purged += n
		if err != nil || n < purgeBatch {
			return purged, err
		}
		if err := pause(ctx); err != nil {
			return purged, err
		}
	}
}
