package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/deploy/edge"
	"github.com/causeway-pay/causeway/deploy/standalone/devca"
	"github.com/causeway-pay/causeway/shared/announce"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// trustPath is the prefix of the endpoints that publish the certificates.
const trustPath = "/v1/trust"

// published is how long a development certificate is published before it is served. The user's own
// certificates are served immediately.
const published = 24 * time.Hour

// certificates are the certificates of the HTTPS listener, with their publisher.
type certificates struct {
	source      certfile.Source
	first       []*certfile.Pair
	holder      certfile.Holder
	hosts       []string
	authorities []*x509.Certificate
	ca          string // path of the development authority's certificate; "" for the user's own certificates
	ahead       time.Duration
	renews      func(leaf *x509.Certificate) time.Time // when the source replaces a leaf; nil for the user's own
	publisher   atomic.Pointer[edge.Publisher]         // nil until the listener has an address
}

// openCertificates loads the first certificates: the user's own, or a development one.
func (m *Main) openCertificates(ctx context.Context) (*certificates, error) {
	c := &certificates{}
	if m.flags.Certificates != "" {
		return c, m.ownCertificates(ctx, c)
	}
	hosts := certificateHosts(m.flags.ListenTLS)
	source := &devca.Source{Dir: filepath.Join(m.data, "tls"), Hosts: hosts, Clock: m.clock}
	id, err := devca.Ensure(source.Dir, m.clock.Now(), hosts...)
	if err != nil {
		return nil, err
	}
	c.source, c.first, c.ca, c.authorities, c.ahead = source, []*certfile.Pair{id.Pair()}, id.CA,
		[]*x509.Certificate{id.Authority}, published
	c.hosts, c.renews = devca.Hosts(hosts...), devca.Renews
	c.holder.Hold(c.first...)
	return c, nil
}

// ownCertificates reads the user's folder.
func (m *Main) ownCertificates(ctx context.Context, c *certificates) error {
	w := &certfile.Watcher{Path: m.flags.Certificates, Rules: certfile.Rules{OpenRoot: true}, Clock: m.clock, Log: m.log}
	pairs, warnings, err := w.Load()
	if err != nil {
		return fmt.Errorf("--certificates %s: %w", m.flags.Certificates, err)
	}
	for _, warning := range warnings {
		m.log.WarnContext(ctx, "certificate", slog.String("reason", warning.String()))
	}
	leaf := pairs[0].Leaf()
	c.source, c.first, c.hosts = w, pairs, append([]string{}, leaf.DNSNames...)
	for _, ip := range leaf.IPAddresses {
		c.hosts = append(c.hosts, ip.String())
	}
	c.holder.Hold(pairs...)
	return nil
}

// url returns the base URL under which clients that verify the certificate reach the listener.
func (c *certificates) url(addr net.Addr) string {
	base := baseURL("https", addr)
	u, err := url.Parse(base)
	if err != nil || c.ca != "" {
		return base
	}
	for _, host := range c.hosts {
		if !strings.HasPrefix(host, "*") {
			u.Host = net.JoinHostPort(host, u.Port())
			break
		}
	}
	return u.String()
}

// openTrust starts to publish the certificates, and to rotate them when the source has new ones.
func (m *Main) openTrust(ctx context.Context, v1 *core.Core, c *certificates, base string) error {
	log := m.log.With("service", "edge")
	publisher, err := edge.OpenPublisher(edge.Trust{
		Folder: filepath.Join(m.data, "edge"), Hosts: c.hosts, URL: base + trustPath, Ahead: c.ahead,
		Renews: c.renews, Authorities: c.authorities,
		Port: announce.InProcess(v1.Operations(), m.filterToken), Clock: m.clock, Log: log,
		Tracer: m.frame.Traces.Tracer("edge"),
	})
	if err != nil {
		return fmt.Errorf("--data %s: %w", m.flags.Data, err)
	}
	if err := publisher.Policy(ctx, edge.PolicyOf(tlspolicy.Policy{})); err != nil {
		return fmt.Errorf("--data %s: %w", m.flags.Data, err)
	}
	if err := publisher.Live(ctx, c.first...); err != nil {
		return fmt.Errorf("--data %s: %w", m.flags.Data, err)
	}
	c.publisher.Store(publisher)
	rotator := &edge.Rotator{
		Source: c.source, Publisher: publisher, Serve: c.serve, Ahead: c.ahead, Clock: m.clock, Log: log,
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := rotator.Run(background, c.first); err != nil {
			log.ErrorContext(background, "certificates are not watched", slog.Any("error", err))
		}
	})
	m.onClose(func() error { stop(); ended.Wait(); return nil })
	return nil
}

// serve makes new handshakes use the pairs.
func (c *certificates) serve(_ context.Context, pairs []*certfile.Pair) error {
	c.holder.Hold(pairs...)
	return nil
}

// ServeHTTP serves the endpoints that publish the certificates.
func (c *certificates) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	publisher := c.publisher.Load()
	if publisher == nil { // only during the start
		w.Header().Set("Retry-After", "1")
		httpx.Refuse(w, http.StatusServiceUnavailable)
		return
	}
	publisher.Handler().ServeHTTP(w, r)
}
