package acme_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
		{"NoFolder", func(s *acme.Settings) { s.Folder = "" }, "folder"},
		{"NoHosts", func(s *acme.Settings) { s.Hosts = nil }, "no host"},
		{"NoChallenge", func(s *acme.Settings) { s.HTTP01, s.TLSALPN01 = false, false }, "neither"},
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
	done := make(chan error)
	go func() { done <- source.ServeTLS(ctx, l) }()
	for _, protocols := range [][]string{{"acme-tls/1"}, {"h2", "acme-tls/1"}, {"h2"}, nil} {
		d := tls.Dialer{Config: &tls.Config{NextProtos: protocols, ServerName: idle, InsecureSkipVerify: true}}
		if c, err := d.DialContext(t.Context(), "tcp", l.Addr().String()); err == nil {
			_ = c.Close()
			t.Errorf("%v: the handshake succeeds", protocols)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
