package credentials

import (
	"cmp"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The bounds of a provider-b client's ids and secret.
const (
	maxMerchant = 64
	maxKeyID    = 128
	minSecret   = 16 // bytes, decoded
)

// entryB is one login of the provider-b dialect.
type entryB struct {
	MerchantID   string          `yaml:"merchant_id"`
	Keys         []keyEntryB     `yaml:"keys"`
	Certificates []config.Secret `yaml:"certificates"` // no secrets, but given in the same three ways
	ResponseKeys []responseB     `yaml:"response_keys"`
	// Portfolio has the merchants for which the login acts. Each needs a separate entry.
	Portfolio       []string      `yaml:"portfolio"`
	APIKey          config.Secret `yaml:"api_key"`
	Currency        string        `yaml:"currency"`
	UnlinkedCredits bool          `yaml:"unlinked_credits"`
	Sandbox         bool          `yaml:"sandbox"`
	Review          string        `yaml:"review"`
	AnyDate         bool          `yaml:"any_date"`
	SignatureAge    time.Duration `yaml:"signature_age"`
}

type keyEntryB struct {
	ID           string        `yaml:"id"`
	SharedSecret config.Secret `yaml:"shared_secret"`
}

type responseB struct {
	KID         string        `yaml:"kid"`
	Certificate config.Secret `yaml:"certificate"`
}

// encryptionB is a key pair to which clients encrypt requests.
type encryptionB struct {
	KID         string        `yaml:"kid"`
	Key         config.Secret `yaml:"key"`
	Certificate config.Secret `yaml:"certificate"`
}

// MaxSignatureAge bounds the difference between the date of a signature and now, either way. A
// signature is accepted for 23 hours in all, and v1 stores its name for 24.
const MaxSignatureAge = 11*time.Hour + 30*time.Minute

// The faults of a provider-b entry, like the faults of provider-a.
var (
	errNoKeys      = errors.New("or certificates is required")
	errSecret      = errors.New("is not base64 of at least 16 bytes")
	errKeyTwice    = errors.New("repeats the id of an earlier key")
	errNoMember    = errors.New("is not the merchant_id of an entry with an api_key")
	errReview      = errors.New(`is not "on" or "off"`)
	errAge         = errors.New("is not between 0s and 11h30m; any_date accepts every date")
	errPrintable   = errors.New("has characters other than letters, digits and . _ -")
	errKeyMismatch = errors.New("does not match the key")
)

// buildB checks all entries and resolves their secrets. Its errors begin with the key in the file.
func (s set) buildB() (tableB, error) {
	t := tableB{
		keys: map[string]KeyB{}, certificates: map[[sha256.Size]byte]KeyB{},
		decryptionKeys: map[string]*rsa.PrivateKey{},
	}
	logins := make(map[string]*LoginB, len(s.b))
	for _, e := range s.b {
		l, err := e.entry.login(&t)
		if err != nil {
			return tableB{}, fmt.Errorf("%s.%w", e.at, err)
		}
		if logins[l.ID] != nil {
			return tableB{}, fmt.Errorf("%s.merchant_id %w", e.at, errTwice)
		}
		logins[l.ID] = l
	}
	for _, e := range s.b {
		for j, member := range e.entry.Portfolio {
			of, known := logins[member]
			granted, own := Grant{}, false
			if known {
				granted, own = of.grants[member]
			}
			if !own {
				return tableB{}, fmt.Errorf("%s.portfolio[%d] %w", e.at, j, errNoMember)
			}
			logins[e.entry.MerchantID].grants[member] = granted
		}
	}
	for _, e := range s.encryption {
		if err := e.entry.add(t.decryptionKeys); err != nil {
			return tableB{}, fmt.Errorf("%s.%w", e.at, err)
		}
	}
	return t, nil
}

// login checks an entry and puts its keys into the table.
func (e entryB) login(t *tableB) (*LoginB, error) {
	if err := identifier("merchant_id", e.MerchantID, maxMerchant); err != nil {
		return nil, err
	}
	l := &LoginB{
		ID: e.MerchantID, AnyDate: e.AnyDate, Age: e.SignatureAge, grants: map[string]Grant{},
		responses: map[string]*rsa.PublicKey{},
	}
	if e.SignatureAge < 0 || e.SignatureAge > MaxSignatureAge {
		return nil, fmt.Errorf("signature_age %w", errAge)
	}
	if err := e.grant(l); err != nil {
		return nil, err
	}
	if len(e.Keys)+len(e.Certificates) == 0 && e.APIKey.IsZero() {
		return nil, fmt.Errorf("keys %w", errNoKeys)
	}
	for i, k := range e.Keys {
		if err := k.add(t, l); err != nil {
			return nil, fmt.Errorf("keys[%d].%w", i, err)
		}
	}
	for i, c := range e.Certificates {
		if err := addCertificate(t, l, c); err != nil {
			return nil, fmt.Errorf("certificates[%d] %w", i, err)
		}
	}
	for i, r := range e.ResponseKeys {
		if err := r.add(l.responses); err != nil {
			return nil, fmt.Errorf("response_keys[%d].%w", i, err)
		}
	}
	return l, nil
}

// grant sets the login's own grant. A portfolio need not have one.
func (e entryB) grant(l *LoginB) error {
	if _, known := money.Lookup(e.Currency); e.Currency != "" && !known {
		return fmt.Errorf("currency %w", errCurrency)
	}
	if e.Review != "" && e.Review != "on" && e.Review != "off" {
		return fmt.Errorf("review %w", errReview)
	}
	if e.APIKey.IsZero() && len(e.Portfolio) > 0 {
		return nil
	}
	apiKey, err := apiKeyOf(e.APIKey, e.Sandbox)
	if err != nil {
		return err
	}
	l.grants[l.ID] = Grant{
		APIKey: apiKey, Currency: e.Currency, UnlinkedRefunds: e.UnlinkedCredits,
		Sandbox: e.Sandbox, NoReview: e.Review == "off",
	}
	return nil
}

func (k keyEntryB) add(t *tableB, l *LoginB) error {
	if err := identifier("id", k.ID, maxKeyID); err != nil {
		return err
	}
	if _, twice := t.keys[k.ID]; twice {
		return fmt.Errorf("id %w", errKeyTwice)
	}
	text, err := resolve("shared_secret", k.SharedSecret)
	if err != nil {
		return err
	}
	decoded, err := decodeSecret(text)
	if err != nil {
		return fmt.Errorf("shared_secret %w", err)
	}
	t.keys[k.ID] = KeyB{Login: l, Secret: decoded}
	return nil
}

// decodeSecret decodes base64 as clients do: it ignores white space and missing padding.
func decodeSecret(text secret.String) (secret.String, error) {
	clean := strings.TrimRight(strings.Join(strings.FieldsFunc(text.Reveal(), unicode.IsSpace), ""), "=")
	b, err := base64.RawStdEncoding.DecodeString(clean)
	if err != nil || len(b) < minSecret {
		return secret.String{}, errSecret
	}
	return secret.New(string(b)), nil
}

func addCertificate(t *tableB, l *LoginB, c config.Secret) error {
	cert, err := certificate(c)
	if err != nil {
		return err
	}
	key := KeyB{Login: l, Certificate: cert}
	for _, kid := range kidsOf(cert) {
		if _, twice := t.keys[kid]; twice {
			return errKeyTwice
		}
		t.keys[kid] = key
	}
	t.certificates[sha256.Sum256(cert.Raw)] = key
	return nil
}

func (r responseB) add(to map[string]*rsa.PublicKey) error {
	cert, err := certificate(r.Certificate)
	if err != nil {
		return fmt.Errorf("certificate %w", err)
	}
	kid := cmp.Or(r.KID, kidsOf(cert)[0])
	if _, twice := to[kid]; twice {
		return fmt.Errorf("kid %w", errKeyTwice)
	}
	to[kid], _ = cert.PublicKey.(*rsa.PublicKey) // certificate checked the type
	return nil
}

func (e encryptionB) add(to map[string]*rsa.PrivateKey) error {
	cert, err := certificate(e.Certificate)
	if err != nil {
		return fmt.Errorf("certificate %w", err)
	}
	key, err := privateKey(e.Key)
	if err != nil {
		return fmt.Errorf("key %w", err)
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		return fmt.Errorf("certificate %w", errKeyMismatch)
	}
	kids := kidsOf(cert)
	if e.KID != "" {
		kids = []string{e.KID}
	}
	for _, kid := range kids {
		if _, twice := to[kid]; twice {
			return fmt.Errorf("kid %w", errKeyTwice)
		}
		to[kid] = key
	}
	return nil
}

// identifier checks a name that clients send in a header.
func identifier(key, name string, longest int) error {
	switch {
	case name == "":
		return fmt.Errorf("%s %w", key, errMissing)
	case len(name) > longest:
		return tooLong(key, longest)
	}
	for _, c := range name {
		if c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("._-", c) {
			return fmt.Errorf("%s %w", key, errPrintable)
		}
	}
	return nil
}
