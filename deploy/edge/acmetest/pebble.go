package acmetest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

const (
	pebbleModule  = "github.com/letsencrypt/pebble/v2/cmd/pebble"
	pebbleVersion = "v2.10.1"
	patience      = 60 * time.Second
)

var installing sync.Mutex

// cacheFolder is the repository's, wherever in it the test stands.
func cacheFolder() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.work")); err == nil {
			return filepath.Join(at, ".cache", "sdk"), nil
		}
		above := filepath.Dir(at)
		if above == at {
			return "", errors.New("no go.work above the test")
		}
		at = above
	}
}

// install returns the program of the authority, which is built into the repository's .cache/sdk once, so that a second run needs no network.
func install(t *testing.T) string {
	t.Helper()
	installing.Lock()
	defer installing.Unlock()
	cache, err := cacheFolder()
	if err != nil {
		t.Fatal(err)
	}
	final := filepath.Join(cache, "pebble-"+pebbleVersion)
	program := filepath.Join(final, "pebble")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	into, err := os.MkdirTemp(cache, ".pebble-") //nolint:usetesting // it is renamed, so it must be on the cache's disk
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(into) }() // nothing is there when it was renamed
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "go", "install", pebbleModule+"@"+pebbleVersion)
	install.Env = append(os.Environ(), "GOBIN="+into, "GOWORK=off", "GOFLAGS=")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("install Pebble: %v (this test needs the Go module proxy)\n%s", err, out)
	}
	if err := os.Rename(into, final); err != nil {
		if _, there := os.Stat(program); there != nil { // another run was faster, or it is a true failure
			t.Fatal(err)
		}
	}
	return program
}

// Options are how an authority is. The zero value gives certificates of 90 days.
type Options struct {
	Life        time.Duration // of certificates
	Environment []string      // Pebble's own switches, NAME=value
	// Where it looks for the hosts, all of which its DNS finds at this address: what the world knows as ports 80 and 443.
	Address   net.IP // nil: 127.0.0.1
	HTTP, TLS int
}

// Blocked is a host that the authority refuses.
const Blocked = "blocked.test"

// Pebble is an authority that validates for real: it finds the hosts by a DNS server of the test.
type Pebble struct {
	program, config, dns string
	environment          []string
	address, management  string
	https                *certtest.Authority // of its own HTTPS
	client               *http.Client

	process *programtest.Program // nil while it is stopped
	output  programtest.Log
}

// New makes an authority, and starts it until the test ends.
func New(t *testing.T, o Options) *Pebble {
	t.Helper()
	if o.Address == nil {
		o.Address = net.IPv4(127, 0, 0, 1)
	}
	p := &Pebble{
		program: install(t), environment: append([]string{"PEBBLE_VA_NOSLEEP=1", "PEBBLE_AUTHZREUSE=0"}, o.Environment...),
		https: certtest.Root(t), dns: serveDNS(t, o.Address), address: programtest.MustPort(t), management: programtest.MustPort(t),
	}
	folder := t.TempDir()
	files := p.https.Issue(t).Write(t, folder, "pebble")
	settings := map[string]any{"pebble": map[string]any{
		"listenAddress": p.address, "managementListenAddress": p.management, "certificate": files.Chain, "privateKey": files.Key,
		"httpPort": o.HTTP, "tlsPort": o.TLS, "domainBlocklist": []string{Blocked}, "keyAlgorithm": "ecdsa",
		"retryAfter": map[string]int{"authz": 1, "order": 1},
		"profiles":   map[string]any{"default": map[string]any{"description": "default", "validityPeriod": int(cmp.Or(o.Life, 90*24*time.Hour).Seconds())}},
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

// Directory is its URL for clients.
func (p *Pebble) Directory() string { return "https://" + p.address + "/dir" }

// Start starts it again, with nothing that it knew before.
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

// Stop ends the authority, which forgets all that it knew.
func (p *Pebble) Stop() {
	if p.process == nil {
		return
	}
	_ = p.process.Terminate() // it says how it was ended
	p.process = nil
	p.client.CloseIdleConnections()
}

func (p *Pebble) get(ctx context.Context, url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := p.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", answer.StatusCode)
	}
	return io.ReadAll(answer.Body)
}

// Trust is what clients of its HTTPS trust.
func (p *Pebble) Trust() *x509.CertPool { return p.https.Pool() }

// TrustPEM is the same as a file's content.
func (p *Pebble) TrustPEM() []byte { return certtest.PEM(p.https.Certificate) }

// Roots is what clients of its certificates trust.
func (p *Pebble) Roots(t *testing.T) *x509.CertPool {
	t.Helper()
	pool, text := x509.NewCertPool(), p.RootsPEM(t)
	if !pool.AppendCertsFromPEM(text) {
		t.Fatalf("no certificate in %q", text)
	}
	return pool
}

// RootsPEM is the same as a file's content.
func (p *Pebble) RootsPEM(t *testing.T) []byte {
	t.Helper()
	text, err := p.get(t.Context(), "https://"+p.management+"/roots/0")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Advise sets when the authority wants the certificate renewed.
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
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+p.management+"/set-renewal-info/", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := p.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("status %d", answer.StatusCode)
	}
}

// serveDNS answers one address for whatever is asked.
func serveDNS(t *testing.T, at net.IP) string {
	t.Helper()
	l := listen(t) // Pebble asks by TCP
	server := &dns.Server{Listener: l, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		answer := new(dns.Msg).SetReply(q)
		if name := q.Question[0]; name.Qtype == dns.TypeA {
			answer.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: name.Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: at}}
		}
		_ = w.WriteMsg(answer) // whoever asks, asks again
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.ActivateAndServe() // it ends when the socket is closed
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
