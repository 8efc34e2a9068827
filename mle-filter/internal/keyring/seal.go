package keyring

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
)

// KEKSize is the length of the key-encryption key in bytes.
const KEKSize = 32

// binding is the associated data of the encrypted keyset. Other ciphertexts of the key-encryption
// key do not open as a keyset.
var binding = []byte("causeway/mle.keyset")

// errSealed reports that a private key does not open.
var errSealed = errors.New("keyring: a private key cannot be decrypted, because the keyset or its row changed: " +
	"restore the store")

// errMoved reports that the stored keyset has changed, and that this filter lacks its
// key-encryption key.
var errMoved = errors.New(
	"keyring: the keyset has changed under another key-encryption key: restart this filter with that key",
)

// sealer encrypts private keys by the keyset, which the store holds encrypted by the key-encryption
// key. It adopts changes of the keyset at each write that needs it, and whenever keys are read.
type sealer struct {
	wraps []tink.AEAD // of the key-encryption key, which encrypts, and of the previous one, if configured
	last  atomic.Pointer[openKeyset]
}

// openKeyset is a decrypted keyset.
type openKeyset struct {
	generation int64
	handle     *keyset.Handle
	aead       tink.AEAD
	hmacKey    []byte
}

// openSealer reads the keyset. If there is none, it makes one, or returns keystore.ErrNoStore if
// existing is true. keks are the key-encryption key and, during its rotation, the previous one.
func openSealer(ctx context.Context, db *keystore.DB, existing bool, keks ...[]byte) (*sealer, error) {
	s := &sealer{}
	for _, kek := range keks {
		wrap, err := wrapping(kek)
		if err != nil {
			return nil, err
		}
		s.wraps = append(s.wraps, wrap)
	}
	stored, err := db.Keyset(ctx)
	if errors.Is(err, keystore.ErrNotFound) {
		if existing {
			return nil, keystore.ErrNoStore
		}
		if err = makeKeyset(ctx, db, s.wraps[0]); err == nil || errors.Is(err, keystore.ErrConflict) {
			stored, err = db.Keyset(ctx) // if two filters make one, the first one is used
		}
	}
	if err != nil {
		return nil, err
	}
	o, err := s.read(stored)
	if err != nil {
		return nil, err
	}
	s.last.Store(o)
	return s, nil
}

// read opens a stored keyset by one of the key-encryption keys.
func (s *sealer) read(stored keystore.Keyset) (o *openKeyset, err error) {
	for _, wrap := range s.wraps {
		if o, err = readBy(stored, wrap); err == nil {
			return o, nil
		}
	}
	return nil, err
}

func readBy(stored keystore.Keyset, wrap tink.AEAD) (*openKeyset, error) {
	h, err := readKeyset(stored.Sealed, wrap)
	if err != nil {
		return nil, err
	}
	a, err := aead.New(h)
	if err != nil {
		return nil, fmt.Errorf("keyring: keyset: %w", err)
	}
	hmacKey, err := openHMACKey(stored.HMACKey, wrap)
	if err != nil {
		return nil, err
	}
	return &openKeyset{stored.Generation, h, a, hmacKey}, nil
}

// follow returns the stored keyset. It decrypts it only if its keys have changed. After a rewrap
// alone they are the same, so a filter without the new key-encryption key can continue.
func (s *sealer) follow(stored keystore.Keyset, err error) (*openKeyset, error) {
	if err != nil {
		return nil, err
	}
	if o := s.last.Load(); o.generation == stored.Generation {
		return o, nil
	}
	o, err := s.read(stored)
	if err != nil {
		return nil, errMoved
	}
	s.last.Store(o)
	return o, nil
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

// associatedData binds an encrypted private key to its tenant, id and algorithm.
// No part contains the separator. The tenant of a spare key is "".
func associatedData(tenant, kid string, alg engine.Alg) []byte {
	return []byte(tenant + "|" + kid + "|" + string(alg))
}

func (o *openKeyset) seal(der []byte, tenant, kid string, alg engine.Alg) ([]byte, error) {
	sealed, err := o.aead.Encrypt(der, associatedData(tenant, kid, alg))
	if err != nil {
		return nil, fmt.Errorf("keyring: seal %s: %w", kid, err)
	}
	return sealed, nil
}

func (o *openKeyset) open(k *keystore.Key) ([]byte, error) {
	der, err := o.aead.Decrypt(k.Sealed, associatedData(k.Tenant, k.Kid, engine.Alg(k.Alg)))
	if err != nil {
		return nil, fmt.Errorf("%w: %s", errSealed, k.Kid)
	}
	return der, nil
}
