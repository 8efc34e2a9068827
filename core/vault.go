package core

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	// vaultFile holds the keys that card data is encrypted by, encrypted by the key-encryption key.
	vaultFile = "vault.keyset"
	// vaultLock keeps two rotations from running at once.
	vaultLock = "vault.lock"
	// sweepEvery is how often expired tokens are wiped and removed while the service runs.
	sweepEvery = time.Minute
)

// The variables that hold key-encryption keys: that of the vault, and the one it had before. With _FILE behind them they name a file instead.
const (
	kekVariable    = "CAUSEWAY_VAULT_KEK"
	oldKEKVariable = "CAUSEWAY_VAULT_OLD_KEK"
)

// VaultKEK reads the key-encryption key that the environment names: CAUSEWAY_VAULT_KEK, or the file that CAUSEWAY_VAULT_KEK_FILE names.
// The zero secret when it names none.
func VaultKEK(getenv func(string) string) (secret.String, error) {
	return config.Environment(getenv, kekVariable)
}

// OldVaultKEK reads the key-encryption key that the vault had before, from CAUSEWAY_VAULT_OLD_KEK or CAUSEWAY_VAULT_OLD_KEK_FILE. The zero
// secret when the environment names none.
func OldVaultKEK(getenv func(string) string) (secret.String, error) {
	return config.Environment(getenv, oldKEKVariable)
}

// openVault opens the vault of a data folder. Without a key-encryption key of its own the vault's lies beside what it protects, in the
// root secret: whoever has the folder has all. That is for development. Where there are no keys it makes some, unless something needs the
// ones that are gone.
func (a *Admin) openVault(ctx context.Context, cfg Config) (*vault.Vault, error) {
	kek, err := kekBytes(cfg.VaultKEK, a.roots)
	if err != nil {
		return nil, err
	}
	if cfg.Database != nil {
		return vault.Load(sharedKeyset{a.db}, kek)
	}
	if err := wantKeyset(ctx, cfg.Data, a.db); err != nil {
		return nil, err
	}
	return vault.Load(vault.File(filepath.Join(cfg.Data, vaultFile)), kek)
}

func kekBytes(text secret.String, roots *root.Ring) ([]byte, error) {
	if text.IsZero() {
		return roots.Lasting(root.VaultKEK), nil
	}
	kek, err := base64.StdEncoding.DecodeString(text.Reveal())
	if err != nil || len(kek) != vault.KEKSize {
		return nil, errors.New("the vault's key-encryption key is not 32 bytes in base64") // the cause would quote it
	}
	return kek, nil
}

// lockVault keeps every other rotation away.
func (a *Admin) lockVault(ctx context.Context) (release func() error, err error) {
	if a.cfg.Database != nil {
		release, err := a.db.Hold(ctx, vaultLock)
		return release, held(err)
	}
	lock, err := lockOnly(filepath.Join(a.cfg.Data, vaultLock), "another rotation or a backup runs on this data folder")
	if err != nil {
		return nil, err
	}
	return lock.Close, nil
}

// RewrapVault is Admin.RewrapVault for whoever has not opened the store: on a database, what opening needs is encrypted by the old key.
func RewrapVault(ctx context.Context, cfg Config, old secret.String) (err error) {
	cfg = cfg.withDefaults()
	a, err := OpenAdmin(ctx, cfg)
	if err != nil && cfg.Database != nil && !old.IsZero() { // not rewrapped yet
		before := cfg
		before.VaultKEK = old
		a, err = OpenAdmin(ctx, before)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if cfg.Database == nil {
		return a.RewrapVault(ctx, old)
	}
	return a.actOutside(ctx, "vault.rewrap", "", func() error { return rewrapShared(ctx, cfg, old) })
}

// RewrapVault encrypts the vault's keys by Config.VaultKEK, which until now were encrypted by another key-encryption key; the zero old is
// the one that is derived from the root secret. Card data is not touched. Done already, it does nothing.
func (a *Admin) RewrapVault(ctx context.Context, old secret.String) error {
	return a.actOutside(ctx, "vault.rewrap", "", func() error { return a.rewrapVault(ctx, old) })
}

func (a *Admin) rewrapVault(ctx context.Context, old secret.String) (err error) {
	lock, err := lockOnly(filepath.Join(a.cfg.Data, vaultLock), "a rotation or a backup runs on this data folder")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if _, err := a.openVault(ctx, a.cfg); err == nil {
		return nil
	}
	v, err := a.openVault(ctx, Config{Data: a.cfg.Data, VaultKEK: old})
	if err != nil {
		return err
	}
	kek, err := kekBytes(a.cfg.VaultKEK, a.roots)
	if err != nil {
		return err
	}
	return v.Rewrap(kek)
}

// RotateVault encrypts all card data anew by a fresh key, and with drop removes the old keys then; what an earlier rotation left
// unfinished is finished first. It tells its progress in lines. It works beside a running service, and one that was killed is run again.
func (a *Admin) RotateVault(ctx context.Context, drop bool, progress io.Writer) error {
	action := "vault.rotate"
	if drop {
		action = "vault.rotate_and_drop"
	}
	return a.actOutside(ctx, action, "", func() error { return a.rotateVault(ctx, drop, progress) })
}

func (a *Admin) rotateVault(ctx context.Context, drop bool, progress io.Writer) (err error) {
	release, err := a.lockVault(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	v, err := a.openVault(ctx, a.cfg)
	if err != nil {
		return err
	}
	tell := func(format string, args ...any) { _, _ = fmt.Fprintf(progress, format+"\n", args...) } // nobody is left to tell
	r := vault.Rotation{
		Vault: v, Store: a.db, Drop: drop,
		Progress: func(done, total int) { tell("encrypted anew: %d of %d", done, total) },
		Complain: func(object string, err error) { tell("%s cannot be encrypted anew: %v", object, err) },
	}
	if err := r.Run(ctx); err != nil {
		return err
	}
	tell("everything is encrypted by key %d; %d older keys are kept", v.Primary(), len(v.Older()))
	return nil
}

// keepSweeping wipes and removes tokens that have expired, and destroys the keys of their security
// codes.
func keepSweeping(ctx context.Context, eng *engine.Engine, cfg Config) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if eng.Peers.Leads() {
			if err := errors.Join(eng.DestroyCodeKeys(ctx), eng.SweepTokens(ctx)); err != nil && ctx.Err() == nil {
				cfg.Log.ErrorContext(ctx, "sweep failed", slog.Any("error", err))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
