package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/seal"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// keepRoots reads the root secrets again from time to time: another process rotates them.
func keepRoots(ctx context.Context, roots *root.Ring, cfg Config) {
	tick := time.NewTicker(root.ReadEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := roots.Read(ctx); err != nil && ctx.Err() == nil {
			cfg.Log.ErrorContext(ctx, "root secret not read", slog.Any("error", err))
		}
	}
}

// RotateRoot adds a version of the root secret. Running cores read it within root.ReadEvery and use
// it after root.Activation. Older versions stay valid until DropOldRoots. It is refused while the
// clock is ahead of the confirmed time: a version of a wrong clock keeps the next one away until
// that time comes.
func (a *Admin) RotateRoot(ctx context.Context, progress io.Writer) error {
	set, err := a.changeRoots(ctx, "secrets.rotate", func(s *root.Set) (*root.Set, error) {
		if err := a.wantConfirmed(); err != nil {
			return nil, err
		}
		return s.Rotated(a.cfg.Clock.Now())
	})
	if err != nil {
		return err
	}
	newest := set.Newest()
	_, err = fmt.Fprintf(progress, "version %d is in use from %s; %d versions are kept\n", newest.Number, newest.From.Format(time.RFC3339),
		len(set.Versions()))
	return err
}

// DropOldRoots removes all versions of the root secret but the newest, for ever. It is refused
// while stored responses, valid API keys or transactions that wait for their confirmation need an
// older one, and while the clock is ahead of the confirmed time.
func (a *Admin) DropOldRoots(ctx context.Context, progress io.Writer) error {
	set, err := a.changeRoots(ctx, "secrets.drop_old", func(s *root.Set) (*root.Set, error) {
		if err := a.wantConfirmed(); err != nil {
			return nil, err
		}
		next, err := s.Dropped(a.db.Confirmed())
		if err != nil {
			return nil, err
		}
		return next, a.wantUnused(ctx, s.Newest())
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(progress, "version %d is the only one\n", set.Newest().Number)
	return err
}

// wantConfirmed returns an error while the clock is ahead of the confirmed time, as
// store.DB.ClockAhead defines it: by the clock nothing could be needed any more that still is.
func (a *Admin) wantConfirmed() error {
	ahead := a.db.ClockAhead()
	if ahead == 0 {
		return nil
	}
	return fmt.Errorf("root secret: the clock is %s ahead of the confirmed time %s: set it right, or if it is right, try again once core "+
		"has served for an hour", ahead.Round(time.Second), a.db.Confirmed().UTC().Format(time.RFC3339))
}

// wantUnused returns an error if anything needs a version of the root secret older than newest.
func (a *Admin) wantUnused(ctx context.Context, newest root.Version) error {
	uses, err := a.db.RootUses(ctx, a.db.Confirmed())
	if err != nil {
		return fmt.Errorf("root secret: %w", err)
	}
	for _, u := range uses {
		if u.Version < newest.Number {
			return fmt.Errorf("root secret: version %d is needed by %d valid API keys that were not used since the rotation: roll or revoke "+
				"them, or wait until each was used", u.Version, u.Keys)
		}
	}
	first, end := seal.Before(newest.Number)
	stored, err := a.db.StoredBetween(ctx, first, end, a.db.Confirmed())
	if err != nil {
		return fmt.Errorf("root secret: %w", err)
	}
	if stored > 0 {
		return fmt.Errorf("root secret: %d stored responses need an older version: wait until their idempotency keys expire", stored)
	}
	waiting, err := a.db.UnconfirmedBefore(ctx, newest.From)
	if err != nil {
		return fmt.Errorf("root secret: %w", err)
	}
	if waiting > 0 {
		return fmt.Errorf("root secret: %d transactions from before the rotation wait for their confirmation: wait until they expire", waiting)
	}
	return nil
}

// changeRoots replaces the root secrets as an audited action. They are replaced in one step, so
// that a process that dies leaves the old ones or the new ones.
func (a *Admin) changeRoots(ctx context.Context, action string, change func(*root.Set) (*root.Set, error)) (set *root.Set, err error) {
	err = a.actOutside(ctx, action, "", func() error { set, err = a.replaceRoots(ctx, change); return err })
	return set, err
}

// replaceRoots holds the lock of the vault, which keeps other rotations and backups away.
func (a *Admin) replaceRoots(ctx context.Context, change func(*root.Set) (*root.Set, error)) (set *root.Set, err error) {
	release, err := a.lockVault(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if a.cfg.Database != nil {
		return a.changeSharedRoots(ctx, change)
	}
	if _, err := a.roots.Read(ctx); err != nil {
		return nil, err
	}
	set, err = change(a.roots.Set())
	if err != nil {
		return nil, err
	}
	next, err := set.Bytes()
	if err != nil {
		return nil, err
	}
	if err := root.File(filepath.Join(a.cfg.Data, rootFile)).Replace(next); err != nil {
		return nil, err
	}
	_, err = a.roots.Read(ctx)
	return set, err
}

func (a *Admin) changeSharedRoots(ctx context.Context, change func(*root.Set) (*root.Set, error)) (*root.Set, error) {
	kek, err := a.cfg.sharedKEK()
	if err != nil {
		return nil, err
	}
	place := sharedRoots{a.db, kek}
	was, err := a.db.Secret(ctx, rootSecret)
	if err == nil {
		_, err = a.roots.Read(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("root secret: %w", err)
	}
	set, err := change(a.roots.Set())
	if err != nil {
		return nil, err
	}
	next, err := set.Bytes()
	if err != nil {
		return nil, err
	}
	if err := a.db.Update(ctx, func(tx *store.Tx) error { return place.replace(tx, was, next) }); err != nil {
		return nil, fmt.Errorf("root secret: %w", err)
	}
	_, err = a.roots.Read(ctx)
	return set, err
}
