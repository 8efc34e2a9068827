package keyring

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

// KEKSize is the length of the key-encryption key in bytes.
const KEKSize = 32

// binding is the associated data of the encrypted keyset: nothing else that this key-encryption key encrypts passes for one.
var binding = []byte("causeway/mle.keyset")

// errSealed: the private key does not open.
var errSealed = errors.New("keyring: a private key does not open: another keyset, or a row that was changed or moved")

// sealer encrypts private keys under the keyset, which lies in the store, encrypted by the key-encryption key.
type sealer struct{ aead tink.AEAD }

// openSealer reads the keyset, or makes it when there is none.
func openSealer(ctx context.Context, db *keystore.DB, kek []byte, existing bool) (*sealer, error) {
	wrap, err := wrapping(kek)
	if err != nil {
		return nil, err
	}
	stored, err := db.Keyset(ctx)
	if errors.Is(err, keystore.ErrNotFound) {
		if existing {
			return nil, keystore.ErrNoStore
		}
		if err = makeKeyset(ctx, db, wrap); err == nil || errors.Is(err, keystore.ErrConflict) {
			stored, err = db.Keyset(ctx) // what another filter has made first is what counts
		}
	}
	if err != nil {
		return nil, err
	}
	h, err := readKeyset(stored, wrap)
	if err != nil {
		return nil, err
	}
	a, err := aead.New(h)
	if err != nil {
		return nil, fmt.Errorf("keyring: keyset: %w", err)
	}
	return &sealer{a}, nil
}

func wrapping(kek []byte) (tink.AEAD, error) {
	if len(kek) != KEKSize {
		return nil, fmt.Errorf("keyring: the key-encryption key has %d bytes, want %d", len(kek), KEKSize)
	}
	wrap, err := subtle.NewAESGCM(kek)
	if err != nil {
		return nil, fmt.Errorf("keyring: key-encryption key: %w", err)
	}
	return wrap, nil
}

func makeKeyset(ctx context.Context, db *keystore.DB, wrap tink.AEAD) error {
	h, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return fmt.Errorf("keyring: new keyset: %w", err)
	}
	sealed, err := writeKeyset(h, wrap)
	if err != nil {
		return err
	}
	return db.Update(ctx, func(tx *keystore.Tx) error { return tx.MakeKeyset(sealed) })
}

func readKeyset(sealed []byte, wrap tink.AEAD) (*keyset.Handle, error) {
	h, err := keyset.ReadWithAssociatedData(keyset.NewBinaryReader(bytes.NewReader(sealed)), wrap, binding)
	if err != nil {
		return nil, errors.New("keyring: the keyset does not open: another key-encryption key, or a damaged store")
	}
	return h, nil
}

func writeKeyset(h *keyset.Handle, wrap tink.AEAD) ([]byte, error) {
	var out bytes.Buffer
	if err := h.WriteWithAssociatedData(keyset.NewBinaryWriter(&out), wrap, binding); err != nil {
		return nil, fmt.Errorf("keyring: encrypt keyset: %w", err)
	}
	return out.Bytes(), nil
}

// Rewrap encrypts the keyset by another key-encryption key. Filters that run go on; at their next start they need the new one. Done
// already, it does nothing.
func Rewrap(ctx context.Context, db *keystore.DB, old, kek []byte) error {
	from, err := wrapping(old)
	if err != nil {
		return err
	}
	to, err := wrapping(kek)
	if err != nil {
		return err
	}
	stored, err := db.Keyset(ctx)
	if err != nil {
		return err
	}
	if _, err := readKeyset(stored, to); err == nil {
		return nil
	}
	h, err := readKeyset(stored, from)
	if err != nil {
		return err
	}
	sealed, err := writeKeyset(h, to)
	if err != nil {
		return err
	}
	return db.Update(ctx, func(tx *keystore.Tx) error { return tx.ReplaceKeyset(stored, sealed) })
}

// place is the associated data of a private key: it opens as the key of this tenant, with this id and for this algorithm, and as nothing
// else. None of its parts contains the separator. A spare key's tenant is "".
func place(tenant, kid string, alg engine.Alg) []byte {
	return []byte(tenant + "|" + kid + "|" + string(alg))
}

func (s *sealer) seal(der []byte, tenant, kid string, alg engine.Alg) ([]byte, error) {
	sealed, err := s.aead.Encrypt(der, place(tenant, kid, alg))
	if err != nil {
		return nil, fmt.Errorf("keyring: seal %s: %w", kid, err)
	}
	return sealed, nil
}

func (s *sealer) open(k *keystore.Key) ([]byte, error) {
	der, err := s.aead.Decrypt(k.Sealed, place(k.Tenant, k.Kid, engine.Alg(k.Alg)))
	if err != nil {
		return nil, fmt.Errorf("%w: %s", errSealed, k.Kid)
	}
	return der, nil
}
