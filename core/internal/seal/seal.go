package seal

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/root"
)

// mark is the first byte of everything sealed. No JSON text begins with it. The version of the root
// secret follows, in versionSize bytes.
const (
	mark        = 0x02
	versionSize = 8
)

// ErrBroken means that the sealed bytes were changed, belong to another place, or were sealed under
// a dropped key.
var ErrBroken = errors.New("seal: broken")

// Sealer seals under keys derived from the root secret. It is safe for concurrent use.
type Sealer struct{ roots *root.Ring }

// New returns a Sealer under the keys of a ring.
func New(roots *root.Ring) *Sealer { return &Sealer{roots} }

// aead draws a nonce for each text. Each place has its own key. At the rate of payments, one key
// would soon encrypt more texts than random nonces allow.
func aead(key root.Key, place []byte) cipher.AEAD {
	mac := hmac.New(sha256.New, key.Bytes)
	mac.Write(place)
	block, err := aes.NewCipher(mac.Sum(nil))
	if err == nil {
		var a cipher.AEAD
		if a, err = cipher.NewGCMWithRandomNonce(block); err == nil {
			return a
		}
	}
	panic(fmt.Sprintf("seal: internal error: a derived key is invalid: %v", err))
}

// Seal encrypts plain for the place that context names; only there can it be opened.
func (s *Sealer) Seal(plain, context []byte) []byte {
	key := s.roots.Keys(root.Responses)[0]
	head := beginning(key.Version)
	return aead(key, context).Seal(head, nil, plain, context) //nolint:gosec // no nonce is passed: this AEAD draws its own
}

// beginning returns the bytes before the encrypted text.
func beginning(version int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{mark}, uint64(version)) //nolint:gosec // versions are positive
}

// Before returns the range of everything sealed under a version of the root secret older than this
// one. The range includes first and excludes end.
func Before(version int64) (first, end []byte) { return beginning(0), beginning(version) }

// Sealed reports whether Seal made b.
func Sealed(b []byte) bool { return len(b) > 0 && b[0] == mark }

// Open is the inverse of Seal. Its error is ErrBroken.
func (s *Sealer) Open(ctx context.Context, sealed, place []byte) ([]byte, error) {
	if !Sealed(sealed) || len(sealed) < 1+versionSize {
		return nil, ErrBroken
	}
	version := int64(binary.BigEndian.Uint64(sealed[1:])) //nolint:gosec // one that overflows is of no key
	key, ok := s.key(version)
	if !ok && s.roots.Missed(ctx) {
		key, ok = s.key(version)
	}
	if !ok {
		return nil, ErrBroken
	}
	plain, err := aead(key, place).Open(nil, nil, sealed[1+versionSize:], place)
	if err != nil {
		return nil, ErrBroken
	}
	return plain, nil
}

func (s *Sealer) key(version int64) (root.Key, bool) {
	for _, k := range s.roots.Keys(root.Responses) {
		if k.Version == version {
			return k, true
		}
	}
	return root.Key{}, false
}
