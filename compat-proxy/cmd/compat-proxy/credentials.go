package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/program"
	"github.com/causeway-pay/causeway/shared/secret"
)

//nolint:gosec // the text mentions credentials and contains none
const credentialsUsage = `compat-proxy credentials maps legacy logins to API keys. It writes one file for each login
into the folder FILE.d, next to the credentials file FILE. Only operators edit FILE. A proxy that uses FILE applies a
change within a second, without a restart.

Usage:
  compat-proxy credentials issue  --name NAME (--api-key-env VAR | --api-key-file PATH) [flags]
        makes a login with a new transaction key, and shows the key once
  compat-proxy credentials map    --name NAME (--transaction-key-env VAR | --transaction-key-file PATH)
                                  (--api-key-env VAR | --api-key-file PATH) [flags]
        adds the login that a client already has, so that the client changes only the host name
  compat-proxy credentials list   [--provider NAME]
        prints each login with its provider and the file or variable of its API key
  compat-proxy credentials revoke --name NAME [--provider NAME]
        removes the file of the login. The proxy then rejects the client. The API key stays valid.
        If another file is broken, the proxy rejects the client all the same
  compat-proxy credentials check
        reads all files as the proxy does, and reports the first error

For clients of provider-b, the name is the merchant id:
  compat-proxy credentials issue  --provider provider-b --name MERCHANT [--secret-file PATH] [--p12 PATH]
                                  (--api-key-env VAR | --api-key-file PATH)
        makes a key id with a shared secret in a new file, or a certificate in a new P12 file, or both
  compat-proxy credentials map    --provider provider-b --name MERCHANT (--api-key-env VAR | --api-key-file PATH)
                                  [--key-id ID (--secret-env VAR | --secret-file PATH)] [--certificate-file PATH]
        adds the key, the certificate or both that a client already has

These files contain no secrets: only the hash of a transaction key, and the variable or file of an API key, a signature
key or a shared secret.

issue and map read the files that they name, and refuse a key that the proxy could not use.

Examples:
  compat-proxy credentials issue --name shop-eu --api-key-env SHOP_EU_API_KEY --currency eur
  compat-proxy credentials map --name oldshop --transaction-key-file old-key.txt \
        --api-key-file /run/secrets/oldshop-api-key --signature-key-file /run/secrets/oldshop-signature-key
  compat-proxy credentials revoke --name shop-eu
  compat-proxy credentials map --file data/compat-credentials.yaml --name oldshop \
        --transaction-key-file old-key.txt --api-key-file api-key.txt    # for make run
  compat-proxy credentials issue --provider provider-b --name shop_eu --secret-file /run/secrets/shop-eu \
        --api-key-env SHOP_EU_API_KEY

Exit codes:
  0  done
  1  failed; the files are unchanged
  2  wrong flags

Flags:
`

// The credentials files of a proxy without other settings, and of make run.
const (
	defaultFile     = "configs/compat-credentials.yaml"
	developmentFile = "data/compat-credentials.yaml"
)

// providers are the lists of the credentials files by provider.
var providers = map[string]credentials.List{"provider-a": credentials.ListA, "provider-b": credentials.ListB}

// credentialsFlags are the flags of all five commands.
type credentialsFlags struct {
	file, keyEnv, keyFile string
	replace               bool
	entry                 credentials.Entry
	provider              string
	b                     loginB
}

// Credentials runs a credentials command. It returns program.ErrUsage after it has reported wrong
// flags.
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
	of, known := providers[f.provider]
	if !known {
		return m.misused("unknown provider %q: use provider-a or provider-b", f.provider)
	}
	switch command {
	case "issue", "map":
		if of == credentials.ListB {
			return m.addCredentialsB(command, f)
		}
		return m.addCredentials(command, f)
	case "list":
		shown := slices.Sorted(maps.Keys(providers))
		fs.Visit(func(one *flag.Flag) {
			if one.Name == "provider" {
				shown = []string{f.provider}
			}
		})
		return m.listCredentials(f.file, shown)
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
		_, _ = fmt.Fprintln(m.Stdout, "all credentials files are valid")
		return nil
	case "":
		return m.misused("no command: use issue, map, list, revoke or check")
	}
	return m.misused("unknown command %q: use issue, map, list, revoke or check", command)
}

func (f *credentialsFlags) set(out io.Writer) *flag.FlagSet {
	fs := program.Flags(name+" credentials", out, credentialsUsage)
	fs.StringVar(&f.file, "file", defaultFile,
		"the credentials `file` of the proxy; it and its folder are created if they are missing. "+
			"make run reads "+developmentFile)
	fs.StringVar(&f.entry.Name, "name", "",
		"the client's API login `name`, 1 to 25 characters; for provider-b the merchant id")
	fs.StringVar(&f.provider, "provider", "provider-a",
		"`dialect` of the client: provider-a or provider-b; list: both without the flag")
	f.b.set(fs)
	fs.StringVar(&f.entry.APIKeyEnv, "api-key-env", "", "environment `variable` with the API key, on the proxy's machine")
	fs.StringVar(&f.entry.APIKeyFile, "api-key-file", "", "`file` with the API key, on the proxy's machine")
	fs.StringVar(&f.keyEnv, "transaction-key-env", "",
		"map: environment `variable` with the client's present transaction key")
	fs.StringVar(&f.keyFile, "transaction-key-file", "", "map: `file` with the client's present transaction key")
	fs.StringVar(&f.entry.SignatureKeyEnv, "signature-key-env", "",
		"provider-a: environment `variable` with the key by which the client verifies transHashSha2, on the proxy's machine")
	fs.StringVar(&f.entry.SignatureKeyFile, "signature-key-file", "",
		"provider-a: `file` with that signature key, on the proxy's machine")
	fs.StringVar(&f.entry.Currency, "currency", "", "currency `code` for amounts without one (default the proxy's)")
	fs.StringVar(&f.entry.TimeZone, "time-zone", "",
		"`name` of the merchant's time zone, such as America/Los_Angeles (default UTC)")
	fs.BoolVar(&f.entry.LenientOrder, "lenient-order", false, "accept the elements of requests in any order")
	fs.BoolVar(&f.entry.UnlinkedRefunds, "unlinked-refunds", false,
		"allow refunds to a card without a payment; for provider-b, credits")
	fs.BoolVar(&f.entry.Sandbox, "sandbox", false,
		"behave as the provider's public sandbox does for tests; only with an API key of test mode")
	fs.BoolVar(&f.replace, "replace", false, "issue, map: replace the login of that name")
	return fs
}

func (m *Main) addCredentials(command string, f credentialsFlags) error {
	if f.entry.Name == "" {
		return m.misused("--name is required")
	}
	if (f.entry.APIKeyEnv == "") == (f.entry.APIKeyFile == "") {
		return m.misused("give the API key by either --api-key-env or --api-key-file")
	}
	if f.entry.SignatureKeyEnv != "" && f.entry.SignatureKeyFile != "" {
		return m.misused("give the signature key by either --signature-key-env or --signature-key-file")
	}
	given := f.keyEnv != "" || f.keyFile != ""
	switch {
	case command == "issue" && given:
		return m.misused("--transaction-key-env and --transaction-key-file are only for map; issue makes a new key")
	case command == "map" && (f.keyEnv == "") == (f.keyFile == ""):
		return m.misused("give the transaction key by either --transaction-key-env or --transaction-key-file")
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
	m.wrote(f.file, credentials.ListA, f.entry.Name)
	if command == "issue" {
		_, _ = fmt.Fprintf(m.Stdout, "transaction key: %s\n\nStore the key now: it is not shown again.\n",
			f.entry.TransactionKey.Reveal())
	}
	return nil
}

// wrote prints which file has the login, and which proxies read it.
func (m *Main) wrote(file string, l credentials.List, login string) {
	_, _ = fmt.Fprintf(m.Stdout, "\nWrote %s. A proxy that uses %s accepts the login within a second.\n",
		l.File(file, login), file)
	if file == defaultFile {
		_, _ = fmt.Fprintf(m.Stdout, "make run does not read it: for that, use --file %s\n", developmentFile)
	}
}

// warn prints a warning if a proxy on this machine could not start with the files. The warning can
// be ignored if this machine lacks a secret that the proxy's machine has.
func (m *Main) warn(file string) {
	if err := credentials.Check(file); err != nil {
		_, _ = fmt.Fprintf(m.Stderr, "warning: a proxy on this machine would not start, until this is corrected: %v\n"+
			"A running proxy keeps the last valid version of a broken login, and applies all other changes.\n", err)
	}
}

// transactionKey reads the client's existing key.
func transactionKey(env, file string) (secret.String, error) {
	if env != "" {
		key := os.Getenv(env)
		if key == "" {
			return secret.String{}, fmt.Errorf("transaction key: the environment variable %s is not set", env)
		}
		return secret.New(key), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return secret.String{}, fmt.Errorf("transaction key: %w", err)
	}
	return secret.New(strings.TrimSpace(string(text))), nil
}

// listCredentials prints the logins of some providers, one a line.
func (m *Main) listCredentials(file string, shown []string) error {
	w := tabwriter.NewWriter(m.Stdout, 0, 8, 2, ' ', 0)
	for _, provider := range shown {
		logins, err := credentials.Names(file, providers[provider])
		if err != nil {
			return err
		}
		for _, login := range logins {
			_, _ = fmt.Fprintf(w, "%s\t%s\tAPI key: %s\n", login.Name, provider, login.APIKey)
		}
	}
	return w.Flush()
}

// misused reports a wrong command line.
func (m *Main) misused(format string, args ...any) error {
	return program.Misused(m.Stderr, name+" credentials", format, args...)
}
