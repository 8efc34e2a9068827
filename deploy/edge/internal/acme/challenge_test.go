package acme_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	rfc "github.com/mholt/acmez/v3/acme"

	"github.com/causeway-pay/causeway/deploy/edge/internal/acme"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
)

// idle is a host without an order.
const idle = "idle.example.test"

func settings(t *testing.T) acme.Settings {
	t.Helper()
	return acme.Settings{
		Directory: "https://acme.example.test/dir", Hosts: []string{idle}, HTTP01: true, TLSALPN01: true, Folder: t.TempDir(),
		Roots: x509.NewCertPool(), Log: slog.New(slog.DiscardHandler),
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	rsaOnly, err := (tlspolicy.Policy{}).Narrow("", []string{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		change func(*acme.Settings)
		text   string
	}{
		{"NoDirectory", func(s *acme.Settings) { s.Directory = "" }, "directory"},
		{"NoFolder", func(s *acme.Settings) { s.Folder = "" }, "directory and data"},
		{"NoHosts", func(s *acme.Settings) { s.Hosts = nil }, "hosts: want at least one"},
		{"NoChallenge", func(s *acme.Settings) { s.HTTP01, s.TLSALPN01 = false, false }, "tls-alpn-01 or both"},
		{"PolicyForRSA", func(s *acme.Settings) { s.Policy = rsaOnly }, "ECDSA"},
		{"Wildcard", func(s *acme.Settings) { s.Hosts = []string{"*.example.test"} }, "*.example.test: a wildcard takes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := settings(t)
			tt.change(&s)
			if _, err := acme.New(s); err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want an error with %q", err, tt.text)
			}
		})
	}
}

// TestNoResponseWithoutAnOrder requests challenges on both ways without an order.
func TestNoResponseWithoutAnOrder(t *testing.T) {
	t.Parallel()
	source, err := acme.New(settings(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"token", "", "a/b", "../../etc/passwd"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+idle+acme.ChallengePath+path, http.NoBody)
		w := httptest.NewRecorder()
		source.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "token.") {
			t.Errorf("%s: got %d %q, want 404", path, w.Code, w.Body)
		}
	}
	l := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { source.ServeTLS(ctx, l); close(done) }()
	for _, protocols := range [][]string{{"acme-tls/1"}, {"h2", "acme-tls/1"}, {"h2"}, nil} {
		d := tls.Dialer{Config: &tls.Config{NextProtos: protocols, ServerName: idle, InsecureSkipVerify: true}}
		if c, err := d.DialContext(t.Context(), "tcp", l.Addr().String()); err == nil {
			_ = c.Close()
			t.Errorf("%v: the handshake succeeds", protocols)
		}
	}
	cancel()
	<-done
}

// shortage is a listener whose first calls of Accept fail.
type shortage struct {
	net.Listener
	failures []error
}

func (s *shortage) Accept() (net.Conn, error) {
	if len(s.failures) == 0 {
		return s.Listener.Accept()
	}
	err := s.failures[0]
	s.failures = s.failures[1:]
	return nil, &net.OpError{Op: "accept", Err: err}
}

// TestAcceptFails checks that a shortage of the machine does not end the server of challenges.
func TestAcceptFails(t *testing.T) {
	t.Parallel()
	source, err := acme.New(settings(t))
	if err != nil {
		t.Fatal(err)
	}
	l := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		source.ServeTLS(ctx, &shortage{l, []error{syscall.EMFILE, syscall.ECONNABORTED, syscall.ENOMEM}})
		close(done)
	}()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // it was only read
	if err := tls.Client(c, &tls.Config{NextProtos: []string{"acme-tls/1"}, ServerName: idle, InsecureSkipVerify: true}).
		HandshakeContext(t.Context()); err == nil || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want an alert of the server", err)
	}
	select {
	case <-done:
		t.Error("the server has ended")
	default:
	}
	cancel()
	<-done
}

// TestRenewsBeforeRun checks the date of the renewal before the source has read its state.
func TestRenewsBeforeRun(t *testing.T) {
	t.Parallel()
	for _, days := range []int{10, 60, 80} {
		s := settings(t)
		s.RenewAfter = time.Duration(days) * 24 * time.Hour
		source, err := acme.New(s)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
		leaf := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: begin, NotAfter: begin.AddDate(0, 0, 90)}
		want := acme.Due(begin, leaf.NotAfter, begin, 0, rfc.RenewalInfo{}, s.RenewAfter)
		if got := source.Renews(leaf); !got.Equal(want) {
			t.Errorf("%d days: got %s, want %s", days, got, want)
		}
	}
}
