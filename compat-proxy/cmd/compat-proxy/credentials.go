package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/program"
	"github.com/causeway-pay/causeway/shared/secret"
)

//nolint:gosec // it speaks of credentials and holds none
const credentialsUsage = `compat-proxy credentials maps legacy logins to API keys. It writes one file for each login into the folder FILE.d
beside the credentials file, and leaves the credentials file to the person who edits it. A proxy that serves from
that file uses a change within a second; nothing needs a restart.

Usage:
  compat-proxy credentials issue  --name NAME (--api-key-env VAR | --api-key-file PATH) [flags]
        makes a login with a fresh transaction key, and shows that key once
  compat-proxy credentials map    --name NAME (--transaction-key-env VAR | --transaction-key-file PATH)
                                  (--api-key-env VAR | --api-key-file PATH) [flags]
        takes up a login that a client already has, so that the client changes nothing but where it points
  compat-proxy credentials list   [--provider NAME]
  compat-proxy credentials revoke --name NAME [--provider NAME]
        removes the file of the login: the client is refused from then on; its API key goes on to exist
  compat-proxy credentials check
        reads all files as the proxy would, and says what is wrong

The same for clients of provider-b, whose name is their merchant id:
  compat-proxy credentials issue  --provider provider-b --name MERCHANT [--secret-file PATH] [--p12 PATH] (--api-key-env VAR | --api-key-file PATH)
        makes a key id with a shared secret, which is written to one new file, or a certificate in a P12, which is another, or both
  compat-proxy credentials map    --provider provider-b --name MERCHANT (--api-key-env VAR | --api-key-file PATH)
                                  [--key-id ID (--secret-env VAR | --secret-file PATH)] [--certificate-file PATH]
        takes up a key, a certificate or both that a client already has

No secret is written into these files: of a transaction key only a hash, of an API key and a shared secret only where they stand.

Examples:
  compat-proxy credentials issue --name shop-eu --api-key-env SHOP_EU_API_KEY --currency eur
  compat-proxy credentials map --name oldshop --transaction-key-file old-key.txt --api-key-file /run/secrets/oldshop-api-key
  compat-proxy credentials revoke --name shop-eu
  compat-proxy credentials issue --provider provider-b --name shop_eu --secret-file /run/secrets/shop-eu --api-key-env SHOP_EU_API_KEY

Exit codes:
  0  done
  1  not done; the files are as they were
  2  wrong flags

Flags:
`

// credentialsFlags are the flags of all five commands.
type credentialsFlags struct {
	file, keyEnv, keyFile string
	replace               bool
	entry                 credentials.Entry
	provider              string
	b                     loginB
}

// Credentials runs a credentials command. The error is program.ErrUsage when the flags were wrong and that was said.
func (m *Main) Credentials(args []string) error {
	command := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		command, args = args[0], args[1:]
	}
	var f credentialsFlags
	fs := f.set(m.Stderr)
	if err := program.Parse(fs, args, 0); err != nil {
		return err
	}
	of, known := map[string]credentials.List{"provider-a": credentials.ListA, "provider-b": credentials.ListB}[f.provider]
	if !known {
		return m.misused("there is no provider %q", f.provider)
	}
	switch command {
	case "issue", "map":
		if of == credentials.ListB {
			return m.addCredentialsB(command, f)
		}
		return m.addCredentials(command, f)
	case "list":
		return m.listCredentials(f.file, of)
	case "revoke":
		if f.entry.Name == "" {
			return m.misused("--name is required")
		}
		if err := credentials.Remove(f.file, of, f.entry.Name); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(m.Stdout, "revoked %s\n", f.entry.Name)
		m.warn(f.file)
		return nil
	case "check":
		if err := credentials.Check(f.file); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(m.Stdout, "the files are good")
		return nil
	case "":
		return m.misused("say which: issue, map, list, revoke or check")
	}
	return m.misused("there is no command %q", command)
}

func (f *credentialsFlags) set(out io.Writer) *flag.FlagSet {
	fs := program.Flags(name+" credentials", out, credentialsUsage)
	fs.StringVar(&f.file, "file", "configs/compat-credentials.yaml", "the credentials `file`; it and its folder are created if they are missing")
	fs.StringVar(&f.entry.Name, "name", "", "the client's API login `name`, 1 to 25 characters; of provider-b its merchant id")
	fs.StringVar(&f.provider, "provider", "provider-a", "whose clients' logins: provider-a or provider-b, the `dialect`")
	f.b.set(fs)
	fs.StringVar(&f.entry.APIKeyEnv, "api-key-env", "", "environment `variable` that has the API key where the proxy runs")
	fs.StringVar(&f.entry.APIKeyFile, "api-key-file", "", "`file` that has the API key where the proxy runs")
	fs.StringVar(&f.keyEnv, "transaction-key-env", "", "map: environment `variable` that has the client's transaction key now")
	fs.StringVar(&f.keyFile, "transaction-key-file", "", "map: `file` that has the client's transaction key now")
	fs.StringVar(&f.entry.Currency, "currency", "", "`code` of the currency of amounts that name none (default that of the proxy)")
	fs.StringVar(&f.entry.TimeZone, "time-zone", "", "`name` of where the merchant's clocks hang, such as America/Los_Angeles (default UTC)")
	fs.BoolVar(&f.entry.LenientOrder, "lenient-order", false, "take the elements of its requests in any order")
	fs.BoolVar(&f.entry.UnlinkedRefunds, "unlinked-refunds", false, "let it refund a card without naming the payment; of provider-b a credit")
	fs.BoolVar(&f.replace, "replace", false, "issue, map: take the place of a login of that name")
	return fs
}

func (m *Main) addCredentials(command string, f credentialsFlags) error {
	if f.entry.Name == "" {
		return m.misused("--name is required")
	}
	if (f.entry.APIKeyEnv == "") == (f.entry.APIKeyFile == "") {
		return m.misused("give one of --api-key-env and --api-key-file")
	}
	given := f.keyEnv != "" || f.keyFile != ""
	switch {
	case command == "issue" && given:
		return m.misused("issue makes the transaction key itself; map takes one that a client has")
	case command == "map" && (f.keyEnv == "") == (f.keyFile == ""):
		return m.misused("give one of --transaction-key-env and --transaction-key-file")
	case command == "issue":
		f.entry.TransactionKey = credentials.NewTransactionKey()
	default:
		key, err := transactionKey(f.keyEnv, f.keyFile)
		if err != nil {
			return err
		}
		f.entry.TransactionKey = key
	}
	if err := credentials.Add(f.file, f.entry, f.replace); err != nil {
		return err
	}
	m.warn(f.file)
	_, _ = fmt.Fprintf(m.Stdout, "name:            %s\n", f.entry.Name)
	if command == "issue" {
		_, _ = fmt.Fprintf(m.Stdout, "transaction key: %s\n\nThe key is shown only now.\n", f.entry.TransactionKey.Reveal())
	}
	return nil
}

// warn prints a warning if a proxy would refuse the files, for it uses all of them or none. A secret
// that only the proxy's machine has is the harmless case.
func (m *Main) warn(file string) {
	if err := credentials.Check(file); err != nil {
		_, _ = fmt.Fprintf(m.Stderr, "warning: a proxy that ran here would refuse these files and keep the last good ones: %v\n", err)
	}
}

// transactionKey reads the key that a client has.
func transactionKey(env, file string) (secret.String, error) {
	if env != "" {
		key := os.Getenv(env)
		if key == "" {
			return secret.String{}, fmt.Errorf("the environment variable %s is not set", env)
		}
		return secret.New(key), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return secret.String{}, fmt.Errorf("transaction key: %w", err)
	}
	return secret.New(strings.TrimSpace(string(text))), nil
}

func (m *Main) listCredentials(file string, of credentials.List) error {
	names, err := credentials.Names(file, of)
	if err != nil {
		return err
	}
	for _, name := range names {
		_, _ = fmt.Fprintln(m.Stdout, name)
	}
	return nil
}

// wrong says what is wrong with the command line.
func (m *Main) misused(format string, args ...any) error {
	return program.Misused(m.Stderr, name+" credentials", format, args...)
}
