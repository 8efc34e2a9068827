package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/program"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The variables of the deduplication secrets, if the configuration file does not set them. With
// _FILE appended, they name files.
const (
	secretVariable = "CAUSEWAY_DEDUPLICATION_SECRET" //nolint:gosec // the name of a variable
	otherVariable  = "CAUSEWAY_DEDUPLICATION_SECRET_OTHER"
)

// Config is the configuration file; configs/compat-proxy.yaml explains each key. Flags override it.
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

const usage = `compat-proxy converts the requests of legacy payment clients to calls of the v1 API.

It keeps no state: start any number of proxies, before or after the v1 service.

Usage:
  compat-proxy [flags]
  compat-proxy credentials issue|map|list|revoke|check [flags]
  compat-proxy health [--admin ADDR]   check a running proxy at its operators' port (127.0.0.1:9081)
  compat-proxy version

Examples:
  CAUSEWAY_DEDUPLICATION_SECRET_FILE=secret compat-proxy --v1 http://127.0.0.1:8080
        clients log in with a v1 API key as their transaction key
  compat-proxy --config configs/compat-proxy.yaml --listen :9090
        settings from the file, except the address
  compat-proxy --v1 https://core.internal --credentials configs/compat-credentials.yaml --drop-in-paths
        clients keep their login and change only the host name
  compat-proxy credentials --help
        issue, map, list, revoke and check the logins of legacy clients

Environment:
  CAUSEWAY_HOP_SECRET  authenticates client addresses that a proxy in front forwards; the same for all programs (none).
                   CAUSEWAY_HOP_SECRET_FILE names a file with it
  CAUSEWAY_DEDUPLICATION_SECRET        secret of the idempotency keys, at least 32 bytes (openssl rand -base64 32): the
                                       same for all proxies in front of one v1. Required
  CAUSEWAY_DEDUPLICATION_SECRET_OTHER  during a rotation: the next secret, then the previous one (none)
  Each can be in a file instead: CAUSEWAY_DEDUPLICATION_SECRET_FILE, CAUSEWAY_DEDUPLICATION_SECRET_OTHER_FILE.
  SSL_CERT_FILE    a PEM file with the trusted authorities for an https v1, instead of the system's

Signals:
  SIGTERM, SIGINT  give notice, stop listening, finish the open requests, exit; a second signal exits immediately
  SIGHUP           read the credentials files and their secrets again

Exit codes:
  0  stopped by a signal
  1  could not start, or could not finish the open requests
  2  wrong flags

Flags:
`

// ParseFlags reads the command line and the configuration file. It returns flag.ErrHelp after it
// has shown the help.
func (m *Main) ParseFlags(args []string) error {
	m.Config = Config{Listen: "127.0.0.1:8081", V1: "http://127.0.0.1:8080"}
	c, fs := &m.Config, program.Flags(name, m.Stderr, usage)
	file := fs.String("config", "", "configuration `file`; configs/compat-proxy.yaml explains every key")
	fs.StringVar(&c.Listen, "listen", c.Listen, "`address` for plain HTTP; port 0 picks a free port")
	fs.StringVar(&c.Admin, "admin", c.Admin,
		"`address` for operators: Prometheus metrics at /metrics, and /health (default none)")
	fs.StringVar(&c.V1, "v1", c.V1, "base `URL` of the v1 service")
	fs.StringVar(&c.Credentials, "credentials", c.Credentials,
		"`file` that maps legacy logins to API keys, together with the folder FILE.d (default none)")
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
