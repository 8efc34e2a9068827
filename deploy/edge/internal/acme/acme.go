package acme

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/certmagic"
	rfc "github.com/mholt/acmez/v3/acme"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// Settings are the settings of a Source.
type Settings struct {
	Directory  string           // an https URL
	Email      string           // for warnings of the authority; may be empty
	Trust      *x509.CertPool   // authorities of the ACME server's HTTPS; nil: the system's
	Roots      *x509.CertPool   // the clients' authorities; nil: the system's. A chain to another root is only a warning
	Hosts      []string         // names and addresses, all in one certificate
	Policy     tlspolicy.Policy // of the listener; ordered certificates have P-256 keys
	HTTP01     bool             // enabled challenges, at least one
	TLSALPN01  bool
	Folder     string        // of the account and the certificate
	RenewAfter time.Duration // 0: 60 days

	Clock clock.Clock   // nil: the machine's clock
	Log   *slog.Logger  // nil: the default log
	Look  time.Duration // interval of the checks; 0: a minute
}

// Source orders a certificate from an authority and renews it. Make it with New; it is safe for
// concurrent use.
type Source struct {
	Settings
	rules  certfile.Rules
	store  store
	cache  *certmagic.Cache
	config *certmagic.Config
	issuer *certmagic.ACMEIssuer // order sets its ports before each order
	counts counts

	accounts atomic.Int64 // number of registered accounts

	mu     sync.Mutex
	status Status // guarded by mu
}

var _ certfile.Source = (*Source)(nil)

// Status is the state of the source.
type Status struct {
	Renewal  time.Time // of the present certificate; zero without one
	Serial   string    // of that certificate; "" if it does not fit, so that it is replaced immediately
	Failures int       // consecutive failed attempts
	Err      error     // of the last attempt, nil if it succeeded
	Next     time.Time // the next attempt; zero after a success
}

const renewAfter = 60 * day

// New returns a source that is not started.
func New(s Settings) (*Source, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	s.RenewAfter = cmp.Or(s.RenewAfter, renewAfter)
	s.Look = cmp.Or(s.Look, time.Minute)
	if s.Clock == nil {
		s.Clock = clock.System()
	}
	if s.Log == nil {
		s.Log = slog.Default()
	}
	source := &Source{
		Settings: s, rules: certfile.Rules{Hosts: s.Hosts, Roots: s.Roots, OpenRoot: true},
		store: store{files: &certmagic.FileStorage{Path: s.Folder}}, counts: newCounts(),
	}
	log := bridge(s.Log)
	source.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return source.config, nil }, Logger: log,
	})
	source.config = certmagic.New(source.cache, certmagic.Config{Storage: source.store.files, Logger: log})
	source.issuer = certmagic.NewACMEIssuer(source.config, certmagic.ACMEIssuer{
		CA: s.Directory, Email: s.Email, Agreed: true, TrustedRoots: s.Trust, DisableHTTPChallenge: !s.HTTP01,
		DisableTLSALPNChallenge: !s.TLSALPN01,
		ListenHost:              loopback, CertObtainTimeout: challengePatience, Logger: log,
		NewAccountFunc: func(_ context.Context, _ *certmagic.ACMEIssuer, account rfc.Account) (rfc.Account, error) {
			source.accounts.Add(1)
			return account, nil
		},
	})
	// certmagic finds challenges of another process's order by it
	source.config.Issuers = []certmagic.Issuer{source.issuer}
	return source, nil
}

func (s *Settings) check() error {
	switch {
	case s.Directory == "" || s.Folder == "":
		return errors.New("acme: certificates.acme.directory and data are required")
	case len(s.Hosts) == 0:
		return errors.New("acme: hosts: want at least one")
	case !s.HTTP01 && !s.TLSALPN01:
		return errors.New("acme: challenges: want http-01, tls-alpn-01 or both")
	}
	if err := s.Policy.Takes(&ecdsa.PublicKey{Curve: elliptic.P256()}); err != nil {
		return fmt.Errorf("acme: %w", err)
	}
	for _, host := range s.Hosts {
		if strings.Contains(host, "*") {
			return fmt.Errorf("acme: %s: a wildcard takes a challenge by DNS, which is not offered: name the hosts, or bring "+
				"a certificate in a folder", host)
		}
	}
	return nil
}

// Status returns the state of the source.
func (s *Source) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// Renews returns when the source will order the successor of a leaf.
func (s *Source) Renews(leaf *x509.Certificate) time.Time {
	status := s.Status()
	if !status.Renewal.IsZero() && (status.Serial == "" || status.Serial == leaf.SerialNumber.String()) {
		return status.Renewal
	}
	return newIssued(leaf, state{}).due(s.RenewAfter)
}

func (s *Source) setStatus(to Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = to
}
