package core

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/causeway-pay/causeway/core/internal/acquirer/simulator"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/secret"
)

// packed is what goes along with the rows of a data folder that nobody serves: its secrets, encrypted by the key that the cores will be given, and
// what the simulator remembers.
func packed(ctx context.Context, cfg Config, mv store.Move, kek []byte, oldKEK secret.String) (store.Luggage, error) {
	out := store.Luggage{Secrets: map[string][]byte{}}
	plain, err := os.ReadFile(filepath.Join(cfg.Data, rootFile))
	if err != nil {
		return out, fmt.Errorf("root secret: %w", err)
	}
	if out.Secrets[rootSecret], err = vault.SealSmall(kek, plain, rootSecret); err != nil {
		return out, err
	}
	keyset, err := packedKeyset(ctx, cfg, mv, kek, oldKEK)
	if err != nil {
		return out, err
	}
	if keyset != nil {
		out.Secrets[keysetSecret] = keyset
	}
	entries, err := simulator.Entries(filepath.Join(cfg.Data, journalFile))
	if err != nil {
		return out, err
	}
	for _, e := range entries {
		out.Simulated = append(out.Simulated, store.Simulated(e))
	}
	return out, nil
}

// packedKeyset is the vault's keyset encrypted by kek, whatever it is encrypted by now; nil where there is none, and nothing that needs it.
func packedKeyset(ctx context.Context, cfg Config, mv store.Move, kek []byte, oldKEK secret.String) ([]byte, error) {
	kept, err := os.ReadFile(filepath.Join(cfg.Data, vaultFile))
	if errors.Is(err, fs.ErrNotExist) {
		sealed, err := mv.Sealed(ctx)
		if err == nil && sealed {
			err = lostKeyset(cfg.Data)
		}
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("vault: read keyset: %w", err)
	}
	root, err := auth.ReadRoot(filepath.Join(cfg.Data, rootFile))
	if err != nil {
		return nil, err
	}
	for _, text := range []secret.String{cfg.VaultKEK, oldKEK, {}} { // the last is what derives from the root secret
		candidate, err := kekBytes(text, root)
		if err != nil {
			return nil, err
		}
		if out, err := vault.Reencrypt(kept, candidate, kek); err == nil {
			return out, nil
		}
	}
	return nil, fmt.Errorf("%s opens neither by %s nor by what derives from the root secret: set %s to the key that it is encrypted by",
		filepath.Join(cfg.Data, vaultFile), kekVariable, oldKEKVariable)
}
