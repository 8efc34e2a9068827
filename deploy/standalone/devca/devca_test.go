package devca_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/standalone/devca"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
)

var start = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

const day = 24 * time.Hour

// mustEnsure calls Ensure, which must succeed.
func mustEnsure(tb testing.TB, dir string, now time.Time, hosts ...string) (*devca.Identity, []byte) {
	tb.Helper()
	id, err := devca.Ensure(dir, now, hosts...)
	if err != nil {
		tb.Fatal(err)
	}
	ca, err := os.ReadFile(id.CA)
	if err != nil {
		tb.Fatal(err)
	}
	return id, ca
}

func TestEnsureServesEveryLoopbackName(t *testing.T) {
	t.Parallel()
	id, ca := mustEnsure(t, filepath.Join(t.TempDir(), "new"), start, "192.0.2.7", "pay.example")
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	for _, host := range []string{"localhost", "127.0.0.1", "::1", "192.0.2.7", "pay.example"} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			at := func() time.Time { return start }
			server := &tls.Config{Certificates: []tls.Certificate{id.Certificate}, MinVersion: version, Time: at}
			client := &tls.Config{RootCAs: roots, ServerName: host, MinVersion: version, MaxVersion: version, Time: at}
			a, b := net.Pipe()
			done := make(chan error, 1)
			go func() { done <- tls.Server(a, server).HandshakeContext(t.Context()) }()
			if err := tls.Client(b, client).HandshakeContext(t.Context()); err != nil {
				t.Errorf("%s, %s: client: %v", host, tls.VersionName(version), err)
				_ = b.Close()
			}
			if err := <-done; err != nil {
				t.Errorf("%s, %s: server: %v", host, tls.VersionName(version), err)
			}
		}
	}
}

func TestEnsureKeepsWhatIsGood(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		later            time.Duration
		hosts            []string
		sameCA, sameLeaf bool
	}{
		"the next minute":       {later: time.Minute, sameCA: true, sameLeaf: true},
		"59 days later":         {later: 59 * day, sameCA: true, sameLeaf: true},
		"close to its end":      {later: 61 * day, sameCA: true},
		"after its end":         {later: 200 * day, sameCA: true},
		"a clock that ran back": {later: -2 * time.Hour},
		"another address":       {hosts: []string{"192.0.2.7"}},
		"another name":          {hosts: []string{"pay.example"}},
		"a known host":          {hosts: []string{"127.0.0.1", "localhost"}, sameCA: true, sameLeaf: true},
		"an old authority":      {later: 276 * day},
		"not yet old":           {later: 274 * day, sameCA: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first, firstCA := mustEnsure(t, dir, start)
			second, secondCA := mustEnsure(t, dir, start.Add(c.later), c.hosts...)
			if got, want := bytes.Equal(firstCA, secondCA), c.sameCA; got != want {
				t.Errorf("same authority = %v, want %v", got, want)
			}
			if got, want := first.Certificate.Leaf.Equal(second.Certificate.Leaf), c.sameLeaf; got != want {
				t.Errorf("same leaf = %v, want %v", got, want)
			}
		})
	}
}

// TestAuthorityIsConstrained checks that no client that trusts the authority accepts a certificate
// of it for another host, even if its key is stolen.
func TestAuthorityIsConstrained(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id, _ := mustEnsure(t, dir, start, "192.0.2.7", "pay.example")
	if life := id.Authority.NotAfter.Sub(start); life > 366*day {
		t.Errorf("the authority lives %s", life)
	}
	stolen, err := tls.LoadX509KeyPair(filepath.Join(dir, "ca-with-key.pem"), filepath.Join(dir, "ca-with-key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(id.Authority)
	for host, accepted := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "::1": true, "192.0.2.7": true, "pay.example": true,
		"bank.example": false, "example": false, "192.0.2.8": false, "127.0.0.2": false, "2001:db8::1": false,
	} {
		template := &x509.Certificate{
			SerialNumber: big.NewInt(1), NotBefore: start, NotAfter: start.Add(day),
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = []net.IP{ip}
		} else {
			template.DNSNames = []string{host}
		}
		der, err := x509.CreateCertificate(rand.Reader, template, id.Authority, id.Authority.PublicKey, stolen.PrivateKey)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		_, err = leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: start.Add(time.Hour)})
		if got := err == nil; got != accepted {
			t.Errorf("%s: accepted %v, want %v: %v", host, got, accepted, err)
		}
	}
}

// TestHosts checks that each host is named once.
func TestHosts(t *testing.T) {
	t.Parallel()
	want := []string{"localhost", "127.0.0.1", "::1", "192.0.2.7"}
	if got := devca.Hosts("127.0.0.1", "192.0.2.7", "192.0.2.7"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEnsureKeysArePrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tls")
	mustEnsure(t, dir, start)
	for name, want := range map[string]os.FileMode{
		"": 0o700, "ca-with-key.pem": 0o600, "server-with-key.pem": 0o600,
		"ca.pem": 0o644,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%q: mode = %v, want %v", name, got, want)
		}
	}
	public, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(public, []byte("PRIVATE")) {
		t.Error("the public copy holds a private key")
	}
}

func TestEnsureHealsThePublicCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id, want := mustEnsure(t, dir, start)
	if err := os.Remove(id.CA); err != nil {
		t.Fatal(err)
	}
	if _, got := mustEnsure(t, dir, start); !bytes.Equal(got, want) {
		t.Error("the public copy came back with other content")
	}
}

func TestEnsureNeverReplacesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ca-with-key.pem", "server-with-key.pem"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			mustEnsure(t, dir, start)
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte("spilt"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := devca.Ensure(dir, start); err == nil {
				t.Fatal("error = nil, want one")
			}
			data, err := os.ReadFile(path)
			if got, want := string(data), "spilt"; err != nil || got != want {
				t.Errorf("content = %q, %v, want %q", got, err, want)
			}
		})
	}
}

// TestSourceRenews checks that a running Source replaces a certificate close to its end, and
// reports an unreadable file once.
func TestSourceRenews(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), clock.NewFake(start)
	first, _ := mustEnsure(t, dir, start, "192.0.2.7")
	updates := make(chan certfile.Update)
	var ended sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	source := &devca.Source{Dir: dir, Hosts: []string{"192.0.2.7"}, Clock: now, Look: time.Millisecond}
	ended.Go(func() {
		if err := source.Run(ctx, func(_ context.Context, u certfile.Update) { updates <- u }); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { stop(); ended.Wait() })
	if u := <-updates; len(u.Pairs) != 1 || !u.Pairs[0].Equal(first.Pair()) ||
		!u.Pairs[0].Leaf().Equal(first.Certificate.Leaf) {
		t.Errorf("got %+v", u)
	}
	now.Advance(61 * day)
	u := <-updates
	if u.Refusal != nil || u.Pairs[0].Leaf().Equal(first.Certificate.Leaf) ||
		u.Pairs[0].Leaf().CheckSignatureFrom(first.Authority) != nil {
		t.Errorf("got %+v, want another one by the same authority", u)
	}
	if _, err := tls.X509KeyPair(u.Pairs[0].Chain, []byte(u.Pairs[0].Key.Reveal())); err != nil {
		t.Errorf("the pair in PEM: %v", err)
	}
	path := filepath.Join(dir, "server-with-key.pem")
	if err := os.WriteFile(path, []byte("spilt"), 0o600); err != nil {
		t.Fatal(err)
	}
	if u := <-updates; u.Refusal == nil {
		t.Errorf("got %+v, want a refusal", u)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if u := <-updates; u.Refusal != nil || len(u.Pairs) != 1 { // not the refusal a second time
		t.Errorf("got %+v, want a new one", u)
	}
}

// TestRenews checks that Ensure replaces a leaf after the published date, and not before.
func TestRenews(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id, _ := mustEnsure(t, dir, start)
	at := devca.Renews(id.Certificate.Leaf)
	if kept, _ := mustEnsure(t, dir, at); !kept.Certificate.Leaf.Equal(id.Certificate.Leaf) {
		t.Errorf("replaced at %s or before", at)
	}
	if next, _ := mustEnsure(t, dir, at.Add(time.Nanosecond)); next.Certificate.Leaf.Equal(id.Certificate.Leaf) {
		t.Errorf("not replaced after %s", at)
	}
}
