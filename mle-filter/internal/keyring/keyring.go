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

// Errors besides engine.ErrNoKey.
var (
	// ErrNotReady: a key cannot be given out yet, since making one takes a moment. Trying again helps.
	ErrNotReady = errors.New("keyring: the key is being made")
	// ErrState: the key is not in a state that allows it.
	ErrState = errors.New("keyring: not in this state of the key")
	// ErrKeyReused: the Idempotency-Key was used with another request.
	ErrKeyReused = errors.New("keyring: the idempotency key was used with another request")
)

// Config is what a keyring is made of. Store and KEK are required.
type Config struct {
	Store *keystore.DB
	KEK   []byte // the key-encryption key, KEKSize bytes; all filters on a store have the same
	// OldKEK is the key-encryption key before KEK, while it is being replaced: a keyset under either
	// opens. Empty for none.
	OldKEK []byte
	// Existing refuses a store that no filter has used yet: keystore.ErrNoStore.
	Existing bool
	Clock    clock.Clock // nil for the system's
	Log      *slog.Logger

	Schedule Schedule // zero fields for the usual times
	RSABits  int      // of new RSA keys; 3072
	Spares   int      // how many RSA keys are kept ready; 4
}

// Keyring implements engine.Keys. It is safe for concurrent use.
type Keyring struct {
	cfg    Config
	db     *keystore.DB
	clock  clock.Clock
	guard  *clock.Guard // by which keys and responses end for ever
	log    *slog.Logger
	sealer *sealer
	fill   chan struct{} // holds one wish for spare keys
	asked  *inquiry
	load   singleflight.Group
	ages   atomic.Pointer[since] // nil until they were read

	mu   sync.RWMutex
	held map[string]*held // guarded by mu; by tenant
	seen int64            // guarded by mu; the revision that held is not behind
}

var _ engine.Keys = (*Keyring)(nil)

// Open returns a keyring on a store. Run keeps it going.
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
		cfg: cfg, db: cfg.Store, clock: cfg.Clock, guard: newGuard(cfg.Clock), log: cfg.Log, sealer: sealer, fill: make(chan struct{}, 1),
		asked: newInquiry(cfg.Store.Revision), //nolint:contextcheck // no caller can cancel the query of others
		held:  map[string]*held{},
	}
	return r, nil
}

// newGuard returns the guard of a clock that it does not believe yet: a filter keeps no confirmed
// time, so nothing ends for ever in the first hour after its start.
func newGuard(c clock.Clock) *clock.Guard {
	g := clock.NewGuard(c)
	g.Resume(clock.GuardState{Highest: time.Unix(0, 0)})
	g.Read() // the hour begins
	return g
}

// minKeep is how long a replaced key must be kept at least: clients may keep what they were told of keys for an hour.
const minKeep = time.Hour

// validate refuses times that would make a rotation fail requests.
func (c *Config) validate() error {
	s := c.Schedule
	switch {
	case s.PublishAhead >= s.RotateEvery:
		return fmt.Errorf("keys are published %s ahead, which must be less than the %s that they are current", s.PublishAhead, s.RotateEvery)
	case s.KeepPrevious < minKeep:
		return fmt.Errorf("a key that was replaced is kept for %s: want %s or more, for as long as clients may keep what they were told", s.KeepPrevious, minKeep)
	case c.RSABits < 2048 || c.RSABits > 4096:
		return fmt.Errorf("rsa keys of %d bits: want 2048 to 4096", c.RSABits)
	case c.Spares < 0:
		return fmt.Errorf("%d rsa keys to be kept ready: want 0 or more", c.Spares)
	}
	return nil
}

// Schedule returns how long keys live.
func (r *Keyring) Schedule() Schedule { return r.cfg.Schedule }

// Ping returns an error if the keyset cannot be read from the store, or has keys that this filter
// cannot open.
func (r *Keyring) Ping(ctx context.Context) error {
	_, err := r.sealer.follow(r.db.Keyset(ctx))
	return err
}

// IsUnavailable reports whether err says that the store could not be reached just now.
func (r *Keyring) IsUnavailable(err error) bool {
	return errors.Is(err, errAway) || r.db.IsUnavailable(err)
}

// Run keeps the keyring going until ctx ends: it rotates by schedule and makes spare keys.
func (r *Keyring) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { r.every(ctx, nil, "rotate keys", r.Maintain) })
	wg.Go(func() { r.every(ctx, r.fill, "make spare keys", r.Fill) })
	wg.Wait()
}

// every does something now, whenever it is wished for, and at an interval.
func (r *Keyring) every(ctx context.Context, wish <-chan struct{}, what string, do func(context.Context) error) {
	tick := time.NewTicker(maintainEvery)
	defer tick.Stop()
	for {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			r.log.ErrorContext(ctx, "keyring", slog.String("what", what), slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-wish:
		case <-tick.C:
		}
	}
}

// notReady is err, or ErrNotReady for a key that is not there.
func notReady(err error) error {
	if errors.Is(err, keystore.ErrNotFound) {
		return ErrNotReady
	}
	return err
}
