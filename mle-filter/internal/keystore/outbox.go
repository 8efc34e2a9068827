package keystore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// longestPause is longer than any claim or postponement. An announcement that is due later was
// written by a clock that was ahead.
const longestPause = 15 * time.Minute

// Announcement is an event for a merchant, delivered once.
type Announcement struct {
	ID, Tenant, Type string
	Body             []byte
	CreatedAt        time.Time
	NextAt           time.Time // when it is sent, or sent again
	Attempts         int
}

// Announce writes an announcement, in the transaction of the change that it reports.
func (tx *Tx) Announce(a Announcement) error {
	return tx.one(`INSERT INTO mle_outbox (id, tenant, type, body, created_at, next_at) VALUES (?, ?, ?, ?, ?, ?)`,
		a.ID, a.Tenant, a.Type, a.Body, millis(tx.Now), millis(tx.Now))
}

// ClaimAnnouncement claims the announcement that has waited longest, for the time lease: no other
// filter gets it meanwhile. An announcement of a clock that was ahead is due immediately. It
// returns ErrNotFound if none is due.
func (db *DB) ClaimAnnouncement(ctx context.Context, lease time.Duration) (*Announcement, error) {
	now := db.clock.Now()
	for {
		a, err := db.dueAnnouncement(ctx, now)
		if err != nil {
			return nil, err
		}
		until := now.Add(lease)
		err = db.change(ctx, `UPDATE mle_outbox SET next_at = ?, attempts = attempts +
			1 WHERE id = ? AND next_at = ? AND attempts = ? AND delivered_at = 0`,
			millis(until), a.ID, millis(a.NextAt), a.Attempts)
		if err == nil {
			a.Attempts, a.NextAt = a.Attempts+1, until
			return a, nil
		}
		if !errors.Is(err, ErrConflict) { // if another filter has claimed it, try the next one
			return nil, err
		}
	}
}

func (db *DB) dueAnnouncement(ctx context.Context, now time.Time) (*Announcement, error) {
	a := &Announcement{}
	var created, next int64
	err := db.read.QueryRowContext(ctx, db.sql(`SELECT id, tenant, type, body, created_at, next_at, attempts
		FROM mle_outbox WHERE delivered_at = 0 AND (next_at <= ? OR next_at > ?) ORDER BY next_at, id LIMIT 1`),
		millis(now), millis(now.Add(longestPause))).
		Scan(&a.ID, &a.Tenant, &a.Type, &a.Body, &created, &next, &a.Attempts)
	a.CreatedAt, a.NextAt = moment(created), moment(next)
	return found(a, err)
}

// Delivered ends an announcement. Repeating the call changes nothing.
func (db *DB) Delivered(ctx context.Context, id string) error {
	err := db.change(
		ctx, `UPDATE mle_outbox SET delivered_at = ? WHERE id = ? AND delivered_at = 0`, millis(db.clock.Now()), id,
	)
	if errors.Is(err, ErrConflict) {
		return nil
	}
	return err
}

// Postpone makes an announcement due at that time, within longestPause, if attempts is still the
// number of its claims.
func (db *DB) Postpone(ctx context.Context, id string, attempts int, at time.Time) error {
	err := db.change(
		ctx, `UPDATE mle_outbox SET next_at = ? WHERE id = ? AND attempts = ? AND delivered_at = 0`, millis(at), id, attempts,
	)
	if errors.Is(err, ErrConflict) {
		return nil // another filter has claimed it
	}
	return err
}

// Undelivered counts the waiting announcements.
func (db *DB) Undelivered(ctx context.Context) (n int, err error) {
	err = db.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM mle_outbox WHERE delivered_at = 0`).Scan(&n)
	return found(n, err)
}

// Forget removes delivered announcements and stored responses from before that time.
func (db *DB) Forget(ctx context.Context, before time.Time) error {
	for _, statement := range []string{
		`DELETE FROM mle_responses WHERE created_at < ?`,
		`DELETE FROM mle_outbox WHERE delivered_at > 0 AND delivered_at < ?`,
	} {
		if _, err := db.write.ExecContext(ctx, db.sql(statement), millis(before)); err != nil {
			return fmt.Errorf("keystore: forget: %w", err)
		}
	}
	return nil
}

// change runs one statement that must change one row, or returns ErrConflict. It changes no keys,
// so it needs no Tx.
func (db *DB) change(ctx context.Context, statement string, args ...any) error {
	r, err := db.write.ExecContext(ctx, db.sql(statement), args...)
	if err != nil {
		return fmt.Errorf("keystore: %w", err)
	}
	if n, err := r.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, ErrConflict)
	}
	return nil
}
