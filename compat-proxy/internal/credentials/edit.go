package credentials

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Entry is a login to write into a credentials file. Its secrets do not go there: of the transaction key only the hash does, and the API key
// stays in the environment variable or file that is named.
type Entry struct {
	Name            string
	TransactionKey  secret.String
	APIKeyEnv       string // one of the two
	APIKeyFile      string
	Currency        string
	TimeZone        string
	LenientOrder    bool
	UnlinkedRefunds bool
}

// The faults of an edit.
var (
	ErrExists   = errors.New("credentials: the file has a login of that name")
	ErrNoLogin  = errors.New("credentials: the file has no login of that name")
	errOneLine  = errors.New("credentials: provider_a is written on one line; give each login a line of its own that begins with \"- \"")
	errOneKey   = errors.New("credentials: name one of an environment variable and a file for the API key")
	errNotAList = errors.New("credentials: provider_a is not a list")

	errLooksLikeAPIKey = errors.New("begins like an API key, and would be taken for one")
)

// keyLetters make a transaction key: 16 of them hold 95 bits.
const keyLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// NewTransactionKey makes a transaction key of the length that every client can send.
func NewTransactionKey() secret.String {
	key := make([]byte, 0, maxTransactionKey)
	for len(key) < maxTransactionKey {
		var b [1]byte
		_, _ = rand.Read(b[:])                        // it never fails
		if n := int(b[0]) & 63; n < len(keyLetters) { // what is beyond would make some letters likelier
			key = append(key, keyLetters[n])
		}
	}
	return secret.New(string(key))
}

// Names lists the logins of a credentials file in its order.
func Names(path string) ([]string, error) {
	f, err := load(path)
	return f.namesA(), err
}

// namesA are the names of the provider-a logins.
func (f file) namesA() []string {
	names := make([]string, len(f.ProviderA))
	for i, e := range f.ProviderA {
		names[i] = e.Name
	}
	return names
}

func namesIn(path string, text []byte) ([]string, error) {
	f, err := decode(path, text)
	return f.namesA(), err
}

// Check reads a credentials file as the proxy would, its secrets included.
func Check(path string) error {
	_, err := read(path)
	return err
}

// Add writes a login into the file, which is made if there is none; what else is in it stays, comments included. ErrExists when the file has
// the name, unless replace is set: then that entry is left out.
func Add(path string, e Entry, replace bool) error {
	entry, err := e.yaml()
	if err != nil {
		return err
	}
	return edit(path, func(text []byte) ([]byte, error) {
		names, err := namesIn(path, text)
		if err != nil {
			return nil, err
		}
		if slices.Contains(names, e.Name) {
			if !replace {
				return nil, ErrExists
			}
			if text, err = without(text, e.Name); err != nil {
				return nil, err
			}
		}
		return with(text, entry)
	}, func(names []string) bool { return slices.Contains(names, e.Name) })
}

// Remove takes a login out of the file. ErrNoLogin when it has none of that name.
func Remove(path, name string) error {
	return edit(path, func(text []byte) ([]byte, error) {
		names, err := namesIn(path, text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			return nil, ErrNoLogin
		}
		return without(text, name)
	}, func(names []string) bool { return !slices.Contains(names, name) })
}

// check refuses what the proxy would not read, or could never log in. Where the API key stands is not looked at: that is where the proxy runs.
func (e Entry) check() error {
	key := e.TransactionKey.Reveal()
	_, known := money.Lookup(e.Currency)
	_, zone := zoneOf(e.TimeZone)
	switch {
	case e.Name == "":
		return fmt.Errorf("credentials: name %w", errMissing)
	case len(e.Name) > maxName:
		return fmt.Errorf("credentials: name %w", errTooLong)
	case key == "":
		return fmt.Errorf("credentials: transaction_key %w", errMissing)
	case len(key) > maxTransactionKey:
		return fmt.Errorf("credentials: transaction_key %w", errTooLong)
	case strings.HasPrefix(key, "sk_"):
		return fmt.Errorf("credentials: transaction_key %w", errLooksLikeAPIKey)
	case e.Currency != "" && !known:
		return fmt.Errorf("credentials: currency %w", errCurrency)
	case zone != nil:
		return fmt.Errorf("credentials: time_zone %w", errZone)
	}
	return nil
}

// yaml is the entry as an item of a list.
func (e Entry) yaml() (string, error) {
	if err := e.check(); err != nil {
		return "", err
	}
	key := map[string]string{"env": e.APIKeyEnv}
	switch {
	case (e.APIKeyEnv == "") == (e.APIKeyFile == ""):
		return "", errOneKey
	case e.APIKeyFile != "":
		key = map[string]string{"file": e.APIKeyFile}
	}
	sum := sha256.Sum256([]byte(e.TransactionKey.Reveal()))
	item := yaml.MapSlice{
		{Key: "name", Value: e.Name}, {Key: "transaction_key_sha256", Value: hex.EncodeToString(sum[:])}, {Key: "api_key", Value: key},
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
	} {
		if v.given {
			item = append(item, yaml.MapItem{Key: v.key, Value: v.value})
		}
	}
	out, err := yaml.Marshal([]yaml.MapSlice{item})
	if err != nil {
		return "", fmt.Errorf("credentials: write entry: %w", err)
	}
	return string(out), nil
}

// noLogins is the line of a list that has none, with its comment.
var noLogins = regexp.MustCompile(`(?m)^provider_a:[ \t]*(?:\[[ \t]*\])?([ \t]*(?:#.*)?)$`)

// with is the text with an item at the end of the list.
func with(text []byte, item string) ([]byte, error) {
	list, file, err := parse(text)
	switch {
	case err != nil:
		return nil, err
	case list == nil || len(list.Values) == 0:
		at := noLogins.FindSubmatchIndex(text)
		if at == nil {
			return append(bytes.TrimRight(text, "\n"), "\nprovider_a:\n"+indent(item)...), nil
		}
		return slices.Concat(text[:at[0]], []byte("provider_a:"), text[at[2]:at[3]], []byte("\n"+indent(item)), bytes.TrimPrefix(text[at[1]:], []byte("\n"))), nil
	case list.IsFlowStyle:
		return nil, errOneLine
	}
	at, err := yaml.PathString("$.provider_a")
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	if err := at.MergeFromReader(file, strings.NewReader(item)); err != nil {
		return nil, fmt.Errorf("credentials: add entry: %w", err)
	}
	return []byte(file.String()), nil
}

// without is the text without the item of that name.
func without(text []byte, name string) ([]byte, error) {
	list, file, err := parse(text)
	switch {
	case err != nil:
		return nil, err
	case list == nil:
		return nil, ErrNoLogin
	}
	for i, v := range list.Values {
		var item struct {
			Name string `yaml:"name"`
		}
		if err := yaml.NodeToValue(v, &item); err != nil || item.Name != name {
			continue
		}
		list.Values = slices.Delete(list.Values, i, i+1)
		if i < len(list.ValueHeadComments) {
			list.ValueHeadComments = slices.Delete(list.ValueHeadComments, i, i+1)
		}
		if i < len(list.Entries) {
			list.Entries = slices.Delete(list.Entries, i, i+1)
		}
		list.IsFlowStyle = list.IsFlowStyle || len(list.Values) == 0
		return []byte(file.String()), nil
	}
	return nil, ErrNoLogin
}

// parse finds the list of logins in a text; nil when it has none.
func parse(text []byte) (*ast.SequenceNode, *ast.File, error) {
	file, err := parser.ParseBytes(text, parser.ParseComments)
	if err != nil {
		return nil, nil, errors.New("credentials: not valid yaml") // the library's words quote the file
	}
	at, err := yaml.PathString("$.provider_a")
	if err != nil {
		return nil, nil, fmt.Errorf("credentials: %w", err)
	}
	node, err := at.FilterFile(file)
	if err != nil {
		return nil, file, nil //nolint:nilerr // no such key
	}
	if node.Type() == ast.NullType {
		return nil, file, nil
	}
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return nil, nil, errNotAList
	}
	return list, file, nil
}

func indent(item string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(item), "\n", "\n  ") + "\n"
}

// edit changes a file whole or not at all. What it writes must be what the proxy can read, else the file stays as it was.
func edit(path string, change func([]byte) ([]byte, error), done func(names []string) bool) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("credentials: %w", err)
	}
	text, err = change(text)
	if err != nil {
		return err
	}
	if names, err := namesIn(path, text); err != nil || !done(names) {
		return errors.Join(errors.New("credentials: this file cannot be edited by program, it was left as it is"), err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".credentials-*") // mode 0600
	if err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // the rename has taken it away already
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	return nil
}
