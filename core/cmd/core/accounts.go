package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

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
	given := 0
	f.Visit(func(one *flag.Flag) {
		if one.Name != "data" && one.Name != "store" {
			given++
		}
	})
	if in.Unchecked {
		given--
	}
	verb := strings.Join(words[:min(len(words), 1)], "")
	switch {
	case verb == "list" && len(words) == 1 && given == 0 && !in.Unchecked:
		return m.listAccounts(ctx, at)
	case verb == "add" && len(words) == 1:
		if in.Credentials, err = m.credentials(*credentials); err != nil {
			return err
		}
		return m.administer(ctx, at, func(a *admin.Admin) (string, error) { return a.AddAccount(ctx, *in) })
	case verb == "rotate" && len(words) == 2 && given == 1 && *credentials != "":
		rotate := operator.AccountRotate{Unchecked: in.Unchecked}
		if rotate.Credentials, err = m.credentials(*credentials); err != nil {
			return err
		}
		return m.onAccount(ctx, at, words[1], func(a *admin.Admin) error { return a.RotateAccount(ctx, words[1], rotate) })
	}
	if len(words) != 2 || given != 0 || in.Unchecked {
		return m.misused("accounts: want add, list, check acct_…, rotate acct_… --credentials FILE, disable acct_… or enable acct_…")
	}
	change := map[string]func(*admin.Admin) error{
		"check":   func(a *admin.Admin) error { return a.CheckAccount(ctx, words[1]) },
		"disable": func(a *admin.Admin) error { return a.DisableAccount(ctx, words[1], true) },
		"enable":  func(a *admin.Admin) error { return a.DisableAccount(ctx, words[1], false) },
	}[verb]
	if change == nil {
		return m.misused(fmt.Sprintf("accounts %s: want add, list, check, rotate, disable or enable", verb))
	}
	return m.onAccount(ctx, at, words[1], change)
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

// onAccount runs a change of an account, and prints its id.
func (m *Main) onAccount(ctx context.Context, at *storeFlags, account string, change func(*admin.Admin) error) error {
	return m.administer(ctx, at, func(a *admin.Admin) (string, error) { return account, change(a) })
}

// credentials reads the credentials of an account from a file, or with "-" from standard input. No
// error quotes them.
func (m *Main) credentials(path string) (map[string]secret.String, error) {
	if path == "" {
		return nil, m.misused("accounts: --credentials FILE is required: a JSON object of texts; - for standard input")
	}
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
	var out map[string]secret.String
	if len(text) > maxCredentials || json.Unmarshal(text, &out) != nil || len(out) == 0 {
		return nil, fmt.Errorf("--credentials %s: want a JSON object of texts, of at most %d bytes", path, maxCredentials)
	}
	return out, nil
}

func (m *Main) listAccounts(ctx context.Context, at *storeFlags) error {
	return m.list(ctx, at, func(a *admin.Admin, w io.Writer) error {
		found, err := a.ListAccounts(ctx)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, "id\tmerchant\tkind\tcurrency\tmethod\tsecond\tstatus\trotated\tbase url"); err != nil {
			return err
		}
		for _, one := range found {
			second := "-"
			if one.Second {
				second = "second"
			}
			_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", one.ID, one.Merchant, one.Kind, one.Currency, one.Method, second,
				one.Status, one.RotatedAt.Format(time.RFC3339), one.BaseURL)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
