package config

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// Config is the configuration file; configs/edge.yaml explains each key. Load returns a checked
// one.
type Config struct {
	Hosts        []string            `yaml:"hosts"`
	Trust        Trust               `yaml:"trust"`
	Data         string              `yaml:"data"`
	Listen       Listen              `yaml:"listen"`
	XDS          XDS                 `yaml:"xds"`
	HTTP         string              `yaml:"http"`
	Admin        string              `yaml:"admin"`
	TLS          TLS                 `yaml:"tls"`
	Certificates Certificates        `yaml:"certificates"`
	Upstreams    map[string]Upstream `yaml:"upstreams"`
	ExtProc      ExtProc             `yaml:"extproc"`
	Routes       []Route             `yaml:"routes"`
	Limits       Limits              `yaml:"limits"`
	Operator     string              `yaml:"operator"`
	FilterToken  config.Secret       `yaml:"filter_token"`
	Drain        time.Duration       `yaml:"drain"`
	// HopSecret authenticates the client address that Envoy forwards. It is httpx.HopSecret of the
	// environment.
	HopSecret secret.String `yaml:"-"`
}

// Trust configures the public pages about certificates.
type Trust struct {
	URL string `yaml:"url"`
}

// Listen has the addresses of Envoy's listeners.
type Listen struct {
	HTTPS string `yaml:"https"`
	HTTP  string `yaml:"http"`
}

// XDS has the address at which Envoys request their resources.
type XDS struct {
	Listen      string `yaml:"listen"`
	Certificate string `yaml:"certificate"`
	PrivateKey  string `yaml:"private_key"`
	ClientCA    string `yaml:"client_ca"`
	Cluster     string `yaml:"cluster"`
}

// TLS narrows the policy.
type TLS struct {
	MinimumVersion string   `yaml:"minimum_version"`
	CipherSuites   []string `yaml:"cipher_suites"`
}

// Certificates has the source of the certificates: Folder or ACME.
type Certificates struct {
	PublishAhead time.Duration `yaml:"publish_ahead"`
	Folder       string        `yaml:"folder"`
	ACME         *ACME         `yaml:"acme"`
}

// ACME is an ACME authority.
type ACME struct {
	Directory  string        `yaml:"directory"`
	Email      string        `yaml:"email"`
	CA         string        `yaml:"ca"`
	Challenges []string      `yaml:"challenges"`
	RenewAfter time.Duration `yaml:"renew_after"`
	Listen     string        `yaml:"listen"`
}

// The supported ACME challenges.
const (
	ChallengeHTTP    = "http-01"
	ChallengeTLSALPN = "tls-alpn-01"
)

// Upstream is a target of routes.
type Upstream struct {
	Address    string `yaml:"address"`
	CA         string `yaml:"ca"`
	ServerName string `yaml:"server_name"`
	Health     string `yaml:"health"`
	// Authority is the content of the file at CA.
	Authority []byte `yaml:"-"`
}

// ExtProc is the external processor for message-level encryption.
type ExtProc struct {
	Address        string        `yaml:"address"`
	MessageTimeout time.Duration `yaml:"message_timeout"`
}

// Limits has the limits for clients.
type Limits struct {
	MaxBody int           `yaml:"max_body"`
	Rate    int           `yaml:"rate"`
	Burst   int           `yaml:"burst"`
	Timeout time.Duration `yaml:"timeout"`
}

// Load reads a file and checks it. For faults in the values it returns a *FaultsError with all of
// them.
func Load(path string) (Config, error) {
	c := defaults()
	if err := config.Load(path, &c); err != nil {
		return Config{}, err
	}
	if err := c.finish(path); err != nil {
		return Config{}, err
	}
	return c, nil
}

// Decode is Load for bytes; name is the name of the file in errors.
func Decode(name string, data []byte) (Config, error) {
	c := defaults()
	if err := config.Decode(name, data, &c); err != nil {
		return Config{}, err
	}
	if err := c.finish(name); err != nil {
		return Config{}, err
	}
	return c, nil
}

// defaultRate is the default number of requests a second of one address. core has the same default
// for one API key.
const defaultRate = 1000

// defaults returns the values of keys that the file omits.
func defaults() Config {
	return Config{
		Data:         "data/edge",
		Listen:       Listen{HTTPS: "0.0.0.0:8443", HTTP: "0.0.0.0:8000"},
		XDS:          XDS{Listen: "unix:data/edge/xds.sock", Cluster: "causeway-edge"},
		HTTP:         "unix:data/edge/http.sock",
		TLS:          TLS{MinimumVersion: "1.2"},
		Certificates: Certificates{PublishAhead: 24 * time.Hour},
		ExtProc:      ExtProc{MessageTimeout: 6 * time.Second},
		Limits:       Limits{MaxBody: 256 << 10, Rate: defaultRate, Timeout: time.Minute},
		Drain:        10 * time.Second,
	}
}

// finish sets the defaults that depend on other keys, and checks the result.
func (c *Config) finish(file string) error {
	if c.Trust.URL == "" && len(c.Hosts) > 0 {
		c.Trust.URL = "https://" + c.Hosts[0] + "/v1/trust"
	}
	if len(c.Routes) == 0 {
		c.Routes = defaultRoutes()
	}
	if c.Upstreams == nil {
		c.Upstreams = defaultUpstreams()
	}
	c.Limits.Burst = cmp.Or(c.Limits.Burst, c.Limits.Rate)
	if a := c.Certificates.ACME; a != nil {
		a.RenewAfter = cmp.Or(a.RenewAfter, 60*24*time.Hour)
		a.Listen = cmp.Or(a.Listen, "unix:data/edge/acme.sock")
		if len(a.Challenges) == 0 {
			a.Challenges = []string{ChallengeTLSALPN, ChallengeHTTP}
		}
	}
	f := &faults{}
	c.check(f)
	if len(f.all) > 0 {
		return &FaultsError{File: file, Faults: f.all}
	}
	return nil
}

func defaultUpstreams() map[string]Upstream {
	return map[string]Upstream{
		"core": {Address: "127.0.0.1:8080", Health: "/v1/health"}, "compat": {Address: "127.0.0.1:8081"},
		"mle": {Address: "127.0.0.1:8082"},
	}
}

// Policy returns the TLS policy, narrowed by the configuration.
func (c Config) Policy() (tlspolicy.Policy, error) {
	return tlspolicy.Policy{}.Narrow(c.TLS.MinimumVersion, c.TLS.CipherSuites)
}

// Names returns all hosts that the certificate must name: the hosts, and the one of the trust URL.
func (c Config) Names() []string {
	names := append([]string(nil), c.Hosts...)
	for _, h := range c.Hosts {
		if h == c.TrustHost() {
			return names
		}
	}
	return append(names, c.TrustHost())
}

// TrustHost returns the host of the trust URL.
func (c Config) TrustHost() string { return c.trust().Hostname() }

// CalendarPath returns the path of the calendar of certificates, on the trust host.
func (c Config) CalendarPath() string {
	return strings.TrimSuffix(c.trust().Path, "/") + "/calendar.ics"
}

func (c Config) trust() *url.URL {
	u, err := url.Parse(c.Trust.URL)
	if err != nil {
		return &url.URL{} // check has rejected it
	}
	return u
}

// Uses reports whether the authority may use a challenge.
func (a *ACME) Uses(challenge string) bool {
	if a == nil {
		return false
	}
	for _, c := range a.Challenges {
		if c == challenge {
			return true
		}
	}
	return false
}

// FaultsError has all faults of a file.
type FaultsError struct {
	File   string
	Faults []Fault
}

// Fault is one fault.
type Fault struct {
	Key string // such as routes[2].upstream
	Why string
}

// Error returns a line for each fault.
func (r *FaultsError) Error() string {
	lines := make([]string, 0, len(r.Faults))
	for _, f := range r.Faults {
		lines = append(lines, fmt.Sprintf("%s: %s: %s", r.File, f.Key, f.Why))
	}
	return strings.Join(lines, "\n")
}

// faults collects faults.
type faults struct{ all []Fault }

func (f *faults) add(key, why string, args ...any) {
	f.all = append(f.all, Fault{Key: key, Why: fmt.Sprintf(why, args...)})
}

// err adds an error, if there is one.
func (f *faults) err(key string, err error) {
	if err != nil {
		f.add(key, "%s", err)
	}
}

// TrustPort returns the public port of HTTPS: the one of the trust URL.
func (c Config) TrustPort() uint16 {
	if n, err := strconv.ParseUint(c.trust().Port(), 10, 16); err == nil && n > 0 {
		return uint16(n)
	}
	return 443
}
