package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/seal"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/durable"
)

// loadRoots reads the root secrets. It creates them for a store in which nothing depends on them
// yet.
func loadRoots(ctx context.Context, cfg Config, db *store.DB) (*root.Ring, error) {
	location, err := cfg.rootLocation(db)
	if err != nil {
		return nil, err
	}
	err = cfg.wantKept(ctx, location, db.HoldsMerchants, RootFile,
		"the API keys of its merchants are invalid and the webhooks' secrets unknown")
	if err != nil {
		return nil, err
	}
	roots, err := root.Open(ctx, location, cfg.Clock)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeRoots(ctx, cfg, location); err == nil {
			roots, err = root.Open(ctx, location, cfg.Clock) // another process may have created them first
		}
	}
	if err != nil {
		return nil, err
	}
	return roots, wantRootVersions(ctx, cfg, db, roots)
}

func makeRoots(ctx context.Context, cfg Config, location vault.Location) error {
	if cfg.Database == nil {
		if err := durable.SyncFolder(cfg.Data); err != nil { // the name of the database, before any secret
			return fmt.Errorf("data folder: %w", err)
		}
	}
	first, err := firstRoots(cfg)
	if err != nil {
		return err
	}
	return location.Make(ctx, first)
}

// firstRoots returns the stored form of fresh root secrets.
func firstRoots(cfg Config) ([]byte, error) {
	set, err := root.New(cfg.Clock.Now())
	if err != nil {
		return nil, err
	}
	return set.Bytes()
}

// wantRootVersions returns ErrLost if valid API keys need a version of the root secret that does
// not exist. That happens if an older copy of the secret was restored.
func wantRootVersions(ctx context.Context, cfg Config, db *store.DB, roots *root.Ring) error {
	keys, err := db.RootUses(ctx, cfg.Clock.Now())
	if err != nil {
		return fmt.Errorf("root secret: %w", err)
	}
	for version, n := range keys {
		if !slices.ContainsFunc(roots.Set().Versions(), func(v root.Version) bool { return v.Number == version }) {
			return fmt.Errorf("%w: the root secret has no version %d, which %d API keys need. Copy the root secret of "+
				"this database back, or restore both from one backup", ErrLost, version, n)
		}
	}
	return nil
}

// RotateRoot adds a version of the root secret and returns the new set. Every core reads it within
// root.ReadEvery, and uses it from root.Activation on. Older versions stay valid until DropOldRoots
// removes them. A rotation is refused while the clock is ahead of the confirmed time. Otherwise the
// version of a wrong clock would prevent the next rotation until that time comes.
func (d *Dir) RotateRoot(ctx context.Context) (*root.Set, error) {
	return d.replaceRoots(ctx, func(s *root.Set) (*root.Set, error) {
		if err := d.wantConfirmed(); err != nil {
			return nil, err
		}
		return s.Rotated(d.Clock.Now())
	})
}

// DropOldRoots removes all versions of the root secret but the newest, permanently, and returns the
// new set. It is refused while stored responses, valid API keys or unconfirmed transactions need
// an older version. It is also refused while the clock is ahead of the confirmed time.
func (d *Dir) DropOldRoots(ctx context.Context) (*root.Set, error) {
	return d.replaceRoots(ctx, func(s *root.Set) (*root.Set, error) {
		if err := d.wantConfirmed(); err != nil {
			return nil, err
		}
		next, err := s.Dropped(d.Store.Confirmed())
		if err != nil {
			return nil, err
		}
		return next, d.wantUnused(ctx, s.Newest())
	})
}

// wantConfirmed returns an error while the clock is ahead of the confirmed time, see ClockAhead of
// the store. By such a clock, values in use would seem to have expired.
func (d *Dir) wantConfirmed() error {
	ahead := d.Store.ClockAhead()
	if ahead == 0 {
		return nil
	}
	return fmt.Errorf("root secret: the clock is %s ahead of the confirmed time %s: correct it. If it is correct, "+
		"retry when core has served for an hour",
		ahead.Round(time.Second), d.Store.Confirmed().UTC().Format(time.RFC3339))
}

// wantUnused returns an error if anything needs a version of the root secret older than newest.
func (d *Dir) wantUnused(ctx context.Context, newest root.Version) error {
	keys, err := d.Store.RootUses(ctx, d.Store.Confirmed())
	if err != nil {
		return fmt.Errorf("root secret: %w", err)
	}
	for version, n := range keys {
		if version < newest.Number {
			return fmt.Errorf("root secret: version %d is needed by %d valid API keys that were not used since the "+
				"rotation: roll or revoke them, or wait until each was used", version, n)
		}
	}
	first, end := seal.Before(newest.Number)
	stored, err := d.Store.StoredBetween(ctx, first, end, d.Store.Confirmed())
	if err != nil {
		return fmt.Errorf("root secret: %w", err)
	}
	if stored > 0 {
		return fmt.Errorf("root secret: %d stored responses need an older version: wait until their idempotency keys expire",
			stored)
	}
	waiting, err := d.Store.UnconfirmedBefore(ctx, newest.From)
	if err != nil {
		return fmt.Errorf("root secret: %w", err)
	}
	if waiting > 0 {
		return fmt.Errorf("root secret: %d transactions from before the rotation wait for their confirmation: "+
			"wait until they expire", waiting)
	}
	return nil
}

// replaceRoots replaces the root secrets in one step, so that a process that dies leaves the old
// ones or the new ones. It holds the lock that excludes other rotations and backups.
func (d *Dir) replaceRoots(ctx context.Context, change func(*root.Set) (*root.Set, error)) (set *root.Set, err error) {
	release, err := d.lockSecrets(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	location, err := d.rootLocation(d.Store)
	if err != nil {
		return nil, err
	}
	was, err := location.Read(ctx)
	if err == nil {
		_, err = d.Roots.Read(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("root secret: %w", err)
	}
	if set, err = change(d.Roots.Set()); err != nil {
		return nil, err
	}
	next, err := set.Bytes()
	if err != nil {
		return nil, err
	}
	if err := location.Replace(ctx, was, next); err != nil {
		return nil, fmt.Errorf("root secret: %w", err)
	}
	_, err = d.Roots.Read(ctx)
	return set, err
}
