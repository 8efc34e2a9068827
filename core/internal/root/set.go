package root

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
)

// size is the length of each secret and derived key in bytes.
const size = 32

// Purpose is the use of a key derived from a version. Purposes never share a key.
type Purpose string

// The purposes of derived keys, which a rotation changes.
const (
	APIKeys       Purpose = "api-key"
	Responses     Purpose = "stored-response"
	ClientSecrets Purpose = "client-secret"
)

// Lasting is the use of a key that no rotation changes, because its values must stay equal.
type Lasting string

// The lasting keys. Each is a separate random secret.
const (
	CardFingerprints Lasting = "card-fingerprint"
	Requests         Lasting = "request-fingerprint" // and names of idempotency keys
	WebhookSecrets   Lasting = "webhook-secret"
	AuditRecords     Lasting = "audit-record"
	OperatorTokens   Lasting = "operator-token"
	VaultKEK         Lasting = "vault-kek" // without a key-encryption key of the operator's
)

// Lastings lists the lasting keys.
func Lastings() []Lasting {
	return []Lasting{CardFingerprints, Requests, WebhookSecrets, AuditRecords, OperatorTokens, VaultKEK}
}

// Use returns the purpose of a lasting key.
func (l Lasting) Use() string {
	return map[Lasting]string{
		CardFingerprints: "recognizes a card number within a merchant",
		Requests:         "recognizes repeated requests by their Idempotency-Key",
		WebhookSecrets:   "derives the signing secrets of webhook endpoints",
		AuditRecords:     "signs the audit records of operators' actions",
		OperatorTokens:   "hashes operator tokens together with their roles and ends",
		VaultKEK:         "encrypts the card vault's keys unless a key-encryption key is set",
	}[l]
}

// Lasts returns the reason why a lasting key never changes.
func (l Lasting) Lasts() string {
	return map[Lasting]string{
		CardFingerprints: "merchants store fingerprints, and a card must keep its fingerprint",
		Requests:         "a retry across the change would act twice",
		WebhookSecrets:   "merchants hold the secrets; each merchant rolls its secrets by the API",
		AuditRecords:     "older records could not be verified any more",
		OperatorTokens:   "all tokens would end; replace each by core operators create and revoke",
		VaultKEK:         "replace it by a key-encryption key of yours, with core vault rewrap",
	}[l]
}

// Algorithm names the algorithm of a lasting key.
func (l Lasting) Algorithm() string {
	if l == VaultKEK {
		return "AES-256-GCM"
	}
	return "HMAC-SHA-256"
}

func purposes() []Purpose { return []Purpose{APIKeys, Responses, ClientSecrets} }

// Activation is the time from the creation of a version to its use for new values. By then each
// core has read it, because cores read the set every ReadEvery.
const Activation = time.Minute

// Overlap is how long a version is still needed after the next one is active. Responses and client
// secrets made under it are stored for 24 h.
const Overlap = 24 * time.Hour

// The reasons to refuse a rotation or a drop.
var (
	// ErrPending: the newest version is not active yet.
	ErrPending = errors.New("root secret: the newest version is not in use yet")
	// ErrNothingOlder: there is one version only.
	ErrNothingOlder = errors.New("root secret: there is no older version to drop")
	// ErrOverlap: the newest version has been active for less than Overlap.
	ErrOverlap = errors.New("root secret: stored responses still need the older version: wait")
)

// Version is one version of the root secret.
type Version struct {
	Number int64     `json:"number"` // counts up from 1
	From   time.Time `json:"from"`   // when new values began to use it
	Secret []byte    `json:"secret"`
}

// String keeps the secret out of logs.
func (v Version) String() string { return fmt.Sprintf("root secret %d", v.Number) }

// GoString keeps the secret out of logs.
func (v Version) GoString() string { return v.String() }

// Key is a key derived from a version.
type Key struct {
	Version int64
	Bytes   []byte
}

// Set is one reading of the root secrets. It does not change.
type Set struct {
	versions []Version // oldest first, one at least
	lasting  map[Lasting][]byte
	made     time.Time
	keys     map[Purpose][]Key // of versions, newest first
}

// document is the stored form of a set.
type document struct {
	Format   int                `json:"format"`
	Made     time.Time          `json:"made"`
	Versions []Version          `json:"versions"`
	Lasting  map[Lasting][]byte `json:"lasting"`
}

// format counts up when the stored form changes.
const format = 1

// New makes a set with one version, in use from now on.
func New(now time.Time) (*Set, error) {
	d := document{Format: format, Made: stamp(now), Lasting: map[Lasting][]byte{}}
	for _, l := range Lastings() {
		d.Lasting[l] = random()
	}
	d.Versions = []Version{{Number: 1, From: d.Made, Secret: random()}}
	return newSet(d)
}

// random never fails: crypto/rand ends the program first.
func random() []byte {
	b := make([]byte, size)
	_, _ = rand.Read(b)
	return b
}

func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Parse reads a stored set. location is where it was stored. Its error does not quote it.
func Parse(location string, b []byte) (*Set, error) {
	var d document
	if err := json.Unmarshal(b, &d, json.RejectUnknownMembers(true)); err != nil || d.Format != format {
		return nil, fmt.Errorf("root secret %s: not in format %d, or damaged: restore it from a backup", location, format)
	}
	s, err := newSet(d)
	if err != nil {
		return nil, fmt.Errorf("root secret %s: %w: restore it from a backup", location, err)
	}
	return s, nil
}

func newSet(d document) (*Set, error) {
	s := &Set{versions: d.Versions, lasting: d.Lasting, made: d.Made, keys: map[Purpose][]Key{}}
	if len(d.Versions) == 0 {
		return nil, errors.New("no version")
	}
	for i, v := range d.Versions {
		if len(v.Secret) != size || v.Number < 1 || i > 0 && v.Number <= d.Versions[i-1].Number {
			return nil, fmt.Errorf("version %d is damaged", v.Number)
		}
	}
	for _, l := range Lastings() {
		if len(s.lasting[l]) != size {
			return nil, fmt.Errorf("the %s key is damaged", l)
		}
	}
	for _, p := range purposes() {
		for _, v := range slices.Backward(s.versions) {
			k, err := hkdf.Key(sha256.New, v.Secret, nil, "causeway/"+string(p), size)
			if err != nil {
				return nil, fmt.Errorf("derive %s key: %w", p, err)
			}
			s.keys[p] = append(s.keys[p], Key{v.Number, k})
		}
	}
	return s, nil
}

// Bytes returns the stored form.
func (s *Set) Bytes() ([]byte, error) {
	b, err := json.Marshal(document{format, s.made, s.versions, s.lasting}, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("root secret: %w", err)
	}
	return b, nil
}

// Versions lists the versions, oldest first. Read only.
func (s *Set) Versions() []Version { return s.versions }

// Made returns the time at which the set was made, together with its lasting keys.
func (s *Set) Made() time.Time { return s.made }

// Newest returns the version that was made last.
func (s *Set) Newest() Version { return s.versions[len(s.versions)-1] }

// Rotated adds a version that is in use from now + Activation on. It returns ErrPending if the
// newest version is not active yet.
func (s *Set) Rotated(now time.Time) (*Set, error) {
	last := s.Newest()
	if last.From.After(now) {
		return nil, fmt.Errorf("%w: wait until %s", ErrPending, last.From.Format(time.RFC3339))
	}
	next := Version{Number: last.Number + 1, From: stamp(now.Add(Activation)), Secret: random()}
	return newSet(document{format, s.made, append(slices.Clone(s.versions), next), s.lasting})
}

// Dropped removes all versions but the newest. ErrNothingOlder, or ErrOverlap until the newest has
// been in use for Overlap.
func (s *Set) Dropped(now time.Time) (*Set, error) {
	if len(s.versions) == 1 {
		return nil, ErrNothingOlder
	}
	if end := s.Newest().From.Add(Overlap); now.Before(end) {
		return nil, fmt.Errorf("%w until %s", ErrOverlap, end.Format(time.RFC3339))
	}
	return newSet(document{format, s.made, slices.Clone(s.versions[len(s.versions)-1:]), s.lasting})
}

// Lasting returns a lasting key. Read only.
func (s *Set) Lasting(l Lasting) []byte { return s.lasting[l] }

// active returns the index in keys of the version that is in use at t. That is the newest one from
// before t, or else the oldest.
func (s *Set) active(t time.Time) int {
	n := len(s.versions)
	for i, v := range slices.Backward(s.versions) {
		if !v.From.After(t) {
			return n - 1 - i
		}
	}
	return n - 1
}
