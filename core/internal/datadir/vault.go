package datadir

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Vault opens the card vault. It creates the vault's keys if there are none, unless sealed rows
// need keys that are lost. A key-encryption key from the root secret is for development only: it is
// in the same folder as the data that it protects.
func (d *Dir) Vault(ctx context.Context) (*vault.Vault, error) { return d.vaultBy(ctx, d.VaultKEK) }

func (d *Dir) vaultBy(ctx context.Context, text secret.String) (*vault.Vault, error) {
	kek, err := kekBytes(text, d.Roots)
	if err != nil {
		return nil, err
	}
	location := d.keysetLocation()
	if err := d.wantKept(ctx, location, d.Store.HoldsSealed, KeysetFile, noCards); err != nil {
		return nil, err
	}
	v, err := vault.Load(ctx, location, kek)
	if errors.Is(err, vault.ErrKEK) {
		return nil, fmt.Errorf("%w: %s", err, remedy(text))
	}
	return v, err
}

// remedy returns the remedy for a keyset that the key-encryption key does not decrypt.
func remedy(kek secret.String) string {
	if kek.IsZero() {
		return "set " + KEKVariable + " or " + KEKVariable + "_FILE, or restore the file"
	}
	return KEKVariable + " is not the key that encrypted it. Set the right one, or restore the file. " +
		"If it was made without the variable, run `core vault rewrap`"
}

// CommandVault opens the card vault for a command. A command may lack the key-encryption key that
// core has. So it makes no keys of the vault by a key that is derived from the root secret.
func (d *Dir) CommandVault(ctx context.Context) (*vault.Vault, error) {
	if d.VaultKEK.IsZero() && d.Database == nil {
		location := d.keysetLocation()
		if err := d.wantKept(ctx, location, d.Store.HoldsSealed, KeysetFile, noCards); err != nil {
			return nil, err
		}
		if _, err := location.Read(ctx); errors.Is(err, fs.ErrNotExist) {
			return nil, errNoKeyset
		}
	}
	return d.Vault(ctx)
}

var errNoKeyset = errors.New("the card vault has no keys yet: set " + KEKVariable + " or " + KEKVariable +
	"_FILE as for core serve. For development without it, start core serve once")

// kekBytes decodes a key-encryption key. It derives the key from roots if text is zero.
func kekBytes(text secret.String, roots *root.Ring) ([]byte, error) {
	if text.IsZero() {
		return roots.Lasting(root.VaultKEK), nil
	}
	kek, err := base64.StdEncoding.DecodeString(text.Reveal()) // its error would quote the key
	if err != nil || len(kek) != vault.KEKSize {
		return nil, errors.New("the vault's key-encryption key is not 32 bytes in base64. If the store has data, " +
			"restore the key: no other one opens its cards. " +
			"Only for a new store, make one with `openssl rand -base64 32`")
	}
	return kek, nil
}

// RewrapVault encrypts the keys of the vault, and the root secret in a Database, by kek instead of
// old. The zero old is the key that is derived from the root secret of the folder. It does nothing
// if they are encrypted by kek already. It does not change card data.
func (d *Dir) RewrapVault(ctx context.Context, kek, old secret.String) (err error) {
	if d.Database != nil {
		return d.rewrapShared(ctx, kek, old)
	}
	release, err := d.lockSecrets(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if _, err := d.vaultBy(ctx, kek); err == nil {
		return nil
	}
	v, err := d.vaultBy(ctx, old)
	if err != nil {
		return err
	}
	next, err := kekBytes(kek, d.Roots)
	if err != nil {
		return err
	}
	return v.Rewrap(next)
}

// RotateVault encrypts all card data by a fresh key. With drop, it then removes the old keys. It
// first finishes an earlier rotation that was interrupted. It writes its progress as lines of text.
// A core may serve the same store meanwhile.
func (d *Dir) RotateVault(ctx context.Context, drop bool, progress io.Writer) (err error) {
	release, err := d.lockSecrets(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	v, err := d.CommandVault(ctx)
	if err != nil {
		return err
	}
	report := func(format string, args ...any) {
		_, _ = fmt.Fprintf(progress, format+"\n", args...) // an unread report stops no rotation
	}
	r := vault.Rotation{
		Vault: v, Store: d.Store, Drop: drop,
		Progress: func(done, total int) { report("re-encrypted: %d of %d", done, total) },
		Complain: func(object string, err error) { report("%s cannot be re-encrypted: %v", object, err) },
	}
	if err := r.Run(ctx); err != nil {
		return err
	}
	report("everything is encrypted by key %d; %d older keys are kept", v.Primary(), len(v.Older()))
	return nil
}
