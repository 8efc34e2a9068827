package acmetest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

const pebble = "github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.1"

// install returns the path of the authority's program, which is built once.
func install(t *testing.T) string {
	t.Helper()
	program, err := programtest.InstallGo(t.Context(), pebble)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// Options are the settings of an authority. The zero value issues certificates of 90 days.
type Options struct {
	Life        time.Duration // of the issued certificates
	Environment []string      // Pebble's own switches, as NAME=value
	// The authority validates at this address, and its DNS resolves all hosts to it. The ports stand
	// for 80 and 443.
	Address   net.IP // nil: 127.0.0.1
	HTTP, TLS int
}

// Blocked is a host that the authority refuses.
const Blocked = "blocked.test"

// Pebble is an authority that validates challenges over the network, with a DNS server of the test.
type Pebble struct {
	program, config, dns string
	environment          []string
	address, management  string
	https                *certtest.Authority // of its HTTPS listener
	client               *http.Client

	process *programtest.Program // nil while it is stopped
	output  programtest.Log
}

// New makes an authority, and runs it until the test ends.
func New(t *testing.T, o Options) *Pebble {
	t.Helper()
	if o.Address == nil {
		o.Address = net.IPv4(127, 0, 0, 1)
	}
	p := &Pebble{
		program: install(t), environment: append([]string{"PEBBLE_VA_NOSLEEP=1", "PEBBLE_AUTHZREUSE=0"}, o.Environment...),
		https: certtest.Root(t), dns: serveDNS(t, o.Address), address: programtest.MustPort(t),
		management: programtest.MustPort(t),
	}
	folder := t.TempDir()
	files := p.https.Issue(t).Write(t, folder, "pebble")
	settings := map[string]any{"pebble": map[string]any{
		"listenAddress": p.address, "managementListenAddress": p.management, "certificate": files.Chain,
		"privateKey": files.Key,
		"httpPort":   o.HTTP, "tlsPort": o.TLS, "domainBlocklist": []string{Blocked}, "keyAlgorithm": "ecdsa",
		"retryAfter": map[string]int{"authz": 1, "order": 1},
		"profiles": map[string]any{
			"default": map[string]any{
				"description": "default", "validityPeriod": int(cmp.Or(o.Life, 90*24*time.Hour).Seconds()),
			},
		},
	}}
	text, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	p.config = filepath.Join(folder, "pebble.json")
	certtest.Replace(t, p.config, text)
	p.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.https.Pool()}}}
	t.Cleanup(p.client.CloseIdleConnections)
	p.Start(t)
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Logf("Pebble:\n%s", p.output.String())
		}
	})
	return p
}

// Directory returns its URL for clients.
func (p *Pebble) Directory() string { return "https://" + p.address + "/dir" }

// Start restarts the authority without its previous data.
func (p *Pebble) Start(t *testing.T) {
	t.Helper()
	var err error
	p.process, err = programtest.Launch(programtest.Command{
		Path: p.program, Args: []string{"-config", p.config, "-dnsserver", p.dns}, Env: p.environment, Stderr: &p.output,
	})
	if err != nil {
		t.Fatal(err)
	}
	err = p.process.Until(t.Context(), "serves", func() bool {
		if _, err := p.get(t.Context(), p.Directory()); err != nil {
			return false
		}
		_, err := p.get(t.Context(), "https://"+p.management+"/roots/0")
		return err == nil
	})
	if err != nil {
		p.Stop()
		t.Fatalf("%v\n%s", err, &p.output)
	}
}

// Stop ends the authority and loses its data.
func (p *Pebble) Stop() {
	if p.process == nil {
		return
	}
	_ = p.process.Terminate() // the error is the signal
	p.process = nil
	p.client.CloseIdleConnections()
}

func (p *Pebble) get(ctx context.Context, url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := p.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", response.StatusCode)
	}
	return io.ReadAll(response.Body)
}

// Trust returns the authority of its HTTPS certificate.
func (p *Pebble) Trust() *x509.CertPool { return p.https.Pool() }

// TrustPEM returns the same as PEM.
func (p *Pebble) TrustPEM() []byte { return certtest.PEM(p.https.Certificate) }

// Roots returns the authority of the issued certificates.
func (p *Pebble) Roots(t *testing.T) *x509.CertPool {
	t.Helper()
	pool, text := x509.NewCertPool(), p.RootsPEM(t)
	if !pool.AppendCertsFromPEM(text) {
		t.Fatalf("no certificate in %q", text)
	}
	return pool
}

// RootsPEM returns the same as PEM.
func (p *Pebble) RootsPEM(t *testing.T) []byte {
	t.Helper()
	text, err := p.get(t.Context(), "https://"+p.management+"/roots/0")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Advise sets the renewal window that the authority advises for a certificate.
func (p *Pebble) Advise(t *testing.T, pair *certfile.Pair, from, to time.Time) {
	t.Helper()
	window, err := json.Marshal(map[string]any{"suggestedWindow": map[string]time.Time{"start": from, "end": to}})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]string{"Certificate": string(pair.Chain), "ARIResponse": string(window)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+p.management+"/set-renewal-info/",
		bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := p.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("status %d", response.StatusCode)
	}
}

// serveDNS runs a DNS server that resolves every name to one address.
func serveDNS(t *testing.T, at net.IP) string {
	t.Helper()
	l := listen(t) // Pebble uses TCP
	server := &dns.Server{Listener: l, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		response := new(dns.Msg).SetReply(q)
		if name := q.Question[0]; name.Qtype == dns.TypeA {
			response.Answer = []dns.RR{
				&dns.A{Hdr: dns.RR_Header{Name: name.Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: at},
			}
		}
		_ = w.WriteMsg(response) // a client without a response retries
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.ActivateAndServe() // it returns when the socket closes
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}
