package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/causeway-pay/causeway/core/internal/datadir"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Inventory lists the secrets that core holds, as datadir.Dir does.
func (a *Admin) Inventory(ctx context.Context, getenv func(string) string) ([]datadir.Secret, error) {
	return a.dir.Inventory(ctx, getenv)
}

// RotateRoot adds a version of the root secret, as datadir.Dir does.
func (a *Admin) RotateRoot(ctx context.Context, progress io.Writer) error {
	set, err := a.changeRoots(ctx, "secrets.rotate", a.dir.RotateRoot)
	if err != nil {
		return err
	}
	newest := set.Newest()
	_, err = fmt.Fprintf(progress, "version %d is in use from %s; %d versions are kept\n", newest.Number,
		newest.From.Format(time.RFC3339), len(set.Versions()))
	return err
}

// DropOldRoots removes all versions of the root secret but the newest, as datadir.Dir does.
func (a *Admin) DropOldRoots(ctx context.Context, progress io.Writer) error {
	set, err := a.changeRoots(ctx, "secrets.drop_old", a.dir.DropOldRoots)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(progress, "version %d is the only one\n", set.Newest().Number)
	return err
}

func (a *Admin) changeRoots(
	ctx context.Context, action string, change func(context.Context) (*root.Set, error),
) (set *root.Set, err error) {
	err = a.actOutside(ctx, action, "", func() error { set, err = change(ctx); return err })
	return set, err
}

// RotateVault encrypts all card data by a fresh key, as datadir.Dir does.
func (a *Admin) RotateVault(ctx context.Context, drop bool, progress io.Writer) error {
	action := "vault.rotate"
	if drop {
		action = "vault.rotate_and_drop"
	}
	return a.actOutside(ctx, action, "", func() error { return a.dir.RotateVault(ctx, drop, progress) })
}

// RewrapVault encrypts the vault's keys by the key of cfg instead of old, as datadir.Dir does. It
// opens the store itself: before the rewrap, only the old key opens a database.
func RewrapVault(ctx context.Context, cfg datadir.Config, old secret.String) (err error) {
	a, err := Open(ctx, cfg)
	if err != nil && cfg.Database != nil && !old.IsZero() {
		before := cfg
		before.VaultKEK = old
		a, err = Open(ctx, before)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	rewrap := func() error { return a.dir.RewrapVault(ctx, cfg.VaultKEK, old) }
	return a.actOutside(ctx, "vault.rewrap", "", rewrap)
}
