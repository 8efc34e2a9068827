package credentials

import (
	"errors"
	"fmt"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
)

// EntryB is a provider-b login for a file. The file has no secret, only its environment variable or
// file. Certificates are public, so the file has them whole.
type EntryB struct {
	MerchantID  string
	KeyID       string // with one of the next two; empty for none
	SecretEnv   string
	SecretFile  string
	Certificate string // PEM; empty for none. Responses can be encrypted to it, too
	Portfolio   []string
	APIKeyEnv   string // one of the two, unless it is a portfolio's
	APIKeyFile  string
	Currency    string

	UnlinkedCredits, Sandbox, NoReview, AnyDate bool
	SignatureAge                                time.Duration // zero means the proxy's
}

var errNoLoginKey = errors.New("credentials: the login has neither a key nor a certificate: give one of them")

// check rejects an entry that the proxy could not read. It does not read the secrets, which may be
// on another machine.
func (e EntryB) check() error {
	if err := identifier("merchant_id", e.MerchantID, maxMerchant); err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	if e.KeyID == "" && e.Certificate == "" {
		return errNoLoginKey
	}
	if e.KeyID != "" {
		if err := identifier("id", e.KeyID, maxKeyID); err != nil {
			return fmt.Errorf("credentials: keys[0].%w", err)
		}
	}
	if e.Certificate != "" {
		if _, err := certificate(config.Literal(secret.New(e.Certificate))); err != nil {
			return fmt.Errorf("credentials: certificates[0] %w", err)
		}
	}
	if e.SignatureAge < 0 || e.SignatureAge > MaxSignatureAge {
		return fmt.Errorf("credentials: signature_age %w", errAge)
	}
	if _, known := money.Lookup(e.Currency); e.Currency != "" && !known {
		return fmt.Errorf("credentials: currency %w", errCurrency)
	}
	return nil
}

// yaml returns the text of a file with the entry.
func (e EntryB) yaml() ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	item := yaml.MapSlice{{Key: "merchant_id", Value: e.MerchantID}}
	if e.KeyID != "" {
		at, err := reference(e.SecretEnv, e.SecretFile)
		if err != nil {
			return nil, err
		}
		item = append(item, yaml.MapItem{Key: "keys", Value: []yaml.MapSlice{
			{{Key: "id", Value: e.KeyID}, {Key: "shared_secret", Value: at}},
		}})
	}
	if e.Certificate != "" {
		item = append(item, yaml.MapItem{Key: "certificates", Value: []string{e.Certificate}},
			yaml.MapItem{Key: "response_keys", Value: []map[string]string{{"certificate": e.Certificate}}})
	}
	if len(e.Portfolio) > 0 {
		item = append(item, yaml.MapItem{Key: "portfolio", Value: e.Portfolio})
	}
	if len(e.Portfolio) == 0 || e.APIKeyEnv != "" || e.APIKeyFile != "" {
		at, err := reference(e.APIKeyEnv, e.APIKeyFile)
		if err != nil {
			return nil, err
		}
		item = append(item, yaml.MapItem{Key: "api_key", Value: at})
	}
	for _, v := range []struct {
		key   string
		value any
		given bool
	}{
		{"currency", e.Currency, e.Currency != ""},
		{"unlinked_credits", true, e.UnlinkedCredits},
		{"sandbox", true, e.Sandbox},
		{"review", "off", e.NoReview},
		{"signature_age", e.SignatureAge.String(), e.SignatureAge > 0},
		{"any_date", true, e.AnyDate},
	} {
		if v.given {
			item = append(item, yaml.MapItem{Key: v.key, Value: v.value})
		}
	}
	return fileText(ListB, item)
}

func (e EntryB) list() List { return ListB }

func (e EntryB) key() string { return e.MerchantID }

// EncryptionCertificate returns the first certificate, in PEM, to which clients encrypt requests.
// It reads the credentials file at path and the login files. It returns "" without one.
func EncryptionCertificate(path string) (string, error) {
	s, err := loadAll(path)
	if err != nil || len(s.encryption) == 0 {
		return "", err
	}
	text, err := s.encryption[0].entry.Certificate.Resolve()
	if err != nil {
		return "", fmt.Errorf("credentials: %s.certificate %w", s.encryption[0].at, err)
	}
	return text.Reveal(), nil
}
