package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/shared/secret"
)

// maxCredentials is the largest size of a file with credentials in bytes.
const maxCredentials = 256 << 10

// accounts adds, lists, checks, rotates, disables and enables accounts of live mode.
func (m *Main) accounts(ctx context.Context, args []string) error {
	f, at := m.flags("accounts")
	in, credentials := accountFlags(f)
	words, err := m.words(f, args)
	if err != nil {
		return err
	}
	if err := m.accountForm(f, words); err != nil {
		return err
	}
	switch verb := words[0]; verb {
	case "list":
		return m.listAccounts(ctx, at, in.Merchant)
	case "add":
		if in.Credentials, err = m.credentials(*credentials); err != nil {
			return err
		}
		return m.addAccount(ctx, at, *in)
	case "rotate":
		rotate := operator.AccountRotate{Unchecked: in.Unchecked}
		if rotate.Credentials, err = m.credentials(*credentials); err != nil {
			return err
		}
		return m.onAccount(ctx, at, words[1], "has the new credentials", func(a *admin.Admin) error {
			return a.RotateAccount(ctx, words[1], rotate)
		})
	case "check":
		return m.onAccount(ctx, at, words[1], "is accepted", func(a *admin.Admin) error {
			return a.CheckAccount(ctx, words[1])
		})
	default:
		return m.onAccount(ctx, at, words[1], "is "+verb+"d", func(a *admin.Admin) error {
			return a.DisableAccount(ctx, words[1], verb == "disable")
		})
	}
}

// addAccount adds an account. It prints the id, and warns of a sandbox.
func (m *Main) addAccount(ctx context.Context, at *storeFlags, in operator.AccountCreate) error {
	err := m.administer(ctx, at, func(a *admin.Admin) (string, error) { return a.AddAccount(ctx, in) })
	if invalid, ok := errors.AsType[*operator.FieldError](err); ok {
		return errors.New(flagged(err.Error(), invalid))
	}
	if err != nil {
		return err
	}
	if account.Sandbox(in.BaseURL) {
		m.warn("the account is at a sandbox: its approved payments move no money")
	}
	if cfg, err := at.config(); err == nil && cfg.VaultKEK.IsZero() {
		m.warn(withoutKEK)
	}
	return nil
}

// warn prints a warning about a command that succeeded.
func (m *Main) warn(text string) { _, _ = fmt.Fprintln(m.Stderr, "core: warning: "+text) }

// accountForms are the flags of the commands about accounts, and the number of their arguments.
var accountForms = map[string]struct {
	arguments int
	required  []string
	optional  []string
}{
	"add": {0, []string{"merchant", "kind", "currency", "base-url", "credentials"}, []string{
		"method", "second", "setting", "unchecked",
	}},
	"list":    {0, nil, []string{"merchant"}},
	"check":   {1, nil, nil},
	"rotate":  {1, []string{"credentials"}, []string{"unchecked"}},
	"disable": {1, nil, nil},
	"enable":  {1, nil, nil},
}

// accountForm checks the words and the flags of a command about accounts.
func (m *Main) accountForm(f *flag.FlagSet, words []string) error {
	verb := strings.Join(words[:min(len(words), 1)], "")
	form, known := accountForms[verb]
	if !known {
		return m.misused(fmt.Sprintf("accounts %q: want add, list, check, rotate, disable or enable", verb))
	}
	if n := len(words) - 1; n != form.arguments {
		return m.misused(fmt.Sprintf("accounts %s: want %d arguments in addition to the flags, got %d", verb, form.arguments, n))
	}
	given := map[string]bool{"data": true, "store": true}
	f.Visit(func(one *flag.Flag) { given[one.Name] = true })
	for _, name := range form.required {
		if !given[name] {
			return m.misused(fmt.Sprintf("accounts %s: --%s is required", verb, name))
		}
	}
	allowed := slices.Concat([]string{"data", "store"}, form.required, form.optional)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(allowed, name) {
			return m.misused(fmt.Sprintf("accounts %s: it has no flag --%s", verb, name))
		}
	}
	return nil
}

// accountFlags adds the flags of a new account, and the path of its credentials.
func accountFlags(f *flag.FlagSet) (*operator.AccountCreate, *string) {
	in := &operator.AccountCreate{Settings: map[string]string{}}
	f.StringVar(&in.Merchant, "merchant", "", "")
	f.StringVar(&in.Kind, "kind", "", "")
	f.StringVar(&in.Currency, "currency", "", "")
	f.StringVar(&in.Method, "method", "", "")
	f.BoolVar(&in.Second, "second", false, "")
	f.StringVar(&in.BaseURL, "base-url", "", "")
	f.BoolVar(&in.Unchecked, "unchecked", false, "")
	f.Func("setting", "", func(text string) error {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return errors.New("want NAME=VALUE")
		}
		if _, twice := in.Settings[name]; twice {
			return fmt.Errorf("%s is given twice", name)
		}
		in.Settings[name] = value
		return nil
	})
	return in, f.String("credentials", "", "")
}

// onAccount runs a change of an account. It prints the id, the outcome and the base URL.
func (m *Main) onAccount(
	ctx context.Context, at *storeFlags, name, outcome string, change func(*admin.Admin) error,
) error {
	return m.administer(ctx, at, func(a *admin.Admin) (string, error) {
		if err := change(a); err != nil {
			return "", err
		}
		all, err := a.ListAccounts(ctx)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(all, func(one operator.Account) bool { return one.ID == name })
		if i < 0 {
			return "", fmt.Errorf("account %s does not exist", name)
		}
		return fmt.Sprintf("%s %s: %s", name, outcome, all[i].BaseURL), nil
	})
}

// credentials reads the credentials of an account from a file, or with "-" from standard input. No
// error quotes them.
func (m *Main) credentials(path string) (map[string]secret.String, error) {
	in := m.Stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("--credentials: %w", err)
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	if in == nil {
		return nil, errors.New("--credentials -: there is no standard input")
	}
	text, err := io.ReadAll(io.LimitReader(in, maxCredentials+1))
	if err != nil {
		return nil, fmt.Errorf("--credentials %s: %w", path, err)
	}
	out, why := decodeCredentials(text)
	if why != "" {
		return nil, fmt.Errorf("--credentials %s: want a JSON object of texts, such as {\"NAME\": \"TEXT\"}: %s", path, why)
	}
	return out, nil
}

// decodeCredentials decodes the JSON of credentials, or returns the reason why it cannot.
func decodeCredentials(text []byte) (out map[string]secret.String, why string) {
	if len(text) > maxCredentials {
		return nil, fmt.Sprintf("it has more than %d bytes", maxCredentials)
	}
	err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &out)
	if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return nil, fmt.Sprintf("it is not JSON from byte %d on", wrong.ByteOffset+1)
	}
	switch {
	case err != nil:
		return nil, "it is not an object, or a value is not a text"
	case len(out) == 0:
		return nil, "it is empty"
	}
	return out, ""
}

func (m *Main) listAccounts(ctx context.Context, at *storeFlags, merchant string) error {
	return m.list(ctx, at, func(a *admin.Admin, w io.Writer) error {
		found, err := a.ListAccounts(ctx)
		if err != nil {
			return err
		}
		const heading = "id\tmerchant\tkind\tcurrency\tmethod\tsecond\tsandbox\tstatus\trotated\tbase url\tsettings"
		if _, err := fmt.Fprintln(w, heading); err != nil {
			return err
		}
		for _, one := range found {
			if merchant != "" && one.Merchant != merchant {
				continue
			}
			_, err := fmt.Fprintln(w, strings.Join([]string{
				one.ID, one.Merchant, one.Kind, one.Currency, one.Method, wordIf(one.Second, "second"),
				wordIf(account.Sandbox(one.BaseURL), "sandbox"), string(one.Status),
				one.RotatedAt.Format(time.RFC3339), one.BaseURL, orDash(settingsText(one.Settings)),
			}, "\t"))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// wordIf returns a word, or a dash if it does not apply.
func wordIf(applies bool, word string) string {
	if applies {
		return word
	}
	return "-"
}

// settingsText returns settings as the command line has them, in the order of their names.
func settingsText(settings map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		out = append(out, name+"="+settings[name])
	}
	return strings.Join(out, " ")
}
