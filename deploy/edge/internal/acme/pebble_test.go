package acme_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
)

const (
	pebbleModule  = "github.com/letsencrypt/pebble/v2/cmd/pebble"
	pebbleVersion = "v2.10.1"
	cacheFolder   = "../../../../.cache/sdk"
	patience      = 60 * time.Second
)

var (
	installing sync.Mutex
	loopback   = net.IPv4(127, 0, 0, 1)
)

// installPebble returns the program of the authority, which is built into the repository's .cache/sdk once, so that a second run needs no network.
func installPebble(t *testing.T) string {
	t.Helper()
	installing.Lock()
	defer installing.Unlock()
	cache, err := filepath.Abs(cacheFolder)
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

// pebble is an authority that validates for real: it finds the hosts by a DNS server of the test, which sends it to ports of the test.
type pebble struct {
	program, config, dns string
	environment          []string
	address, management  string
	https                *certtest.Authority // of its own HTTPS
	client               *http.Client

	httpPort net.Listener // what the world takes for port 80 of the hosts
	tlsPort  net.Listener // and 443
	process  *exec.Cmd
	output   bytes.Buffer
}

// newPebble prepares an authority whose certificates live that long, and starts it. The environment holds Pebble's own switches, NAME=value.
func newPebble(t *testing.T, life time.Duration, environment ...string) *pebble {
	t.Helper()
	p := &pebble{
		program: installPebble(t), environment: append([]string{"PEBBLE_VA_NOSLEEP=1", "PEBBLE_AUTHZREUSE=0"}, environment...),
		https: certtest.Root(t), httpPort: listen(t), tlsPort: listen(t), dns: serveDNS(t), address: free(t), management: free(t),
	}
	folder := t.TempDir()
	files := p.https.Issue(t).Write(t, folder, "pebble")
	settings := map[string]any{"pebble": map[string]any{
		"listenAddress": p.address, "managementListenAddress": p.management, "certificate": files.Chain, "privateKey": files.Key,
		"httpPort": port(p.httpPort), "tlsPort": port(p.tlsPort), "domainBlocklist": []string{"blocked.test"}, "keyAlgorithm": "ecdsa",
		"retryAfter": map[string]int{"authz": 1, "order": 1},
		"profiles":   map[string]any{"default": map[string]any{"description": "default", "validityPeriod": int(life.Seconds())}},
	}}
	text, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	p.config = filepath.Join(folder, "pebble.json")
	certtest.Replace(t, p.config, text)
	p.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.https.Pool()}}}
	t.Cleanup(p.client.CloseIdleConnections)
	p.start(t)
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("Pebble:\n%s", p.output.String())
		}
	})
	return p
}

func (p *pebble) directory() string { return "https://" + p.address + "/dir" }

func (p *pebble) start(t *testing.T) {
	t.Helper()
	p.process = exec.CommandContext(context.WithoutCancel(t.Context()), p.program, "-config", p.config, "-dnsserver", p.dns)
	p.process.Env = append(os.Environ(), p.environment...)
	p.process.Stdout, p.process.Stderr = &p.output, &p.output
	if err := p.process.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := p.get(ctx, p.directory()); err == nil {
			if _, err = p.get(ctx, "https://"+p.management+"/roots/0"); err == nil {
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			p.stop()
			t.Fatalf("Pebble does not start:\n%s", p.output.String())
		}
	}
}

// stop ends the authority, which forgets all that it knew.
func (p *pebble) stop() {
	if p.process == nil {
		return
	}
	_ = p.process.Process.Signal(syscall.SIGTERM)
	_ = p.process.Wait() // it says how it was ended
	p.process = nil
	p.client.CloseIdleConnections()
}

func (p *pebble) get(ctx context.Context, url string) ([]byte, error) {
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

// roots is what a client of its certificates trusts.
func (p *pebble) roots(t *testing.T) *x509.CertPool {
	t.Helper()
	text, err := p.get(t.Context(), "https://"+p.management+"/roots/0")
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		t.Fatalf("no certificate in %q", text)
	}
	return pool
}

// advise sets when the authority wants the certificate renewed.
func (p *pebble) advise(t *testing.T, pair *certfile.Pair, from, to time.Time) {
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

// serveDNS answers 127.0.0.1 for whatever is asked.
func serveDNS(t *testing.T) string {
	t.Helper()
	at := listen(t) // Pebble asks by TCP
	server := &dns.Server{Listener: at, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		answer := new(dns.Msg).SetReply(q)
		if name := q.Question[0]; name.Qtype == dns.TypeA {
			answer.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: name.Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: loopback}}
		}
		_ = w.WriteMsg(answer) // whoever asks, asks again
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.ActivateAndServe() // it ends when the socket is closed
	}()
	t.Cleanup(func() {
		_ = at.Close()
		<-done
	})
	return at.Addr().String()
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

func port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// free is an address where nobody listens. Pebble does not say which port it took, so one has to be chosen for it.
func free(t *testing.T) string {
	t.Helper()
	l := listen(t)
	_ = l.Close()
	return l.Addr().String()
}
