package credentials

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // time zones for machines without their files

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The greatest lengths that provider-a clients can send.
const (
	maxName           = 25
	maxTransactionKey = 16
)

// signatureKeySize is the size of a decoded signature key in bytes.
const signatureKeySize = 64

// file is the structure of the credentials file, and of each login file.
type file struct {
	ProviderA []entryA `yaml:"provider_a"`
	ProviderB []entryB `yaml:"provider_b"`
	// ProviderBEncryption has the key pair to which clients encrypt requests, and earlier ones that
	// may still be in use.
	ProviderBEncryption []encryptionB `yaml:"provider_b_encryption"`
}

// entryA is one login of the provider-a dialect.
type entryA struct {
	Name           string        `yaml:"name"`
	TransactionKey config.Secret `yaml:"transaction_key"`
	// TransactionKeySHA256 replaces the key itself, so that the file holds no secret of the client.
	TransactionKeySHA256 string        `yaml:"transaction_key_sha256"`
	APIKey               config.Secret `yaml:"api_key"`
	Currency             string        `yaml:"currency"`
	TimeZone             string        `yaml:"time_zone"`
	LenientOrder         bool          `yaml:"lenient_order"`
	// UnlinkedRefunds is dangerous if the login is stolen, so it is off by default.
	UnlinkedRefunds bool `yaml:"unlinked_refunds"`
	Sandbox         bool `yaml:"sandbox"`
	// SignatureKey is the key with which the client verifies transHashSha2.
	SignatureKey config.Secret `yaml:"signature_key"`
}

// The faults of an entry. Errors wrap them with the key in the file, and never repeat a value.
var (
	errMissing      = errors.New("is required")
	errTooLong      = errors.New("is too long")
	errNoAPIKey     = errors.New(`is not a secret API key, which begins with "sk_"`)
	errCurrency     = errors.New(`is not an ISO 4217 code in lower case, such as "usd"`)
	errBoth         = errors.New("and transaction_key are both set: set one of them")
	errHash         = errors.New("is not a SHA-256 hash of 64 hexadecimal digits")
	errSignatureKey = errors.New("is not 128 hexadecimal digits")
	errZone         = errors.New("is not a time zone's name, such as America/Los_Angeles")
	errTwice        = errors.New("is already used by an earlier entry")
	errSandbox      = errors.New(`is for API keys of test mode, which begin with "sk_test_"`)
)

// tooLong returns errTooLong for a key in the file, with its limit.
func tooLong(key string, most int) error {
	return fmt.Errorf("%s %w: clients can send at most %d characters", key, errTooLong, most)
}

// table holds the logins of valid files.
type table struct {
	a map[string]login
	b tableB
}

// fault is an entry that cannot be used. Its error begins with the file and the key in it.
type fault struct {
	path, name string
	err        error
}

// firstOf returns the error of the first fault, nil without any.
func firstOf(faults []fault) error {
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("credentials: %w", faults[0].err)
}

// keeps reports whether the last valid version of a login stays in force. It does if its file
// cannot be read, or has an entry of that name at fault. A login that is in no file was revoked.
func (s set) keeps(faults []fault, path, name string) bool {
	return s.unread[path] || slices.ContainsFunc(faults, func(f fault) bool { return f.name == name })
}

// build checks the entries and resolves their secrets. An entry at fault is replaced by its version
// in old, if it has one there.
func (s set) build(old *table) (*table, []fault) {
	a, faultsA := s.buildA(old.a)
	b, faultsB := s.buildB(old.b)
	return &table{a, b}, append(faultsA, faultsB...)
}

// buildA checks the entries of provider-a and resolves their secrets. Of entries with one name it
// uses none: the order of the files does not show which one is right.
func (s set) buildA(old map[string]login) (map[string]login, []fault) {
	logins, seen := make(map[string]login, len(s.a)), map[string]bool{}
	var faults []fault
	for _, e := range s.a {
		name := e.entry.Name
		l, err := e.entry.login()
		if err == nil && seen[name] {
			err = fmt.Errorf("name %w", errTwice)
		}
		seen[name] = true
		if err != nil {
			faults = append(faults, fault{e.path, name, fmt.Errorf("%s.%w", e.at, err)})
			delete(logins, name)
			continue
		}
		l.path = e.path
		logins[name] = l
	}
	for name, l := range old {
		if _, valid := logins[name]; !valid && s.keeps(faults, l.path, name) {
			logins[name] = l
		}
	}
	return logins, faults
}

// login checks an entry and resolves its secrets. Its errors begin with the key in the file.
func (e entryA) login() (login, error) {
	switch {
	case e.Name == "":
		return login{}, fmt.Errorf("name %w", errMissing)
	case len(e.Name) > maxName:
		return login{}, tooLong("name", maxName)
	}
	keyHash, err := e.keyHash()
	if err != nil {
		return login{}, err
	}
	apiKey, err := apiKeyOf(e.APIKey, e.Sandbox)
	if err != nil {
		return login{}, err
	}
	if _, known := money.Lookup(e.Currency); e.Currency != "" && !known {
		return login{}, fmt.Errorf("currency %w", errCurrency)
	}
	zone, err := zoneOf(e.TimeZone)
	if err != nil {
		return login{}, fmt.Errorf("time_zone %w", err)
	}
	signatureKey, err := e.signatureKey()
	if err != nil {
		return login{}, err
	}
	return login{keyHash: keyHash, granted: Grant{
		APIKey: apiKey, Currency: e.Currency, Zone: zone, LenientOrder: e.LenientOrder, UnlinkedRefunds: e.UnlinkedRefunds,
		Sandbox: e.Sandbox, SignatureKey: signatureKey,
	}}, nil
}

// signatureKey returns the decoded signature key, zero if the entry has none.
func (e entryA) signatureKey() (secret.String, error) {
	if e.SignatureKey.IsZero() {
		return secret.String{}, nil
	}
	text, err := resolve("signature_key", e.SignatureKey)
	if err != nil {
		return secret.String{}, err
	}
	key, err := hex.DecodeString(text.Reveal())
	if err != nil || len(key) != signatureKeySize {
		return secret.String{}, fmt.Errorf("%s %w", sourced("signature_key", e.SignatureKey), errSignatureKey)
	}
	return secret.New(string(key)), nil
}

// keyHash returns the hash of the transaction key. The entry has the key or its hash.
func (e entryA) keyHash() (sum [sha256.Size]byte, err error) {
	if e.TransactionKeySHA256 != "" {
		if !e.TransactionKey.IsZero() {
			return sum, fmt.Errorf("transaction_key_sha256 %w", errBoth)
		}
		b, err := hex.DecodeString(e.TransactionKeySHA256)
		if err != nil || len(b) != len(sum) {
			return sum, fmt.Errorf("transaction_key_sha256 %w", errHash)
		}
		copy(sum[:], b)
		return sum, nil
	}
	key, err := resolve("transaction_key", e.TransactionKey)
	if err != nil {
		return sum, err
	}
	if key.Len() > maxTransactionKey {
		return sum, tooLong("transaction_key", maxTransactionKey)
	}
	return hash(key.Reveal()), nil
}

// zoneOf returns the time zone of that name; "" is UTC.
func zoneOf(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, errZone
	}
	return zone, nil
}

func resolve(key string, s config.Secret) (secret.String, error) {
	if s.IsZero() {
		return secret.String{}, fmt.Errorf("%s %w", key, errMissing)
	}
	text, err := s.Resolve()
	if err != nil {
		return secret.String{}, fmt.Errorf("%s: %w", key, err)
	}
	return text, nil
}

// sourced returns a key in the file with the variable or file of its secret, for an error.
func sourced(key string, s config.Secret) string {
	if from := s.Source(); from != "" {
		return key + " (" + from + ")"
	}
	return key
}

// apiKeyOf returns the API key of an entry. A sandbox login needs one of test mode.
func apiKeyOf(given config.Secret, sandbox bool) (secret.String, error) {
	apiKey, err := resolve("api_key", given)
	switch {
	case err != nil:
		return secret.String{}, err
	case !IsAPIKey(apiKey):
		return secret.String{}, fmt.Errorf("%s %w", sourced("api_key", given), errNoAPIKey)
	case sandbox && !strings.HasPrefix(apiKey.Reveal(), "sk_test_"):
		return secret.String{}, fmt.Errorf("sandbox %w", errSandbox)
	}
	return apiKey, nil
}

// IsAPIKey reports whether s has the form of a secret API key. Any other text must not reach an
// HTTP header.
func IsAPIKey(s secret.String) bool {
	rest, ok := strings.CutPrefix(s.Reveal(), "sk_")
	if !ok || rest == "" {
		return false
	}
	for i := range len(rest) {
		c := rest[i] | 0x20
		if (rest[i] < '0' || rest[i] > '9') && (c < 'a' || c > 'z') && rest[i] != '_' {
			return false
		}
	}
	return true
}
