package credentials

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Entry is a provider-a login for a file. The file has no secret. It has the hash of the
// transaction key, and names the environment variable or file of each other key.
type Entry struct {
	Name             string
	TransactionKey   secret.String
	APIKeyEnv        string // one of the two
	APIKeyFile       string
	SignatureKeyEnv  string // at most one of the two
	SignatureKeyFile string
	Currency         string
	TimeZone         string
	LenientOrder     bool
	UnlinkedRefunds  bool
	Sandbox          bool
}

var errLooksLikeAPIKey = errors.New(`begins with "sk_" and would be read as an API key`)

// keyLetters are the characters of a transaction key. 16 of them hold 95 bits.
const keyLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// NewTransactionKey returns a random transaction key of a length that every client can send.
func NewTransactionKey() secret.String {
	key := make([]byte, 0, maxTransactionKey)
	for len(key) < maxTransactionKey {
		var b [1]byte
		_, _ = rand.Read(b[:])                        // it never fails
		if n := int(b[0]) & 63; n < len(keyLetters) { // a greater n would make some letters likelier
			key = append(key, keyLetters[n])
		}
	}
	return secret.New(string(key))
}

// check rejects an entry that the proxy could not read, or that could never log in. It does not
// read the API key, which may be on another machine.
func (e Entry) check() error {
	key := e.TransactionKey.Reveal()
	_, known := money.Lookup(e.Currency)
	_, zone := zoneOf(e.TimeZone)
	switch {
	case e.Name == "":
		return fmt.Errorf("credentials: name %w", errMissing)
	case len(e.Name) > maxName:
		return fmt.Errorf("credentials: %w", tooLong("name", maxName))
	case key == "":
		return fmt.Errorf("credentials: transaction_key %w", errMissing)
	case len(key) > maxTransactionKey:
		return fmt.Errorf("credentials: %w", tooLong("transaction_key", maxTransactionKey))
	case strings.HasPrefix(key, "sk_"):
		return fmt.Errorf("credentials: transaction_key %w", errLooksLikeAPIKey)
	case e.Currency != "" && !known:
		return fmt.Errorf("credentials: currency %w", errCurrency)
	case zone != nil:
		return fmt.Errorf("credentials: time_zone %w", errZone)
	}
	return nil
}

// yaml returns the text of a file with the entry.
func (e Entry) yaml() ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	key, err := reference(e.APIKeyEnv, e.APIKeyFile)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(e.TransactionKey.Reveal()))
	item := yaml.MapSlice{
		{Key: "name", Value: e.Name},
		{Key: "transaction_key_sha256", Value: hex.EncodeToString(sum[:])},
		{Key: "api_key", Value: key},
	}
	if e.SignatureKeyEnv != "" || e.SignatureKeyFile != "" {
		at, err := reference(e.SignatureKeyEnv, e.SignatureKeyFile)
		if err != nil {
			return nil, err
		}
		item = append(item, yaml.MapItem{Key: "signature_key", Value: at})
	}
	for _, v := range []struct {
		key   string
		value any
		given bool
	}{
		{"currency", e.Currency, e.Currency != ""},
		{"time_zone", e.TimeZone, e.TimeZone != ""},
		{"lenient_order", true, e.LenientOrder},
		{"unlinked_refunds", true, e.UnlinkedRefunds},
		{"sandbox", true, e.Sandbox},
	} {
		if v.given {
			item = append(item, yaml.MapItem{Key: v.key, Value: v.value})
		}
	}
	return fileText(ListA, item)
}

func (e Entry) list() List { return ListA }

func (e Entry) key() string { return e.Name }
