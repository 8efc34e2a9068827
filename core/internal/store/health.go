package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

var (
	writeProbe   = declare("writeProbe")
	countProbes  = declare("countProbes")
	selectNewest = declare("selectNewest")
	selectPublic = declare("selectPublic")
)

const (
	// healthTime is how long a commit, or a probe, counts as proof that the writer works.
	healthTime = time.Second
	// healthPatience is how long a probe may take before the writer counts as stuck.
	healthPatience = time.Second
	// probeSize is how many bytes a probe writes: more than a payment, so that a full disk fails a
	// probe no later than a payment. The bytes are random, because SQLite does not write a page
	// that has not changed.
	probeSize = 32 << 10
)

// health is the evidence of whether the writer works.
type health struct {
	wroteAt atomic.Int64 // milliseconds of the last commit that wrote anything
	failed  atomic.Bool  // a commit failed, for want of disk space for example, and no probe has succeeded since

	patience atomic.Int64 // how long a probe may take, in nanoseconds; 0 for healthPatience

	mu      sync.Mutex // guards the fields below
	running *probe
	last    *probe // the last one that has ended
}

// probe is one attempt to write.
type probe struct {
	ended   chan struct{}
	expired chan struct{} // closed when the probe takes too long
	err     error         // once it has ended
	at      time.Time     // when it ended
}

// bound returns how long a probe may take.
func (h *health) bound() time.Duration {
	return cmp.Or(time.Duration(h.patience.Load()), healthPatience)
}

// wrote records a commit that has written rows and began at a time.
func (h *health) wrote(at time.Time) { h.wroteAt.Store(at.UnixMilli()) }

// noteFailure records the error of a commit or command if it shows that the store is unavailable.
// After that a small commit that succeeds by chance does not make the store healthy again; only a
// probe does.
func (h *health) noteFailure(err error) {
	if errors.Is(err, ErrUnavailable) {
		h.failed.Store(true)
	}
}

// PingWriter returns nil if the writer has committed within the last second. Otherwise it returns
// the result of a probe, a small write. All calls within a second share one probe. It returns
// ErrStalled if the probe takes too long.
func (db *DB) PingWriter(ctx context.Context) error {
	h, now := &db.health, db.clock.Now()
	if age := now.Sub(time.UnixMilli(h.wroteAt.Load())); !h.failed.Load() && age >= 0 && age < healthTime {
		return nil
	}
	h.mu.Lock()
	if p := h.last; p != nil && h.running == nil {
		if age := now.Sub(p.at); age >= 0 && age < healthTime {
			h.mu.Unlock()
			return p.err
		}
	}
	if h.running == nil {
		h.running = db.startProbe(forClients(context.WithoutCancel(ctx)))
	}
	p := h.running
	h.mu.Unlock()
	return p.result(ctx)
}

// result waits for a probe and returns its error. It returns ErrStalled if the probe takes too
// long.
func (p *probe) result(ctx context.Context) error {
	select {
	case <-p.ended:
		return p.err
	case <-p.expired:
		return fmt.Errorf("the writer is stuck: %w: %w", ErrUnavailable, ErrStalled)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// startProbe starts a write in a goroutine. A stuck write cannot be cancelled: its callers can only
// stop waiting for it.
func (db *DB) startProbe(ctx context.Context) *probe {
	p := &probe{ended: make(chan struct{}), expired: make(chan struct{})}
	patience := time.AfterFunc(db.health.bound(), func() { close(p.expired) })
	go func() {
		// A probe that has ended never expires: a waiter that runs later would read ErrStalled.
		defer patience.Stop()
		err := db.Update(ctx, func(tx *Tx) error {
			filler := make([]byte, probeSize)
			_, _ = rand.Read(filler) // crypto/rand never returns an error
			_, err := tx.execCount(writeProbe, filler)
			return err
		})
		h := &db.health
		h.mu.Lock()
		defer h.mu.Unlock()
		p.err, p.at = err, db.clock.Now()
		if err == nil {
			h.failed.Store(false)
		}
		h.running, h.last = nil, p
		close(p.ended)
	}()
	return p
}

// Ping reports whether the store can be read.
func (db *DB) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, db.health.bound())
	defer cancel()
	var rows int
	if err := db.essential(ctx, countProbes).Scan(&rows); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	return nil
}

// Newest returns the highest id among the rows that carry money, and its table: transactions,
// captures or refunds. The id is 0 if there is no row. An id contains the time at which it was
// drawn.
func (db *DB) Newest(ctx context.Context) (table string, id int64, err error) {
	if err := db.backgroundRow(ctx, selectNewest).Scan(&table, &id); err != nil {
		return "", 0, fmt.Errorf("read newest row: %w", err)
	}
	return table, id, nil
}

// Public reports whether every role of the database server may connect to the database. Such a role
// can take the locks of commands, and so stop all payments.
func (db *DB) Public(ctx context.Context) (public bool, err error) {
	if err := db.essential(ctx, selectPublic).Scan(&public); err != nil {
		return false, fmt.Errorf("read who may connect to the database: %w", err)
	}
	return public, nil
}
