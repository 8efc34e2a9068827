package keyring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/shared/clock"
)

// Errors in addition to engine.ErrNoKey.
var (
	// ErrNotReady reports that the key is still being made. The caller can retry.
	ErrNotReady = errors.New("keyring: the key is being made")
	// ErrState reports that the key's state does not allow the operation.
	ErrState = errors.New("keyring: the key's state does not allow this")
	// ErrKeyReused reports that the Idempotency-Key belongs to another request.
	ErrKeyReused = errors.New("keyring: the idempotency key was used with another request")
)

// Config holds the parts of a keyring. Store and KEK are required.
type Config struct {
	Store *keystore.DB
	KEK   []byte // the key-encryption key, KEKSize bytes; the same for all filters on a store
	// OldKEK is the previous key-encryption key, during its rotation: a keyset under either key
	// opens. Empty for none.
	OldKEK []byte
	// Existing rejects a store that no filter has used yet, with keystore.ErrNoStore.
	Existing bool
	Clock    clock.Clock // nil for the system clock
	Log      *slog.Logger

	Schedule Schedule // zero fields stand for the defaults
	RSABits  int      // size of new RSA keys; default 3072
	Spares   int      // number of RSA keys made in advance; default 4
}

// Keyring implements engine.Keys. It is safe for concurrent use.
type Keyring struct {
	cfg      Config
	db       *keystore.DB
	clock    clock.Clock
	guard    *clock.Guard // keys and stored responses end by its confirmed time
	log      *slog.Logger
	sealer   *sealer
	fill     chan struct{} // a signal to make spare keys
	revision *revisionQuery
	load     singleflight.Group
	ages     atomic.Pointer[since] // nil before the first read

	mu    sync.RWMutex
	cache map[string]*cachedTenant // guarded by mu; by tenant
	seen  int64                    // guarded by mu; cache is at least as new as this revision
	// changed holds the refused rows: another program changed them. Guarded by mu.
	changed map[row]bool
}

var _ engine.Keys = (*Keyring)(nil)

// Open returns a keyring on a store. Run executes its schedule.
func Open(ctx context.Context, cfg Config) (*Keyring, error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &cfg.Schedule
	s.RotateEvery, s.PublishAhead = cmp.Or(s.RotateEvery, 90*day), cmp.Or(s.PublishAhead, 14*day)
	s.KeepPrevious = cmp.Or(s.KeepPrevious, 30*day)
	cfg.RSABits, cfg.Spares = cmp.Or(cfg.RSABits, 3072), cmp.Or(cfg.Spares, 4)
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	keks := [][]byte{cfg.KEK}
	if len(cfg.OldKEK) > 0 {
		keks = append(keks, cfg.OldKEK)
	}
	sealer, err := openSealer(ctx, cfg.Store, cfg.Existing, keks...)
	if err != nil {
		return nil, err
	}
	r := &Keyring{
		cfg: cfg, db: cfg.Store, clock: cfg.Clock, guard: newGuard(cfg.Clock), log: cfg.Log, sealer: sealer,
		fill:     make(chan struct{}, 1),
		revision: newRevisionQuery(cfg.Store.Revision), //nolint:contextcheck // no caller can cancel the query of others
		cache:    map[string]*cachedTenant{},
		changed:  map[row]bool{},
	}
	return r, nil
}

// newGuard returns a guard that has not confirmed the clock yet. A filter stores no confirmed time,
// so no key or response is deleted in the first hour after its start.
func newGuard(c clock.Clock) *clock.Guard {
	g := clock.NewGuard(c)
	g.Resume(clock.GuardState{Highest: time.Unix(0, 0)})
	g.Read() // starts the hour
	return g
}

// minKeep is the shortest overlap of a replaced key: clients may cache the keys for an hour.
const minKeep = time.Hour

// validate rejects times with which a rotation would make requests fail.
func (c *Config) validate() error {
	s := c.Schedule
	switch {
	case s.PublishAhead >= s.RotateEvery:
		return fmt.Errorf("rotation: publish_ahead: %s is not less than every: %s", s.PublishAhead, s.RotateEvery)
	case s.KeepPrevious < minKeep:
		return fmt.Errorf("rotation: keep_previous: %s: want %s or more, because clients cache keys", s.KeepPrevious, minKeep)
	case c.RSABits < 2048 || c.RSABits > 4096:
		return fmt.Errorf("rsa_bits: %d: want 2048 to 4096", c.RSABits)
	case c.Spares < 0:
		return fmt.Errorf("spare_keys: %d: want 0 or more", c.Spares)
	}
	return nil
}

// Schedule returns the lifetimes of keys.
func (r *Keyring) Schedule() Schedule { return r.cfg.Schedule }

// Ping returns an error if the keyset cannot be read from the store, or if this filter cannot open
// it.
func (r *Keyring) Ping(ctx context.Context) error {
	_, err := r.sealer.follow(r.db.Keyset(ctx))
	return err
}

// IsUnavailable reports whether err means that the store cannot be reached now.
func (r *Keyring) IsUnavailable(err error) bool {
	return errors.Is(err, errStoreUnread) || r.db.IsUnavailable(err)
}

// Run rotates by schedule and makes spare keys until ctx ends.
func (r *Keyring) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { r.every(ctx, nil, "rotate keys", r.Maintain) })
	wg.Go(func() { r.every(ctx, r.fill, "make spare keys", r.Fill) })
	wg.Wait()
}

// every calls do now, at each signal, and at an interval.
func (r *Keyring) every(ctx context.Context, signal <-chan struct{}, task string, do func(context.Context) error) {
	tick := time.NewTicker(maintainEvery)
	defer tick.Stop()
	for {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			r.log.ErrorContext(ctx, "mle-filter: background task failed", slog.String("task", task), slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-signal:
		case <-tick.C:
		}
	}
}

// notReady returns ErrNotReady for a missing key, or else err.
func notReady(err error) error {
	if errors.Is(err, keystore.ErrNotFound) {
		return ErrNotReady
	}
	return err
}
