package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/causeway-pay/causeway/deploy/edge/internal/acme"
	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/socket"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// source returns the source of the certificates. authority is nil unless it is an ACME source.
func (e *edge) source() (from certfile.Source, authority *acme.Source, err error) {
	c := e.config
	policy, err := c.Policy()
	if err != nil {
		return nil, nil, err
	}
	if c.Certificates.ACME == nil {
		return folder(c, policy, e.frame.Log), nil, nil
	}
	a := c.Certificates.ACME
	settings := acme.Settings{
		Directory: a.Directory, Email: a.Email, Hosts: c.Names(), Policy: policy, Folder: filepath.Join(c.Data, "acme"),
		RenewAfter: a.RenewAfter,
		HTTP01:     a.Uses(config.ChallengeHTTP), TLSALPN01: a.Uses(config.ChallengeTLSALPN), Look: e.Look, Log: e.frame.Log,
	}
	if a.CA != "" {
		text, err := os.ReadFile(a.CA)
		if err != nil {
			return nil, nil, err
		}
		settings.Trust = x509.NewCertPool()
		if !settings.Trust.AppendCertsFromPEM(text) {
			return nil, nil, errors.New("certificates.acme.ca: no certificate in " + a.CA)
		}
	}
	authority, err = acme.New(settings)
	return authority, authority, err
}

func folder(c config.Config, policy tlspolicy.Policy, log *slog.Logger) *certfile.Watcher {
	return &certfile.Watcher{
		Path: c.Certificates.Folder, Rules: certfile.Rules{Hosts: c.Names(), Policy: policy, OpenRoot: true}, Log: log,
	}
}

// behindEnvoy runs an authority's source after an Envoy can pass its challenges. An earlier order
// would only fail, and authorities limit failures. Until then the certificate from before a restart
// is served.
type behindEnvoy struct {
	certfile.Source
	envoys func(context.Context) error
}

// Run implements certfile.Source.
func (b behindEnvoy) Run(ctx context.Context, publish func(context.Context, certfile.Update)) error {
	_ = b.envoys(ctx) // an Envoy that refuses a resource does not hold up the others
	select {
	case <-ctx.Done():
		return nil
	default:
		return b.Source.Run(ctx, publish)
	}
}

// handler returns the handler of the requests that Envoy routes to this program: the published
// certificates, and HTTP-01 challenges.
func (e *edge) handler() http.Handler {
	rest := e.publisher.Handler()
	challenges := rest
	if e.authority != nil {
		challenges = httpx.RefuseText(e.authority.Handler())
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpx.CloseUnread(w, r)
		if strings.HasPrefix(r.URL.Path, acme.ChallengePath) {
			challenges.ServeHTTP(w, r)
			return
		}
		rest.ServeHTTP(w, r)
	})
}

// challenges serves TLS-ALPN-01, if it is configured, until ctx ends.
func (e *edge) challenges(ctx context.Context) error {
	a := e.config.Certificates.ACME
	if !a.Uses(config.ChallengeTLSALPN) {
		return nil
	}
	l, err := listenOn(ctx, a.Listen)
	if err != nil {
		return fmt.Errorf("certificates.acme.listen: %w", err)
	}
	e.authority.ServeTLS(ctx, l)
	return nil
}

// listenOn listens on unix:PATH or host:port.
func listenOn(ctx context.Context, address string) (net.Listener, error) {
	if path, unix := strings.CutPrefix(address, "unix:"); unix {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return nil, err
		}
		return socket.Listen(ctx, path)
	}
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", address)
}
