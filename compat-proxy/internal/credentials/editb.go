package credentials

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
)

// EntryB is a provider-b login to write into a credentials file. Its secrets do not go there: only where they stand does. Certificates are
// public, and go there whole.
type EntryB struct {
	MerchantID  string
	KeyID       string // with one of the next two; empty for none
	SecretEnv   string
	SecretFile  string
	Certificate string // PEM; empty for none. Answers can be encrypted to it, too
	Portfolio   []string
	APIKeyEnv   string // one of the two, unless it is a portfolio's
	APIKeyFile  string
	Currency    string

	UnlinkedCredits, NoReview, AnyDate bool
	SignatureAge                       time.Duration // zero means the proxy's
}

var errNoLoginKey = errors.New("credentials: a login needs a key or a certificate")

// check refuses what the proxy would not read. Where secrets stand is not looked at: that is where the proxy runs.
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

// yaml is the entry as an item of a list.
func (e EntryB) yaml() (string, error) {
	if err := e.check(); err != nil {
		return "", err
	}
	item := yaml.MapSlice{{Key: "merchant_id", Value: e.MerchantID}}
	if e.KeyID != "" {
		at, err := place(e.SecretEnv, e.SecretFile)
		if err != nil {
			return "", err
		}
		item = append(item, yaml.MapItem{Key: "keys", Value: []yaml.MapSlice{{{Key: "id", Value: e.KeyID}, {Key: "shared_secret", Value: at}}}})
	}
	if e.Certificate != "" {
		item = append(item, yaml.MapItem{Key: "certificates", Value: []quoted{quoted(e.Certificate)}},
			yaml.MapItem{Key: "response_keys", Value: []map[string]quoted{{"certificate": quoted(e.Certificate)}}})
	}
	if len(e.Portfolio) > 0 {
		item = append(item, yaml.MapItem{Key: "portfolio", Value: e.Portfolio})
	}
	if len(e.Portfolio) == 0 || e.APIKeyEnv != "" || e.APIKeyFile != "" {
		at, err := place(e.APIKeyEnv, e.APIKeyFile)
		if err != nil {
			return "", err
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
		{"review", "off", e.NoReview},
		{"signature_age", e.SignatureAge.String(), e.SignatureAge > 0},
		{"any_date", true, e.AnyDate},
	} {
		if v.given {
			item = append(item, yaml.MapItem{Key: v.key, Value: v.value})
		}
	}
	return itemText(item)
}

// quoted is a text that is written on one line, however many it has: items with texts of several cannot be put between others.
type quoted string

// MarshalYAML implements yaml.BytesMarshaler.
func (q quoted) MarshalYAML() ([]byte, error) { return []byte(strconv.Quote(string(q))), nil }

func (e EntryB) list() List { return ListB }

func (e EntryB) key() string { return e.MerchantID }

// EncryptionCertificate is the first certificate that clients encrypt requests to, PEM; "" when the file has none.
func EncryptionCertificate(path string) (string, error) {
	f, err := load(path)
	if err != nil || len(f.ProviderBEncryption) == 0 {
		return "", err
	}
	text, err := f.ProviderBEncryption[0].Certificate.Resolve()
	if err != nil {
		return "", fmt.Errorf("credentials: provider_b_encryption[0].certificate %w", err)
	}
	return text.Reveal(), nil
}
