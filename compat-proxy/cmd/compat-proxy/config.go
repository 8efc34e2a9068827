package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/program"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The variables of the secrets that the configuration file does not name; with _FILE behind them,
// they name files.
const (
	secretVariable = "CAUSEWAY_DEDUPLICATION_SECRET" //nolint:gosec // the name of a variable
	otherVariable  = "CAUSEWAY_DEDUPLICATION_SECRET_OTHER"
)

// Config is the configuration file; configs/compat-proxy.yaml says what each key means. Flags that are given win over it.
type Config struct {
	Listen       string        `yaml:"listen"`
	Admin        string        `yaml:"admin"`
	V1           string        `yaml:"v1"`
	Credentials  string        `yaml:"credentials"`
	DropInPaths  bool          `yaml:"drop_in_paths"`
	Currency     string        `yaml:"currency"`
	LenientOrder bool          `yaml:"lenient_order"`
	CallTimeout  time.Duration `yaml:"call_timeout"`
	TotalTimeout time.Duration `yaml:"total_timeout"`
	Concurrency  int           `yaml:"concurrency"`

	DeduplicationSecret      config.Secret `yaml:"deduplication_secret"`
	DeduplicationSecretOther config.Secret `yaml:"deduplication_secret_other"`

	SignatureAge   time.Duration `yaml:"signature_age"`
	SignatureHosts []string      `yaml:"signature_hosts"`
	Drain          time.Duration `yaml:"drain"`
	Notice         time.Duration `yaml:"notice"`
}

const usage = `compat-proxy takes the requests of legacy payment clients and turns them into calls of the v1 API.

It keeps no state: start as many as you like, before or after the v1 service.

Usage:
  compat-proxy [flags]
  compat-proxy credentials issue|map|list|revoke|check [flags]
  compat-proxy health [--admin ADDR]   ask a running one whether it is well, on its port for operators (127.0.0.1:9081)
  compat-proxy version

Examples:
  CAUSEWAY_DEDUPLICATION_SECRET_FILE=secret compat-proxy --v1 http://127.0.0.1:8080
        clients log in with a v1 API key as their transaction key
  compat-proxy --config configs/compat-proxy.yaml --listen :9090
        settings from the file, but this address
  compat-proxy --v1 https://core.internal --credentials configs/compat-credentials.yaml --drop-in-paths
        clients keep their own login, and need only another host name
  compat-proxy credentials --help
        make, map, list and revoke the logins of legacy clients

Environment:
  CAUSEWAY_HOP_SECRET  authenticates the client address between the programs, the same for all of them (none);
                   CAUSEWAY_HOP_SECRET_FILE names a file that holds it
  CAUSEWAY_DEDUPLICATION_SECRET        what the proxy derives the names of requests under, by which a retry is recognised: the same for all
                                       proxies in front of one v1 (openssl rand -base64 32). Required
  CAUSEWAY_DEDUPLICATION_SECRET_OTHER  while that is replaced: the new one, then the old one (none)
  Each may be given as a file: CAUSEWAY_DEDUPLICATION_SECRET_FILE, CAUSEWAY_DEDUPLICATION_SECRET_OTHER_FILE.
  SSL_CERT_FILE    a PEM file of the authorities that an https v1 is trusted by, in place of the machine's own

Signals:
  SIGTERM, SIGINT  give notice, stop listening, finish the requests under way, exit; a second one: exit
  SIGHUP           read the credentials files and their secrets again

Exit codes:
  0  stopped as asked
  1  could not start, or could not finish the requests under way
  2  wrong flags

Flags:
`

// ParseFlags reads the command line and the file it names. It returns flag.ErrHelp when help was asked for and shown.
func (m *Main) ParseFlags(args []string) error {
	m.Config = Config{Listen: "127.0.0.1:8081", V1: "http://127.0.0.1:8080"}
	c, fs := &m.Config, program.Flags(name, m.Stderr, usage)
	file := fs.String("config", "", "configuration `file`; every key in it is explained in configs/compat-proxy.yaml")
	fs.StringVar(&c.Listen, "listen", c.Listen, "`address` to serve plain HTTP on; port 0 picks one")
	fs.StringVar(&c.Admin, "admin", c.Admin, "`address` for operators: Prometheus metrics at /metrics, and /health (default none)")
	fs.StringVar(&c.V1, "v1", c.V1, "base `URL` of the v1 service")
	fs.StringVar(&c.Credentials, "credentials", c.Credentials, "`file` that maps legacy logins to API keys, with the folder FILE.d beside it (default none)")
	fs.BoolVar(&c.DropInPaths, "drop-in-paths", c.DropInPaths, "also serve the legacy providers' own paths")
	if err := program.Parse(fs, args, 0); err != nil {
		return err
	}
	return program.LoadConfig(fs, *file, c)
}

// secrets resolves the deduplication secrets.
func (c *Config) secrets(getenv func(string) string) (current, other secret.String, err error) {
	if current, err = c.DeduplicationSecret.ResolveOr(getenv, secretVariable); err != nil {
		return current, other, fmt.Errorf("deduplication_secret: %w", err)
	}
	if current.IsZero() {
		return current, other, errors.New("no deduplication secret: set " + secretVariable + " or " + secretVariable +
			config.FileSuffix + ", the same for all proxies in front of one v1 (openssl rand -base64 32)")
	}
	if other, err = c.DeduplicationSecretOther.ResolveOr(getenv, otherVariable); err != nil {
		return current, other, fmt.Errorf("deduplication_secret_other: %w", err)
	}
	return current, other, nil
}
