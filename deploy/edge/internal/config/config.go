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

// Config is the configuration file; configs/edge.yaml says what each key means. Load makes one that has been checked.
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
	// HopSecret authenticates the client address that Envoy forwards: httpx.HopSecret of the
	// environment.
	HopSecret secret.String `yaml:"-"`
}

// Trust is where the world reads about certificates.
type Trust struct {
	URL string `yaml:"url"`
}

// Listen is what Envoy listens on.
type Listen struct {
	HTTPS string `yaml:"https"`
	HTTP  string `yaml:"http"`
}

// XDS is where Envoys ask for their configuration.
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

// Certificates is where they come from: one of Folder and ACME.
type Certificates struct {
	PublishAhead time.Duration `yaml:"publish_ahead"`
	Folder       string        `yaml:"folder"`
	ACME         *ACME         `yaml:"acme"`
}

// ACME is an authority.
type ACME struct {
	Directory  string        `yaml:"directory"`
	Email      string        `yaml:"email"`
	CA         string        `yaml:"ca"`
	Challenges []string      `yaml:"challenges"`
	RenewAfter time.Duration `yaml:"renew_after"`
	Listen     string        `yaml:"listen"`
}

// The challenges of ACME that the edge can answer.
const (
	ChallengeHTTP    = "http-01"
	ChallengeTLSALPN = "tls-alpn-01"
)

// Upstream is where requests can go.
type Upstream struct {
	Address    string `yaml:"address"`
	CA         string `yaml:"ca"`
	ServerName string `yaml:"server_name"`
	Health     string `yaml:"health"`
	// Authority is what the file at CA holds.
	Authority []byte `yaml:"-"`
}

// ExtProc is the external processor that takes message-level encryption off.
type ExtProc struct {
	Address        string        `yaml:"address"`
	MessageTimeout time.Duration `yaml:"message_timeout"`
}

// Limits bound what clients may ask for.
type Limits struct {
	MaxBody int           `yaml:"max_body"`
	Rate    int           `yaml:"rate"`
	Burst   int           `yaml:"burst"`
	Timeout time.Duration `yaml:"timeout"`
}

// Load reads a file and checks it. What is wrong with what the keys say is a *FaultsError, with all of it.
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

// Decode is Load for bytes; name stands for the file in errors.
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

// defaults are what holds where the file says nothing.
func defaults() Config {
	return Config{
		Data:         "data/edge",
		Listen:       Listen{HTTPS: "0.0.0.0:8443", HTTP: "0.0.0.0:8000"},
		XDS:          XDS{Listen: "unix:data/edge/xds.sock", Cluster: "causeway-edge"},
		HTTP:         "unix:data/edge/http.sock",
		TLS:          TLS{MinimumVersion: "1.2"},
		Certificates: Certificates{PublishAhead: 24 * time.Hour},
		ExtProc:      ExtProc{MessageTimeout: 6 * time.Second},
		Limits:       Limits{MaxBody: 256 << 10, Timeout: time.Minute},
		Drain:        10 * time.Second,
	}
}

// finish fills in what depends on other keys, and checks.
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
	return map[string]Upstream{"core": {Address: "127.0.0.1:8080", Health: "/v1/health"}, "compat": {Address: "127.0.0.1:8081"}, "mle": {Address: "127.0.0.1:8082"}}
}

// Policy is the TLS policy, as far as the configuration narrows it.
func (c Config) Policy() (tlspolicy.Policy, error) {
	return tlspolicy.Policy{}.Narrow(c.TLS.MinimumVersion, c.TLS.CipherSuites)
}

// Names are all that the certificate must be good for: the hosts, and that of the trust URL.
func (c Config) Names() []string {
	names := append([]string(nil), c.Hosts...)
	for _, h := range c.Hosts {
		if h == c.TrustHost() {
			return names
		}
	}
	return append(names, c.TrustHost())
}

// TrustHost is the host of the trust URL.
func (c Config) TrustHost() string { return c.trust().Hostname() }

// CalendarPath is the path of the calendar of certificates, on the trust host.
func (c Config) CalendarPath() string {
	return strings.TrimSuffix(c.trust().Path, "/") + "/calendar.ics"
}

func (c Config) trust() *url.URL {
	u, err := url.Parse(c.Trust.URL)
	if err != nil {
		return &url.URL{} // it was refused
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

// FaultsError is all that is wrong with a file.
type FaultsError struct {
	File   string
	Faults []Fault
}

// Fault is one thing that is wrong.
type Fault struct {
	Key string // as in routes[2].upstream
	Why string
}

// Error has a line for each fault.
func (r *FaultsError) Error() string {
	lines := make([]string, 0, len(r.Faults))
	for _, f := range r.Faults {
		lines = append(lines, fmt.Sprintf("%s: %s: %s", r.File, f.Key, f.Why))
	}
	return strings.Join(lines, "\n")
}

// faults gathers.
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

// TrustPort is the port by which the world comes in by HTTPS: that of the trust URL.
func (c Config) TrustPort() uint16 {
	if n, err := strconv.ParseUint(c.trust().Port(), 10, 16); err == nil && n > 0 {
		return uint16(n)
	}
	return 443
}
