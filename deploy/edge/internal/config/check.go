package config

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxBody is the largest configurable body that Envoy may buffer.
	maxBody = 16 << 20
	// maxAge is the longest time that a certificate may be served: edge certificates rotate every 60
	// to 90 days.
	maxAge = 90 * 24 * time.Hour
	day    = 24 * time.Hour
)

// name is the form of an upstream's name, which is also the name of its cluster and in its metrics.
var name = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// reserved are the names of our own clusters.
var reserved = []string{"edge", "acme", "mle-extproc", "xds"}

// check reports every fault.
func (c *Config) check(f *faults) {
	c.checkHosts(f)
	c.checkAddresses(f)
	c.checkXDS(f)
	_, err := c.Policy()
	f.err("tls", err)
	c.checkCertificates(f)
	c.checkUpstreams(f)
	c.checkRoutes(f)
	c.checkLimits(f)
	if c.Operator != "" {
		f.err("operator", checkURL(c.Operator, "http", "https"))
	}
	if c.Data == "" {
		f.add("data", "want a folder that survives a restart")
	}
}

func (c *Config) checkHosts(f *faults) {
	if len(c.Hosts) == 0 {
		f.add("hosts", "want at least one host name")
	}
	for i, h := range c.Hosts {
		key := fmt.Sprintf("hosts[%d]", i)
		if strings.HasPrefix(h, "*.") {
			f.add(key, "%q: name each host; the certificate may still have a wildcard", h)
		} else if !isHost(h) {
			f.add(key, "%q is not a host name: want lower case and no port", h)
		}
		if slices.Contains(c.Hosts[:i], h) {
			f.add(key, "%q: listed twice", h)
		}
	}
	if c.Trust.URL == "" {
		return // the host is missing
	}
	if err := checkURL(c.Trust.URL, "https"); err != nil {
		f.err("trust.url", err)
		return
	}
	if path := strings.TrimSuffix(c.trust().Path, "/"); path != "" {
		if p, err := ParsePattern(path); err != nil || p.Rest || slices.Contains(p.Segments, "{}") {
			f.add("trust.url", "%q: want a path without {}, /**, // and the segments . and ..", path)
		}
	}
	if port := c.trust().Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			f.add("trust.url", "port %s: want 1 to 65535", port)
		}
	}
	if !isHost(c.TrustHost()) {
		f.add("trust.url", "%q is not a host name in lower case", c.TrustHost())
	}
}

func checkURL(text string, schemes ...string) error {
	if strings.Contains(text, "@") {
		return errors.New("the URL must not contain a login; its value is not shown, because it may hold a password")
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || !slices.Contains(schemes, u.Scheme) || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%q: want a URL that begins with %s:// and has a host, no query and no fragment", text,
			strings.Join(schemes, ":// or "))
	}
	return nil
}

func (c *Config) checkXDS(f *faults) {
	x := c.XDS
	if x.Cluster == "" || len(x.Cluster) > 64 {
		f.add("xds.cluster", "%q: want 1 to 64 characters: the cluster of the Envoys that may connect", x.Cluster)
	}
	if a, err := ParseAddress(x.Listen); err != nil {
		return // already reported
	} else if a.IsUnix() {
		if x.Certificate != "" || x.PrivateKey != "" || x.ClientCA != "" {
			f.add("xds.certificate", "remove certificate, private_key and client_ca: a unix socket has no TLS")
		}
		return
	}
	for _, file := range []struct{ key, path string }{
		{"xds.certificate", x.Certificate}, {"xds.private_key", x.PrivateKey}, {"xds.client_ca", x.ClientCA},
	} {
		if file.path == "" {
			f.add(file.key, "want a file, because xds.listen is not a unix socket and the resources contain private keys")
		} else if _, err := os.Stat(file.path); err != nil {
			f.err(file.key, err)
		}
	}
}

func (c *Config) checkCertificates(f *faults) {
	s := c.Certificates
	switch {
	case s.Folder == "" && s.ACME == nil:
		f.add("certificates", "want folder or acme")
	case s.Folder != "" && s.ACME != nil:
		f.add("certificates", "folder and acme are both set: remove one")
	}
	if s.PublishAhead < 0 || s.PublishAhead > 30*day {
		f.add("certificates.publish_ahead", "%s: want 0 to 720h", s.PublishAhead)
	}
	if s.ACME == nil {
		return
	}
	f.err("certificates.acme.directory", checkURL(s.ACME.Directory, "https"))
	if s.ACME.CA != "" {
		_, err := readAuthorities(s.ACME.CA)
		f.err("certificates.acme.ca", err)
	}
	for i, challenge := range s.ACME.Challenges {
		key := fmt.Sprintf("certificates.acme.challenges[%d]", i)
		switch {
		case challenge != ChallengeHTTP && challenge != ChallengeTLSALPN:
			f.add(key, "%q: want %s or %s", challenge, ChallengeTLSALPN, ChallengeHTTP)
		case slices.Contains(s.ACME.Challenges[:i], challenge):
			f.add(key, "%q: listed twice", challenge)
		case challenge == ChallengeHTTP && c.Listen.HTTP == "":
			f.add(key, "%s needs plain HTTP: set listen.http", challenge)
		}
	}
	if s.ACME.RenewAfter < day || s.ACME.RenewAfter > maxAge {
		f.add("certificates.acme.renew_after", "%s: want 24h to 2160h, because certificates must be renewed within 90 days",
			s.ACME.RenewAfter)
	}
}

// readAuthorities reads a PEM file with at least one certificate.
func readAuthorities(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !x509.NewCertPool().AppendCertsFromPEM(text) {
		return nil, errors.New("want a PEM file with a certificate: " + path + " has none")
	}
	return text, nil
}

func (c *Config) checkLimits(f *faults) {
	l := c.Limits
	if l.MaxBody < 1<<10 || l.MaxBody > maxBody {
		f.add("limits.max_body", "%d: want %d to %d", l.MaxBody, 1<<10, maxBody)
	}
	if l.Rate < 0 || l.Rate > maxRate {
		f.add("limits.rate", "%d: want 0 to %d", l.Rate, maxRate)
	}
	switch {
	case l.Burst < 0 || l.Burst > burstSeconds*maxRate:
		f.add("limits.burst", "%d: want 0 to %d", l.Burst, burstSeconds*maxRate)
	case l.Rate == 0 && l.Burst > 0:
		f.add("limits.burst", "%d: want 0, or set limits.rate too", l.Burst)
	case l.Rate > 0 && l.Burst < l.Rate:
		f.add("limits.burst", "%d: want at least limits.rate, which is %d", l.Burst, l.Rate)
	}
	if l.Timeout < time.Second || l.Timeout > 10*time.Minute {
		f.add("limits.timeout", "%s: want 1s to 10m", l.Timeout)
	}
	if c.Drain < 0 || c.Drain > 10*time.Minute {
		f.add("drain", "%s: want 0 to 10m", c.Drain)
	}
}
