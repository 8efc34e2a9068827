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

// Beat says that a process lives, and takes or keeps the lead for a time unless another one has it. It returns whether it has it, and all
// processes.
func (db *DB) Beat(ctx context.Context, process int64, term time.Duration) (leads bool, peers []Peer, err error) {
	err = db.Update(ctx, func(tx *Tx) error {
		err := tx.exec(`INSERT INTO cores (id, beat) VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET beat = cores.beat + 1`, process)
		if err != nil {
			return err
		}
		n, err := tx.s.Exec(`UPDATE lead SET core_id = ?1, until = `+databaseTime+` + ?2 WHERE core_id = ?1 OR until < `+databaseTime,
			process, term.Milliseconds())
		if err != nil {
			return err
		}
		leads, peers = n == 1, nil
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

// Leave says that a process has ended, and gives up the lead.
func (tx *Tx) Leave(process int64) error {
	if err := tx.exec(`UPDATE lead SET until = 0 WHERE core_id = ?`, process); err != nil {
		return err
	}
	return tx.exec(`UPDATE cores SET beat = 0 WHERE id = ?`, process)
}

// ForgetPeer forgets a process that is long gone.
func (tx *Tx) ForgetPeer(process int64) error {
	return tx.exec(`DELETE FROM cores WHERE id = ?`, process)
}
