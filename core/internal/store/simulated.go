package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Simulated is what the simulator knows of one request, where several processes share it.
type Simulated struct {
	Key    string
	Line   string // "" when only a void has named it
	Voided bool
}

// Simulated reads what is known of a request. The zero value, with its key, is of one that nobody named.
func (db *DB) Simulated(ctx context.Context, key string) (Simulated, error) {
	out := Simulated{Key: key}
	s, err := db.query(ctx, `SELECT line, voided FROM simulator_requests WHERE key = ?`)
	if err != nil {
		return out, err
	}
	if err := s.Row(ctx, key).Scan(&out.Line, &out.Voided); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return out, fmt.Errorf("read simulated request: %w", err)
	}
	return out, nil
}

// FirstSimulated writes down a request that nobody named before, and reports whether that is so. It is one statement of its own, which does not
// wait for the disk: what is lost with the server, though not with a process of ours, is a simulated acquirer's.
func (db *DB) FirstSimulated(ctx context.Context, r Simulated) (bool, error) {
	if g, ok := db.engine.(grouper); ok {
		if first, done, err := g.Note(ctx, r); done || err != nil {
			return first, err
		}
	}
	s, err := db.query(ctx, `INSERT INTO simulator_requests (key, line, voided, at)
		SELECT ?, ?, ?, ? FROM (SELECT set_config('synchronous_commit', 'off', true)) AS off ON CONFLICT DO NOTHING RETURNING 1`)
	if err != nil {
		return false, err
	}
	var one int
	switch err := s.Row(ctx, r.Key, r.Line, r.Voided, toMillis(db.clock.Now())).Scan(&one); {
	case err == nil:
		return true, nil
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	default:
		return false, fmt.Errorf("write simulated request: %w", err)
	}
}

// PutSimulated writes what a request has become in the place of what it was read as. ErrConflict when it is not that any more.
func (tx *Tx) PutSimulated(was, now Simulated) error {
	if was.Line == "" && !was.Voided {
		err := tx.insert(`INSERT INTO simulator_requests (key, line, voided, at) VALUES (?, ?, ?, ?)`, now.Key, now.Line, now.Voided, toMillis(tx.Now))
		if errors.Is(err, ErrDuplicate) {
			return ErrConflict
		}
		return err
	}
	return tx.change(`UPDATE simulator_requests SET line = ?, voided = ? WHERE key = ? AND line = ? AND voided = ?`,
		now.Line, now.Voided, now.Key, was.Line, was.Voided)
}

// PurgeSimulated removes at most limit requests that are older than age, and returns how many.
func (tx *Tx) PurgeSimulated(age time.Duration, limit int) (int64, error) {
	return tx.changed(`DELETE FROM simulator_requests WHERE key IN (SELECT key FROM simulator_requests WHERE at < ? LIMIT ?)`,
		toMillis(tx.Confirmed().Add(-age)), limit)
}
