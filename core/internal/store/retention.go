package store

import (
	"context"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store/pass"
)

var (
	selectIdempotencyKeys = declare("selectIdempotencyKeys")
	selectKeyWindow       = declare("selectKeyWindow")
	correctKeyExpiries    = declare("correctKeyExpiries")
	deleteExpiredKeys     = declare("deleteExpiredKeys")
)

// The bounds of a purge: the rows of one page, and the pause after it, in which payments have the
// writer to themselves. With them a purge still removes keys faster than payments can add them. A
// page of large rows has several commits.
const (
	purgeBatch = 256
	purgePause = 10 * time.Millisecond
)

// PurgeIdempotencyKeys removes the completed keys that have expired by a time, and returns how
// many. Keys whose request still runs stay. The caller reads the time from the clock.
//
// Ids rise with time and most keys live equally long, so most expired keys have the lowest ids.
// Therefore no index is needed, and a pass ends at the first window that has a key younger than a
// lifetime and no expired one. An older key that is still valid does not end the pass: its request
// ended late. A key that would live longer than two lifetimes was written by a wrong clock, and
// gets one lifetime from now on.
func (db *DB) PurgeIdempotencyKeys(ctx context.Context, now time.Time) (purged int64, err error) {
	ended := toMillis(db.keysEnded(now))
	p := db.BeginPass(pass.Purge)
	rows := sizedRows("idempotency_key")
	rows.Change = func(ctx context.Context, chunk []sized) (int, error) {
		n := int64(0)
		first, last := span(chunk)
		err := db.Update(ctx, func(tx *Tx) (err error) { n, err = tx.purgeKeys(first.id, last.id, ended); return err })
		if err == nil {
			purged += n
		}
		return len(chunk), err
	}
	for after := int64(0); ; {
		w, err := db.nextWindow(ctx, after, ended, now)
		if err != nil || w.rows == 0 {
			return purged, err
		}
		if w.expired > 0 || w.wrong > 0 {
			page, err := backgroundRows(ctx, db, selectIdempotencyKeys, scanSized, after, w.last)
			if err == nil {
				err = rows.Do(ctx, p, page)
			}
			if err != nil {
				return purged, fmt.Errorf("purge idempotency keys: %w", err)
			}
		}
		if w.young > 0 && w.expired == 0 && w.wrong == 0 || w.rows < purgeBatch {
			return purged, nil
		}
		after = w.last
		if err := pause(ctx); err != nil {
			return purged, err
		}
	}
}

// latestExpiry returns, in milliseconds, the latest expiry that a right clock can have written.
// expiry is that of a key that is written now.
func latestExpiry(expiry time.Time) int64 { return toMillis(expiry.Add(KeyLifetime)) }

// window counts the next purgeBatch rows. expired and wrong are completed keys that have expired,
// or were written by a wrong clock. young are keys younger than a lifetime.
type window struct{ rows, expired, young, wrong, last int64 }

func (db *DB) nextWindow(ctx context.Context, after, ended int64, now time.Time) (window, error) {
	var w window
	row := db.backgroundRow(ctx, selectKeyWindow, ended, latestExpiry(db.KeyExpiry(now)), ended-KeyLifetime.Milliseconds(),
		toMillis(db.DateAt(now)), after, purgeBatch)
	if err := row.Scan(&w.rows, &w.expired, &w.young, &w.wrong, &w.last); err != nil {
		return window{}, fmt.Errorf("look for expired idempotency keys: %w", err)
	}
	return w, nil
}

// purgeKeys removes the keys that have expired. Keys that a wrong clock wrote get one lifetime from
// the command's time on. The time of the pass does not count, because the clock may have been
// corrected in between.
func (tx *Tx) purgeKeys(first, last, ended int64) (int64, error) {
	expiry := tx.KeyExpiry()
	err := tx.exec(correctKeyExpiries,
		toMillis(expiry), first, last, latestExpiry(expiry))
	if err != nil {
		return 0, err
	}
	return tx.execCount(deleteExpiredKeys,
		first, last, ended)
}
