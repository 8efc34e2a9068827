package store

import (
	"context"
	"fmt"
	"time"
)

// The bounds of a purge: rows a commit, and the pause after it, in which payments have the writer to themselves. Together they purge faster
// than the store can take payments.
const (
	purgeBatch = 256
	purgePause = 10 * time.Millisecond
)

// PurgeIdempotencyKeys removes the answered keys that have expired by a time, and returns how many. Keys whose request still runs stay.
//
// Ids rise with time and all keys live equally long, so the expired ones are the first: no index is kept for this, and a pass ends at the
// first key that lives.
func (db *DB) PurgeIdempotencyKeys(ctx context.Context, now time.Time) (purged int64, err error) {
	now = db.confirmed(now)
	for after := int64(0); ; {
		w, err := db.expiredWindow(ctx, after, now)
		if err != nil || w.rows == 0 {
			return purged, err
		}
		if w.expired > 0 {
			n := int64(0)
			if err = db.Update(ctx, func(tx *Tx) (err error) { n, err = tx.purgeKeys(after, w.last, now); return err }); err != nil {
				return purged, fmt.Errorf("purge idempotency keys: %w", err)
			}
			purged += n
		}
		if w.alive > 0 || w.rows < purgeBatch {
			return purged, nil
		}
		after = w.last
		select {
		case <-ctx.Done():
			return purged, ctx.Err()
		case <-time.After(purgePause):
		}
	}
}

// window is what stands in the next purgeBatch rows.
type window struct{ rows, expired, alive, last int64 }

func (db *DB) expiredWindow(ctx context.Context, after int64, now time.Time) (window, error) {
	s, err := db.query(ctx, `SELECT COUNT(*), COALESCE(SUM(CASE WHEN status <> 0 AND expires_at <= ?1 THEN 1 ELSE 0 END), 0),
			COALESCE(SUM(CASE WHEN status <> 0 AND expires_at > ?1 THEN 1 ELSE 0 END), 0), COALESCE(MAX(id), 0)
		FROM (SELECT id, status, expires_at FROM idempotency_keys WHERE id > ?2 ORDER BY id LIMIT ?3) AS next`)
	if err != nil {
		return window{}, err
	}
	var w window
	if err := s.Row(ctx, toMillis(now), after, purgeBatch).Scan(&w.rows, &w.expired, &w.alive, &w.last); err != nil {
		return window{}, fmt.Errorf("look for expired idempotency keys: %w", err)
	}
	return w, nil
}

func (tx *Tx) purgeKeys(after, last int64, now time.Time) (int64, error) {
	return tx.changed(`DELETE FROM idempotency_keys WHERE id > ? AND id <= ? AND status <> 0 AND expires_at <= ?`, after, last, toMillis(now))
}
