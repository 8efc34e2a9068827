package acme_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/edge/acmetest"
	"github.com/causeway-pay/causeway/deploy/edge/internal/acme"
	"github.com/causeway-pay/causeway/shared/certfile"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// world is an authority with the ports at which it validates.
type world struct {
	*acmetest.Pebble

	httpPort net.Listener // stands for port 80 of the hosts
	tlsPort  net.Listener // stands for port 443
}

// newWorld returns a world whose certificates have the lifetime.
func newWorld(t *testing.T, life time.Duration, environment ...string) *world {
	t.Helper()
	w := &world{httpPort: listen(t), tlsPort: listen(t)}
	w.Pebble = acmetest.New(t, acmetest.Options{
		Life: life, Environment: environment, HTTP: port(w.httpPort), TLS: port(w.tlsPort),
	})
	return w
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

// run is a running source.
type run struct {
	source  *acme.Source
	updates chan certfile.Update
	clock   *seenClock
	log     *programtest.Log
	stop    func()
}

// hostsOf returns names that no other test orders: certmagic's challenges are shared by the
// process, by name.
func hostsOf(t *testing.T) []string {
	t.Helper()
	sum := sha256.Sum256([]byte(t.Name()))
	domain := "." + hex.EncodeToString(sum[:4]) + ".test"
	return []string{"api" + domain, "trust" + domain}
}

// start runs a source on an authority. Its clock is manual, and the source checks it continuously.
func start(t *testing.T, p *world, folder string, change func(*acme.Settings)) *run {
	t.Helper()
	r := &run{
		updates: make(chan certfile.Update, 100),
		clock:   &seenClock{Fake: clock.NewFake(clock.System().Now()), seen: make(chan struct{})}, log: &programtest.Log{},
	}
	settings := acme.Settings{
		Directory: p.Directory(), Email: "ops@example.test", Trust: p.Trust(), Roots: x509.NewCertPool(), Hosts: hostsOf(t),
		HTTP01: true, TLSALPN01: true,
		Folder: folder, Clock: r.clock, Look: 5 * time.Millisecond,
		Log: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&settings)
	}
	source, err := acme.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	r.source = source
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- source.Run(ctx, func(_ context.Context, u certfile.Update) { r.updates <- u }) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("log:\n%s", r.log)
		}
	})
	t.Cleanup(r.stop)
	return r
}

// open opens the ways in for challenges, as Envoy does: plain HTTP and TLS.
func (r *run) open(t *testing.T, p *world) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(acme.ChallengePath, r.source.Handler())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: programtest.Patience}
	done := make(chan struct{}, 2)
	go func() { _ = server.Serve(p.httpPort); done <- struct{}{} }()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { r.source.ServeTLS(ctx, p.tlsPort); done <- struct{}{} }()
	t.Cleanup(func() {
		cancel()
		_ = server.Close()
		<-done
		<-done
	})
}

func (r *run) next(t *testing.T) certfile.Update {
	t.Helper()
	select {
	case u := <-r.updates:
		return u
	case <-time.After(programtest.Patience):
		t.Fatalf("got no update; log:\n%s", r.log)
		return certfile.Update{}
	}
}

// pair returns the next update, which must be a certificate.
func (r *run) pair(t *testing.T) *certfile.Pair {
	t.Helper()
	u := r.next(t)
	if u.Refusal != nil || len(u.Pairs) != 1 {
		t.Fatalf("got %+v, want a certificate", u)
	}
	return u.Pairs[0]
}

// failure checks that the next update is a refusal with the text.
func (r *run) failure(t *testing.T, text string) {
	t.Helper()
	u := r.next(t)
	if u.Pairs != nil || u.Refusal == nil || !strings.Contains(u.Refusal.Error(), text) {
		t.Fatalf("got %+v, want a refusal with %q", u, text)
	}
}

// nothing checks that two further checks of the clock cause no update.
func (r *run) nothing(t *testing.T) {
	t.Helper()
	for range 10 { // one check reads the clock more than once
		select {
		case u := <-r.updates:
			t.Fatalf("got %+v, want nothing yet", u)
		case <-r.clock.seen:
		}
	}
}

// seenClock signals each read, if a test waits for one.
type seenClock struct {
	*clock.Fake
	seen chan struct{}
}

func (c *seenClock) Now() time.Time {
	select {
	case c.seen <- struct{}{}:
	default:
	}
	return c.Fake.Now()
}

// wantIssued checks that a certificate is from the authority, for all hosts, on P-256.
func wantIssued(t *testing.T, p *world, pair *certfile.Pair) {
	t.Helper()
	leaf := pair.Leaf()
	above := x509.NewCertPool()
	above.AppendCertsFromPEM(pair.Chain)
	for _, host := range hostsOf(t) {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: p.Roots(t), Intermediates: above, DNSName: host}); err != nil {
			t.Error(err)
		}
	}
	if key, ok := leaf.PublicKey.(*ecdsa.PublicKey); !ok || key.Curve != elliptic.P256() {
		t.Errorf("got a key of %T, want P-256", leaf.PublicKey)
	}
}

func TestIssues(t *testing.T) {
	t.Parallel()
	for name, only := range map[string]func(*acme.Settings){
		"HTTP01":    func(s *acme.Settings) { s.TLSALPN01 = false },
		"TLSALPN01": func(s *acme.Settings) { s.HTTP01 = false },
		"Both":      func(*acme.Settings) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "acme")
			p := newWorld(t, 90*24*time.Hour)
			r := start(t, p, folder, only)
			r.open(t, p)
			pair := r.pair(t)
			wantIssued(t, p, pair)
			r.stop()
			wantPrivate(t, folder)
			if got := r.log.String(); strings.Contains(got, "PRIVATE") ||
				strings.Contains(got, strings.Split(pair.Key.Reveal(), "\n")[1]) {
				t.Errorf("a key is logged:\n%s", got)
			}
		})
	}
}

// wantPrivate checks that other users can read no file in the folder.
func wantPrivate(t *testing.T, folder string) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		about, err := entry.Info()
		if err != nil {
			return err
		}
		if about.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: mode %s", path, about.Mode())
		}
		seen++
		return nil
	})
	if err != nil || seen < 5 {
		t.Errorf("%d entries in the folder, %v", seen, err)
	}
}

// TestNonces makes the authority reject every fourth nonce.
func TestNonces(t *testing.T) {
	t.Parallel()
	p := newWorld(t, 90*24*time.Hour, "PEBBLE_WFE_NONCEREJECT=25")
	r := start(t, p, t.TempDir(), nil)
	r.open(t, p)
	wantIssued(t, p, r.pair(t))
}

// TestRenews moves the clock past two thirds of the life of a certificate of one hour.
func TestRenews(t *testing.T) {
	t.Parallel()
	p := newWorld(t, time.Hour)
	r := start(t, p, t.TempDir(), nil)
	r.open(t, p)
	first := r.pair(t)
	if at := r.source.Status().Renewal; at.Before(first.Leaf().NotBefore.Add(39*time.Minute)) ||
		at.After(first.Leaf().NotAfter.Add(-19*time.Minute)) {
		t.Errorf("renewal at %s of a certificate from %s to %s", at, first.Leaf().NotBefore, first.Leaf().NotAfter)
	}
	if got, want := r.source.Renews(first.Leaf()), r.source.Status().Renewal; !got.Equal(want) {
		t.Errorf("renews: got %s, want %s", got, want)
	}
	r.clock.Advance(35 * time.Minute)
	r.nothing(t)
	r.clock.Advance(10 * time.Minute)
	second := r.pair(t)
	wantIssued(t, p, second)
	if at := r.source.Renews(first.Leaf()); at.After(r.clock.Fake.Now()) {
		t.Errorf("the first was renewed, but renews at %s", at)
	}
	if first.Equal(second) || first.Leaf().PublicKey.(*ecdsa.PublicKey).Equal(second.Leaf().PublicKey) {
		t.Error("the certificate, or its key, is the same again")
	}
}

// TestRenewalWaitsForTheAuthority stops the authority when the renewal is due.
func TestRenewalWaitsForTheAuthority(t *testing.T) {
	t.Parallel()
	p, folder := newWorld(t, time.Hour), t.TempDir()
	r := start(t, p, folder, nil)
	r.open(t, p)
	first := r.pair(t)
	p.Stop()
	r.clock.Advance(45 * time.Minute)
	r.failure(t, "connection refused")
	status := r.source.Status()
	if status.Failures != 1 || status.Err == nil || status.Next.Before(r.clock.Now().Add(time.Minute)) {
		t.Errorf("status after a failure: %+v", status)
	}
	if kept := mustLoad(t, folder); !bytes.Equal(kept, first.Chain) {
		t.Error("the present certificate is not kept")
	}
	r.clock.Advance(2 * time.Minute)
	r.failure(t, "attempt 2")
	p.Start(t) // without our account, which is registered again
	r.clock.Advance(5 * time.Minute)
	second := r.pair(t)
	wantIssued(t, p, second)
	if second.Equal(first) {
		t.Error("the first certificate came again")
	}
	if status := r.source.Status(); status.Failures != 0 || status.Err != nil {
		t.Errorf("status after success: %+v", status)
	}
}

func TestAuthorityRefuses(t *testing.T) {
	t.Parallel()
	t.Run("Name", func(t *testing.T) {
		t.Parallel()
		p := newWorld(t, time.Hour)
		r := start(t, p, t.TempDir(), func(s *acme.Settings) { s.Hosts = []string{hostsOf(t)[0], acmetest.Blocked} })
		r.open(t, p)
		r.failure(t, acmetest.Blocked)
	})
	t.Run("Challenge", func(t *testing.T) {
		t.Parallel()
		p := newWorld(t, time.Hour)
		r := start(t, p, t.TempDir(), func(s *acme.Settings) { s.TLSALPN01 = false })
		_ = p.httpPort.Close() // no listener for the challenge
		r.failure(t, "refused")
		r.clock.Advance(59 * time.Second)
		r.nothing(t)
		r.clock.Advance(30 * time.Second)
		r.failure(t, "attempt 2")
	})
}

// TestAuthorityWantsItRenewed makes the authority advise an early renewal, as before a revocation.
func TestAuthorityWantsItRenewed(t *testing.T) {
	t.Parallel()
	p := newWorld(t, 90*24*time.Hour)
	r := start(t, p, t.TempDir(), nil)
	r.open(t, p)
	first := r.pair(t)
	p.Advise(t, first, r.clock.Fake.Now().Add(-2*time.Hour), r.clock.Fake.Now().Add(-time.Hour))
	r.clock.Advance(25 * time.Hour) // long enough for a new request for advice
	second := r.pair(t)
	wantIssued(t, p, second)
	if second.Equal(first) {
		t.Error("the same certificate came again")
	}
}

func TestRestartKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	p, folder := newWorld(t, 90*24*time.Hour), t.TempDir()
	r := start(t, p, folder, nil)
	r.open(t, p)
	first := r.pair(t)
	r.stop()
	account := mustGlob(t, folder, "acme/*/users/*/*.key")
	p.Stop() // so every order fails

	again := start(t, p, folder, nil)
	if got := again.pair(t); !got.Equal(first) {
		t.Error("another certificate came after the restart")
	}
	again.stop()
	if got := mustGlob(t, folder, "acme/*/users/*/*.key"); got != account {
		t.Error("the account has another key")
	}

	more := start(t, p, folder, func(s *acme.Settings) { s.Hosts = append([]string{"new.example.test"}, hostsOf(t)...) })
	more.failure(t, "connection refused") // one more host: the stored certificate lacks it
	if at := more.source.Renews(first.Leaf()); at.After(more.clock.Fake.Now()) {
		t.Errorf("it is replaced immediately, but renews at %s", at)
	}
	more.stop()

	p.Start(t)
	soon := start(t, p, folder, func(s *acme.Settings) { s.Hosts = append([]string{"new.example.test"}, hostsOf(t)...) })
	soon.open(t, p)
	soon.nothing(t) // no order directly after a failed attempt
	soon.clock.Advance(2 * time.Minute)
	wantIssued(t, p, soon.pair(t))
}

// TestAnotherAuthority moves a source to another authority. The first one's certificate is served
// until the second has issued one.
func TestAnotherAuthority(t *testing.T) {
	t.Parallel()
	folder, one, other := t.TempDir(), newWorld(t, 90*24*time.Hour), newWorld(t, 90*24*time.Hour)
	r := start(t, one, folder, nil)
	r.open(t, one)
	first := r.pair(t)
	r.stop()
	r = start(t, other, folder, nil)
	r.open(t, other)
	if got := r.pair(t); !got.Equal(first) {
		t.Error("what was kept is not served")
	}
	if at := r.source.Renews(first.Leaf()); at.After(r.clock.Fake.Now()) {
		t.Errorf("the other authority replaces it immediately, but it renews at %s", at)
	}
	second := r.pair(t)
	wantIssued(t, other, second)
	r.stop()
	r = start(t, other, folder, nil)
	if got := r.pair(t); !got.Equal(second) {
		t.Error("what the other one issued is not kept")
	}
	r.nothing(t)
}

func mustLoad(t *testing.T, folder string) []byte {
	t.Helper()
	both, err := os.ReadFile(filepath.Join(folder, "edge", "pair.pem"))
	if err != nil {
		t.Fatal(err)
	}
	pair, err := certfile.Parse(certfile.Files{}, both, both)
	if err != nil {
		t.Fatal(err)
	}
	return pair.Chain
}

func mustGlob(t *testing.T, folder, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, filepath.FromSlash(pattern)))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
