package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// TestCertificateFollowsItsFiles checks that connections after a second get the new pair. Until
// then, or if the files hold no pair, the previous pair stays. An error is logged once.
func TestCertificateFollowsItsFiles(t *testing.T) {
	t.Parallel()
	present, next := MustPair(t), MustPair(t)
	var log bytes.Buffer
	c := clock.NewFake(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC))
	p, err := openCertificate(present.chain, present.key, c, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	serves := func(want []byte) {
		t.Helper()
		if got := leafOf(t, p.policy()); !bytes.Equal(got, want) {
			t.Errorf("the wrong certificate is served; the log: %s", log.String())
		}
	}
	put := func(from, to string) {
		t.Helper()
		b, err := os.ReadFile(from)
		if err == nil {
			err = errors.Join(os.WriteFile(to+".new", b, 0o600), os.Rename(to+".new", to))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	old := leafOf(t, p.policy())
	fresh, err := openCertificate(next.chain, next.key, c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	changed := leafOf(t, fresh.policy())
	put(next.chain, present.chain)
	c.Advance(time.Second - time.Millisecond)
	serves(old) // not read yet
	c.Advance(time.Millisecond)
	serves(old) // half of a pair
	c.Advance(time.Second)
	serves(old)
	if got := strings.Count(log.String(), "was rejected"); got != 1 {
		t.Errorf("half of a pair was said %d times: %s", got, log.String())
	}
	put(next.key, present.key)
	serves(old)
	c.Advance(time.Second)
	serves(changed)
	if err := os.Remove(present.key); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c.Advance(time.Second)
		serves(changed)
	}
	if got := strings.Count(log.String(), "was rejected"); got != 2 || strings.Contains(log.String(), "PRIVATE") {
		t.Errorf("a file that is gone: got %s", log.String())
	}
}

// pairFiles are the paths of a certificate and its key.
type pairFiles struct{ chain, key string }

func MustPair(t *testing.T) pairFiles {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := overTLS(t, key)
	return pairFiles{m.Config.Certificate, m.Config.PrivateKey}
}

// leafOf connects, and returns the server's certificate.
func leafOf(t *testing.T, policy *tls.Config) []byte {
	t.Helper()
	near, far := net.Pipe()
	defer func() { _ = errors.Join(near.Close(), far.Close()) }()
	served := make(chan error, 1)
	go func() { served <- tls.Server(far, policy).HandshakeContext(t.Context()) }()
	cfg := tlspolicy.Client(nil)
	cfg.InsecureSkipVerify = true // the test checks the certificate itself
	client := tls.Client(near, cfg)
	if err := client.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	return client.ConnectionState().PeerCertificates[0].Raw
}
