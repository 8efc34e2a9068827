package store

import (
	"context"
	"fmt"
	"time"
)

// Peer is one of the processes that share a store and work on what is in it.
type Peer struct {
	ID   int64
	Beat int64 // counts up while it lives; 0 once it has left
}

// databaseTime is the server's time in milliseconds: the clocks of several machines are not one.
const databaseTime = `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`

// WorkAs has everything that is begun from now on name a process as the one that works on it. Call it before there is anything.
func (db *DB) WorkAs(process int64) { db.process = process }

// Beat says that a process lives, and takes or keeps the lead for a time unless another one has it, or it may not lead at what the server's time is. It
// returns whether it has it, and all processes. Before, it verifies that the server does not lose
// commits.
func (db *DB) Beat(ctx context.Context, process int64, term time.Duration, may func(server time.Time) bool) (leads bool, peers []Peer, err error) {
	if err := db.engine.Verify(ctx); err != nil {
		return false, nil, err
	}
	err = db.Update(ctx, func(tx *Tx) error {
		server, err := tx.beat(process)
		if err != nil {
			return err
		}
		if leads, err = tx.lead(process, term, may(server)); err != nil {
			return err
		}
		peers = nil
		return tx.each(`SELECT id, beat FROM cores`, func(row Scanner) error {
			var p Peer
			if err := row.Scan(&p.ID, &p.Beat); err != nil {
				return fmt.Errorf("read peer: %w", err)
			}
			peers = append(peers, p)
			return nil
		})
	})
	return leads, peers, err
}

// beat returns the server's time.
func (tx *Tx) beat(process int64) (time.Time, error) {
	row, err := tx.s.Row(`INSERT INTO cores (id, beat) VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET beat = cores.beat + 1 RETURNING `+databaseTime, process)
	if err != nil {
		return time.Time{}, err
	}
	var ms int64
	if err := row.Scan(&ms); err != nil {
		return time.Time{}, fmt.Errorf("beat: %w", err)
	}
	return fromMillis(ms), nil
}

// lead takes or keeps the lead, or gives it up where the process may not have it. A term that ends
// later than twice a term from now was taken while the server's clock was ahead: it binds no other
// process, or none would lead until then.
func (tx *Tx) lead(process int64, term time.Duration, may bool) (bool, error) {
	if !may {
		return false, tx.exec(`UPDATE lead SET until = 0 WHERE core_id = ?`, process)
	}
	n, err := tx.s.Exec(`UPDATE lead SET core_id = ?1, until = `+databaseTime+` + ?2
		WHERE core_id = ?1 OR until < `+databaseTime+` OR until > `+databaseTime+` + 2 * ?2`, process, term.Milliseconds())
	return n == 1, err
}

// Leave says that a process has ended, and gives up the lead.
func (tx *Tx) Leave(process int64) error {
	if _, err := tx.lead(process, 0, false); err != nil {
		return err
	}
	return tx.exec(`UPDATE cores SET beat = 0 WHERE id = ?`, process)
}

// ForgetPeer forgets a process that is long gone.
func (tx *Tx) ForgetPeer(process int64) error {
	return tx.exec(`DELETE FROM cores WHERE id = ?`, process)
}
