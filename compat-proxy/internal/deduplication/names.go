package deduplication

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/secret"
)

// minSecret is the shortest deduplication secret, in bytes. 32 random bytes in base64 have 44.
const minSecret = 32

// The errors of deduplication secrets.
var (
	errNoSecret = errors.New("deduplication_secret: missing; " +
		"give every proxy the same 32 random bytes, made by `openssl rand -base64 32`")
	errShort = errors.New("deduplication_secret: shorter than 32 characters; make one by `openssl rand -base64 32`")
	errOther = errors.New("deduplication_secret_other: want at least 32 characters that differ from deduplication_secret")
)

// checkSecrets rejects secrets with which names could be guessed.
func checkSecrets(current, other secret.String) error {
	switch {
	case current.IsZero():
		return errNoSecret
	case len(current.Reveal()) < minSecret:
		return errShort
	case !other.IsZero() && (len(other.Reveal()) < minSecret || other.Reveal() == current.Reveal()):
		return errOther
	}
	return nil
}

// SecretFingerprint returns "fp" and 16 hexadecimal digits, the same at all proxies with the same
// deduplication secret. They reveal nothing of it. Without the letters, 16 decimal digits could
// pass for a card number, which v1 rejects in the purpose of a reservation.
func SecretFingerprint(s secret.String) string {
	mac := hmac.New(sha256.New, []byte(s.Reveal()))
	mac.Write([]byte("fingerprint"))
	return "fp" + hex.EncodeToString(mac.Sum(nil)[:8])
}

// Tenant is the merchant and the mode of an API key. A key that replaces it has the same.
type Tenant struct{ Merchant, Mode string }

// Names derives the names under which v1 stores requests: Idempotency-Keys and digests. One secret
// and tenant give the same names at every proxy and under every API key of the tenant.
type Names struct {
	secret secret.String
	tenant Tenant
}

// Derive returns a short name for all parts that make requests equal. Card numbers are among the
// parts: without the secret the name confirms no guess of one.
func (n Names) Derive(parts ...[]string) string {
	text := appendList(make([]byte, 0, 512), []string{"name", n.tenant.Merchant, n.tenant.Mode})
	for _, list := range parts {
		text = appendList(text, list)
	}
	mac := hmac.New(sha256.New, []byte(n.secret.Reveal()))
	mac.Write(text) // in one call: for a hash, each small write costs more than its bytes
	return base64.RawURLEncoding.EncodeToString(mac.Sum(text[:0]))
}

// appendList appends the length of each part before the part, so that no two lists give the same
// bytes.
func appendList(text []byte, list []string) []byte {
	for _, part := range list {
		text = binary.BigEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	return text
}

// movedPurpose is the purpose of a reservation that keeps a request from running under a name of
// the secret that was not chosen for it.
const movedPurpose = "other secret"

// ChooseNames returns the names for a request; first returns the first key of the request under
// given names. Without another secret it calls nothing. With one, it reserves the first key of the
// secret that is not chosen, so that no proxy can run the request under that secret. If the key is
// in use, the request already ran under the other secret, and ChooseNames returns that secret's
// names.
func (s Request) ChooseNames(ctx context.Context, first func(Names) string) (Names, *command.Result) {
	names, others, failed := s.agreeNames(ctx, first)
	if failed != nil || others == nil {
		return names, failed
	}
	held, failed := s.Reserve(ctx, first(*others), movedPurpose)
	switch {
	case failed != nil:
		return Names{}, failed
	case !held:
		return *others, nil
	}
	return names, nil
}

// agreeNames returns the names that all proxies with these two secrets use for a request, and the
// others, nil without another secret. The first proxy reserves its current secret at v1, under a
// key that depends on the pair of secrets and not on which is current. The others follow it.
func (s Request) agreeNames(
	ctx context.Context, first func(Names) string,
) (names Names, others *Names, _ *command.Result) {
	if s.otherNames == nil {
		return s.names, nil, nil
	}
	own, other := SecretFingerprint(s.names.secret), SecretFingerprint(s.otherNames.secret)
	lower := s.names
	if other < own {
		lower = *s.otherNames
	}
	held, failed := s.Reserve(ctx, "secret-"+lower.Derive([]string{"secret", first(lower)}), own)
	switch {
	case failed != nil:
		return Names{}, nil, failed
	case held:
		return s.names, s.otherNames, nil
	}
	return *s.otherNames, &s.names, nil
}

// AllNames returns the current names, then the names of the other secret.
func (s Request) AllNames() []Names {
	if s.otherNames == nil {
		return []Names{s.names}
	}
	return []Names{s.names, *s.otherNames}
}
