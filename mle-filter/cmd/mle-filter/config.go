package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/program"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Config is the configuration file; configs/mle-filter.yaml explains each key. Flags override it.
type Config struct {
	Listen       string           `yaml:"listen"`
	Certificate  string           `yaml:"certificate"`
	PrivateKey   string           `yaml:"private_key"`
	Admin        string           `yaml:"admin"`
	ExtProc      string           `yaml:"extproc"`
	V1           string           `yaml:"v1"`
	V1CA         string           `yaml:"v1_ca"`
	Compat       string           `yaml:"compat"`
	FilterSecret config.Secret    `yaml:"filter_secret"`
	Operator     string           `yaml:"operator"`
	FilterToken  config.Secret    `yaml:"filter_token"`
	Keys         config.Secret    `yaml:"keys"`
	KEK          config.Secret    `yaml:"kek"`
	OldKEK       config.Secret    `yaml:"old_kek"`
	Rotation     Rotation         `yaml:"rotation"`
	RSABits      int              `yaml:"rsa_bits"`
	SpareKeys    int              `yaml:"spare_keys"`
	Policy       mlefilter.Policy `yaml:"policy"`
	Limits       mlefilter.Limits `yaml:",inline"`
	Concurrency  int              `yaml:"concurrency"`
	Drain        time.Duration    `yaml:"drain"`
	Notice       time.Duration    `yaml:"notice"`
}

// Rotation holds the lifetimes of keys.
type Rotation struct {
	Every        time.Duration `yaml:"every"`
	PublishAhead time.Duration `yaml:"publish_ahead"`
	KeepPrevious time.Duration `yaml:"keep_previous"`
}

// The variables that hold secrets, unless the file names others. With the suffix _FILE, each names
// a file that holds the secret.
const (
	kekVariable    = "CAUSEWAY_MLE_KEK"
	oldVariable    = "CAUSEWAY_MLE_OLD_KEK"
	secretVariable = "CAUSEWAY_FILTER_SECRET"
	tokenVariable  = "CAUSEWAY_FILTER_TOKEN"
	keysVariable   = "CAUSEWAY_MLE_KEYS"
)

// keysFile is the default key store.
const keysFile = "mle.db"

const usage = `mle-filter adds message-level encryption to the v1 service. It decrypts JWE bodies and forwards plain v1
to core. It encrypts the responses for clients that demand it. Requests without encryption pass through. It owns the
private keys and serves /v1/mle/*.

Usage:
  mle-filter [flags]                 serve
  mle-filter seal|open [flags]       encrypt a request or decrypt a response by hand
  mle-filter keys COMMAND [flags]    make and register a merchant's keys; list, rotate and end the service's keys
  mle-filter keyset rotate|rewrap    encrypt the private keys in the store by other keys
  mle-filter health [--admin ADDR]   check the health of a running mle-filter, on its operators' port (127.0.0.1:9082)
  mle-filter version

Examples:
  CAUSEWAY_MLE_KEK_FILE=./mle-kek mle-filter --v1 http://127.0.0.1:8080 --keys ./mle.db
        keys in a file; the next start needs the same key-encryption key
  mle-filter --config configs/mle-filter.yaml --listen :9090
        settings from the file, except the address
  mle-filter seal --help
  mle-filter keys --help
  mle-filter keyset --help

Signals:
  SIGTERM, SIGINT  give notice, stop listening, complete the requests in progress, exit;
                   a second signal exits immediately

Environment; each variable also with the suffix _FILE, for a file that holds the value:
  CAUSEWAY_MLE_KEK        the key-encryption key: 32 bytes in base64, the same for all filters on one store
  CAUSEWAY_MLE_OLD_KEK    the previous key-encryption key, during a rotation (none)
  CAUSEWAY_MLE_KEYS       the key store, unless --keys or the file names it: a postgres:// URL has a password
  CAUSEWAY_FILTER_SECRET  proves to core that a request passed mle-filter; core has the same secret (none)
  CAUSEWAY_HOP_SECRET     authenticates the client address between the programs, the same for all of them (none)
  CAUSEWAY_FILTER_TOKEN   core's token for rotation events to merchants; see operator in the configuration file (none)

Exit codes:
  0  stopped cleanly, or success
  1  the start, the stop or the command failed
  2  wrong flags

Flags:
`

// defaults returns the default settings.
func defaults() Config {
	return Config{Listen: "127.0.0.1:8082", V1: "http://127.0.0.1:8080"}
}

// errUnannounced rejects a requirement for all merchants that has no date.
var errUnannounced = errors.New(
	"policy: routes: mle and response_mle: want off or optional. core mle announce requires encryption, with notice",
)

// checkRoutes rejects a table that requires encryption of all merchants. Core announces such a
// requirement, with a date. A merchant's own requirement is in merchants.
func checkRoutes(p mlefilter.Policy) error {
	for _, r := range p.Routes {
		if r.MLE == policy.Required || r.Response == policy.Required {
			return errUnannounced
		}
	}
	return nil
}

// source returns the key store's path or URL, which can contain a password.
func (c *Config) source() (string, error) {
	at, err := c.Keys.ResolveOr(os.Getenv, keysVariable)
	if err != nil {
		return "", fmt.Errorf("keys: %w", err)
	}
	return cmp.Or(at.Reveal(), keysFile), nil
}

// ParseFlags parses the command line and the configuration file. It returns flag.ErrHelp after
// showing the help.
func (m *Main) ParseFlags(args []string) error {
	m.Config = defaults()
	c, fs := &m.Config, program.Flags(name, m.Stderr, usage)
	file := fs.String("config", "", "configuration `file`; configs/mle-filter.yaml explains every key")
	fs.StringVar(&c.Listen, "listen", c.Listen, "`address` to serve on; port 0 picks one")
	fs.StringVar(&c.Admin, "admin", c.Admin, "`address` of the operators' port: Prometheus metrics at /metrics, and "+
		"/health (default none)")
	fs.StringVar(&c.ExtProc, "extproc", c.ExtProc, "unix `socket` of the external processor for Envoy (default none)")
	fs.StringVar(&c.V1, "v1", c.V1, "base `URL` of the v1 service")
	fs.Var(&keysFlag{to: &c.Keys}, "keys", "key store: an SQLite `file`, or a postgres:// URL that filters can share "+
		"(default "+keysFile+")")
	if err := program.Parse(fs, args, 0); err != nil {
		return err
	}
	return program.LoadConfig(fs, *file, c)
}

// keysFlag is the flag --keys. Its value is visible on the command line, but kept as a secret
// afterwards.
type keysFlag struct {
	to    *config.Secret
	given string
}

// String implements flag.Value. program.LoadConfig sets the returned value again over the file's.
func (k *keysFlag) String() string { return k.given }

// Set implements flag.Value.
func (k *keysFlag) Set(at string) error {
	k.given, *k.to = at, config.Literal(secret.New(at))
	return nil
}

// misused reports a wrong command line.
func (m *Main) misused(format string, args ...any) error {
	return program.Misused(m.Stderr, name, format, args...)
}
